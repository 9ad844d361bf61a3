/**
 * Logs of sessions as resources of MCP, with real clients.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import { eventually } from "./agent.ts";
import { serveHttp, TOKENS } from "./http_server.ts";
import { CLIENTS, connectNew, connectOld } from "./mcp_clients.ts";
import { posix } from "./machine.ts";

for (const kind of CLIENTS) {
  test(`${kind.name}: the logs of the sessions can be listed and read`, { skip: posix }, async () => {
    const client = closing(await kind.connect());
    assertEquals(await client.resources(), []);
    assertEquals(await client.templates(), ["offstage://sessions/{id}/log"]);
    const sessionId = await client.background({ command: "printf '\\033[31mred\\033[0m\\n'; read -r x; exit 3" });
    const uri = `offstage://sessions/${sessionId}/log`;
    const description = async () => (await client.resources()).map((entry) => [entry.uri, entry.description]);
    assertEquals(await description(), [[uri, "running"]]);
    assertEquals(await client.read(uri), "red\n[running]");
    await client.call("process", { action: "write", sessionId, eof: true });
    await eventually(async () => await client.read(uri) === "red\n[completed, exit code 3]", "the end");
    assertEquals(await description(), [[uri, "completed, exit code 3"]]);
    const first = await client.call("process", { action: "poll", sessionId });
    assertStringIncludes(first.text, "red"); // no resource has consumed it
    for (const nowhere of ["offstage://sessions/nope/log", "offstage://sessions//log", "file:///etc/passwd", "?"]) {
      await assertRejects(() => client.read(nowhere), Error, undefined, nowhere);
    }
  });

  test(`${kind.name}: a log that is read is bounded, and says that it is the end`, { skip: posix }, async () => {
    const client = closing(await kind.connect());
    const sessionId = await client.background({ command: "seq 1 100000; sleep 60", yieldMs: 3_000 });
    await client.call("process", { action: "poll", sessionId, until: "100000", timeout: 30_000 });
    const text = await client.read(`offstage://sessions/${sessionId}/log`);
    assert(text.length < 31_000, `${text.length} characters`);
    assertStringIncludes(text, "[the end of 588895 bytes;");
    assertStringIncludes(text, "\n99999\n100000\n[running]");
  });

  test(`${kind.name}: who subscribes to a log is told of its output and its end, and of other sessions`, {
    skip: posix,
  }, async () => {
    const client = closing(await kind.connect());
    const sessionId = await client.background({ command: "read -r x; echo $x; read -r y" });
    await eventually(() => client.listChanges() > 0, "news of the new session");
    const other = await client.background({ command: "while :; do echo noise; sleep 0.1; done" });
    const uri = `offstage://sessions/${sessionId}/log`;
    await client.subscribe(uri);
    await client.call("process", { action: "write", sessionId, data: "one\n" });
    await eventually(() => client.updates.length > 0, "news of the output");
    assertStringIncludes(await client.read(uri), "one");

    const known = client.updates.length;
    const changes = client.listChanges();
    await client.call("process", { action: "kill", sessionId, wait: 30_000 });
    await eventually(() => client.updates.length > known, "news of the end");
    await eventually(() => client.listChanges() > changes, "news of the list");
    assertEquals([...new Set(client.updates)], [uri]); // and never of the noisy one
    await client.call("process", { action: "remove", sessionId: other });
    await eventually(async () => (await client.resources()).length === 1, "the removed one is not listed");
  });
}

for (const connect of [connectNew, connectOld]) {
  test(`${connect.name}: S2 two clients of two scopes never see each other's sessions`, { skip: posix }, async () => {
    const served = await serveHttp();
    try {
      const [one, two] = [await connect(served), await connect(served, TOKENS.two)];
      const sessionId = await one.background({ command: "echo secret; read -r x; echo more; sleep 60" });
      const uri = `offstage://sessions/${sessionId}/log`;
      assertEquals((await two.call("process", { action: "list" })).text, "No sessions.");
      assertEquals(await two.resources(), []);
      await assertRejects(() => two.read(uri));
      const foreign = await two.call("process", { action: "poll", sessionId });
      const unknown = await two.call("process", { action: "poll", sessionId: "nope" });
      assertEquals(foreign.text, unknown.text.replace("nope", sessionId));
      for (const call of [{ action: "write", data: "x\n" }, { action: "kill" }, { action: "remove" }]) {
        assertEquals((await two.call("process", { ...call, sessionId })).details["reason"], "unknown-session");
      }
      await two.subscribe(uri).catch(() => {}); // it may be refused, or never be told of anything
      await one.subscribe(uri);
      await one.call("process", { action: "write", sessionId, data: "x\n" });
      await eventually(() => one.updates.length > 0 && one.listChanges() > 0, "news for its own client");
      await two.background({ command: "sleep 60" });
      await eventually(() => two.listChanges() > 0, "news for the other one, of his own session");
      assertEquals(two.updates, []);
      assertEquals(two.listChanges(), 1);
      const admin = await connect(served, TOKENS.admin);
      assertEquals((await admin.resources()).length, 2);
      await Promise.all([one.close(), two.close(), admin.close()]);
    } finally {
      await served.close();
    }
  });
}
