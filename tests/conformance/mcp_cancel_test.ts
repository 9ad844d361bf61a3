/**
 * A client that cancels or goes away ends its wait, and nothing else (spec R13).
 *
 * @module
 */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import { eventually, processesWith, uniqueSleep } from "./agent.ts";
import { serveHttp } from "./http_server.ts";
import { CLIENTS, connectNew, connectOld, type TestClient } from "./mcp_clients.ts";
import { posix, proc } from "./machine.ts";

/** Sessions as `list` tells them. */
async function listed(client: TestClient): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { details } = await client.call("process", { action: "list" });
  return details["sessions"] as readonly Readonly<Record<string, unknown>>[];
}

for (const kind of CLIENTS) {
  test(`${kind.name}: R13 an exec that is cancelled goes on in the background, its output is kept`, {
    skip: posix,
  }, async () => {
    const client = closing(await kind.connect());
    const cancel = new AbortController();
    const call = client.call(
      "exec",
      { command: "echo begun; read -r x; echo got $x", stdin: "open", yieldMs: 120_000 },
      {
        signal: cancel.signal,
        // the first sign of it: the command runs, and the server waits for it
        onprogress: ({ message }) => message === "begun" && cancel.abort("enough"),
      },
    );
    // a program that waits for input ends the wait by itself, if it is seen before the progress is
    const [outcome] = await Promise.allSettled([call]);
    await eventually(async () => (await listed(client)).length === 1, "the session");
    const sessionId = (await listed(client))[0]?.["sessionId"];
    await client.call("process", { action: "write", sessionId, data: "it\n" });
    const end = await client.call("process", { action: "poll", sessionId, until: "exit", timeout: 30_000 });
    assertEquals(end.details["exitCode"], 0);
    assertStringIncludes((await client.call("process", { action: "log", sessionId })).text, "begun\ngot it");
    if (outcome?.status === "fulfilled") assertEquals(outcome.value.details["status"], "running");
  });

  test(`${kind.name}: R13 a silent exec that is cancelled runs on`, { skip: posix }, async () => {
    const client = closing(await kind.connect());
    const cancel = new AbortController();
    const call = client.call("exec", { command: "sleep 60", yieldMs: 120_000 }, {
      signal: cancel.signal,
      onprogress: () => cancel.abort("enough"), // the sign of life after five seconds of silence
    });
    await assertRejects(() => call);
    await eventually(async () => (await listed(client))[0]?.["status"] === "running", "the session");
  });

  test(`${kind.name}: [21] a poll that is cancelled consumes nothing and ends nothing`, { skip: posix }, async () => {
    const client = closing(await kind.connect());
    const sessionId = await client.background({ command: "read -r x; echo got $x; sleep 60" });
    const cancel = new AbortController();
    const call = client.call("process", { action: "poll", sessionId, until: "never printed", timeout: 30_000 }, {
      signal: cancel.signal,
      onprogress: () => cancel.abort("enough"),
    });
    await client.call("process", { action: "write", sessionId, data: "it\n" });
    await assertRejects(() => call);
    const next = await client.call("process", { action: "poll", sessionId, timeout: 30_000 });
    assertEquals([next.details["output"], next.details["status"]], ["got it\n", "running"]);
  });
}

for (const connect of [connectNew, connectOld]) {
  test(`${connect.name}: R13 over HTTP a client that goes away leaves its exec running`, { skip: posix }, async () => {
    const served = await serveHttp();
    try {
      const client = await connect(served);
      let begun = (): void => {};
      const hasBegun = new Promise<void>((resolve) => begun = resolve);
      const call = client.call("exec", { command: "echo begun; sleep 60", yieldMs: 120_000 }, {
        onprogress: ({ message }) => message === "begun" && begun(),
      });
      const failed = assertRejects(() => call);
      await hasBegun;
      await client.close();
      await failed;
      const agent = served.offstage.agent("one");
      await eventually(() => agent.sessions().length === 1, "the session");
      assertEquals(agent.sessions()[0]?.outcome, undefined);
      assertEquals(agent.sessions()[0]?.tail(100), "begun\n");
    } finally {
      await served.close();
    }
  });
}

for (const kind of CLIENTS.filter(({ transport }) => transport === "stdio")) {
  test(`${kind.name}: when the client goes, every session is ended, one that is waited for too`, {
    skip: posix || proc,
  }, async () => {
    const client = await kind.connect();
    const kept = uniqueSleep();
    const awaited = uniqueSleep();
    await client.background({ command: kept });
    const call = client.call("exec", { command: awaited, yieldMs: 120_000 });
    const failed = assertRejects(() => call);
    await eventually(() => processesWith(awaited).length > 0, "the command");
    await client.close();
    await failed;
    await eventually(() => processesWith(kept).length + processesWith(awaited).length === 0, "their end");
  });
}
