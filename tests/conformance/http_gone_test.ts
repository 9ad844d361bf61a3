/**
 * Clients that go away, wait long, or ask for too much.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { connect } from "node:net";
import { test } from "node:test";
import type { RequestRecord } from "../../adapters/http.ts";
import type { ExecAnswer, ListDetails, PollDetails, ToolAnswer } from "../../mod.ts";
import { type Served, serveHttp } from "./http_server.ts";

/** Posts JSON and goes away once `isDue`. */
async function abandon(served: Served, path: string, body: unknown, isDue: () => boolean): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  const headers = { authorization: "Bearer token-of-one", "content-type": "application/json" };
  const answer = fetch(served.url + path, { method: "POST", headers, body: JSON.stringify(body), signal });
  const rejected = answer.then(() => false, () => true);
  await until(isDue);
  gone.abort();
  assert(await rejected);
}

/** Waits for what is sure to come. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("R13 the command of a client who has gone away runs on in the background", async () => {
  const served = await serveHttp();
  const { offstage } = served;
  try {
    const command = "sleep 0.1; echo begun; sleep 60";
    await abandon(served, "/v1/exec", { command, yieldMs: 60_000 }, () => offstage.stats().sessions.foreground === 1);
    await until(() => offstage.stats().sessions.background === 1);
    const { details } = await served.post("/v1/process", { action: "list" }) as ToolAnswer<ListDetails>;
    const sessionId = details.sessions[0]?.sessionId;
    const poll = { action: "poll", sessionId, until: "begun", timeout: 20_000 };
    const { details: { output, status } } = await served.post("/v1/process", poll) as ToolAnswer<PollDetails>;
    assertEquals([output.includes("begun"), status], [true, "running"]);
  } finally {
    await served.close();
  }
});

test("E32 with abortOnDisconnect it is ended", async () => {
  const records: RequestRecord[] = [];
  const served = await serveHttp({}, { onRequest: (record) => records.push(record) });
  const { offstage } = served;
  try {
    const params = { command: "sleep 60", yieldMs: 60_000 };
    const isRunning = (): boolean => offstage.stats().sessions.foreground === 1;
    await abandon(served, "/v1/exec?abortOnDisconnect=true", params, isRunning);
    await until(() => records.length === 1);
    assertEquals(records[0]?.status, 499);
    assertEquals(offstage.stats().ends, [{ status: "failed", reason: "aborted", count: 1 }]);
  } finally {
    await served.close();
  }
});

test("[139] P15 a wait ends with its client, and consumes nothing", async () => {
  const records: RequestRecord[] = [];
  const served = await serveHttp({}, { onRequest: (record) => records.push(record) });
  try {
    const started = await served.post("/v1/exec", { command: "sleep 1; echo later; sleep 60", background: true });
    const sessionId = (started as ToolAnswer<{ sessionId: string }>).details.sessionId;
    const count = 20;
    const poll = { action: "poll", sessionId, until: "never", timeout: 30_000 };
    let answered = 0;
    const asked: Promise<void>[] = [];
    const ask = async (): Promise<void> => void (await served.request("/healthz"), answered += 1);
    await Promise.all(Array.from({ length: count }, async () => {
      await abandon(served, "/v1/process", poll, () => answered > 0 || (asked.push(ask()), false));
    }));
    await Promise.all(asked);
    const cut = (): number => records.filter(({ status }) => status === 499).length;
    await until(() => cut() === count);
    const read = await served.post("/v1/process", { ...poll, until: "later" }) as ToolAnswer<PollDetails>;
    assertEquals(read.details.output, "later\n");
  } finally {
    await served.close();
  }
});

test("a client who goes away in the middle of his request is no error of the server", async () => {
  const records: RequestRecord[] = [];
  const errors: unknown[] = [];
  const served = await serveHttp({}, { onRequest: (record) => records.push(record), onError: (e) => errors.push(e) });
  try {
    const { hostname, port } = new URL(served.url);
    const headers = "Authorization: Bearer token-of-one\r\nContent-Type: application/json";
    for (const rest of ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"]) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.write(`POST /v1/exec HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers}\r\n${rest}`);
      await served.request("/healthz");
      await served.request("/healthz");
      socket.destroy();
    }
    const posts = (): readonly RequestRecord[] => records.filter(({ method }) => method === "POST");
    await until(() => posts().length === 2);
    assertEquals(posts().map(({ status }) => status), [499, 499]);
    assertEquals(errors, []);
  } finally {
    await served.close();
  }
});

test("[141] a call that is silent for longer than 10 s is answered", async () => {
  const served = await serveHttp();
  try {
    const started = await served.post("/v1/exec", { command: "sleep 60", background: true });
    const sessionId = (started as ToolAnswer<{ sessionId: string }>).details.sessionId;
    const [run, poll] = await Promise.all([
      served.post("/v1/exec", { command: "sleep 11; echo done", yieldMs: 60_000 }),
      served.post("/v1/process", { action: "poll", sessionId, timeout: 11_500 }),
    ]);
    assertEquals((run as ExecAnswer).text, "done");
    assertEquals((poll as ToolAnswer<PollDetails>).details.status, "running");
  } finally {
    await served.close();
  }
});

test("[129] sessions of a scope are limited, and who is refused learns what to end", async () => {
  const served = await serveHttp({ tools: { exec: { maxSessions: 3 } } });
  try {
    const start = (): Promise<unknown> => served.post("/v1/exec", { command: "sleep 60", background: true });
    const answers = (await Promise.all(Array.from({ length: 10 }, start))) as readonly ExecAnswer[];
    const started = answers.flatMap(({ details }) => details.status === "running" ? [details.sessionId] : []);
    const refused = answers.filter(({ isError }) => isError);
    assertEquals([started.length, refused.length], [3, 7]);
    const late = await start() as ExecAnswer;
    assert(late.isError);
    for (const id of started) assertStringIncludes(late.text, id);
    const other = await served.post("/v1/exec", { command: "sleep 60", background: true }, "token-of-two");
    assertEquals((other as ExecAnswer).isError, false);
  } finally {
    await served.close();
  }
});

test("a hundred calls at once on few connections are each answered rightly", async () => {
  const served = await serveHttp();
  try {
    const calls = Array.from({ length: 100 }, (_, index) => index);
    const answers = await Promise.all(calls.map((index) => served.post("/v1/exec", { command: `echo ${index}` })));
    assertEquals(answers.map((answer) => (answer as ExecAnswer).text), calls.map(String));
  } finally {
    await served.close();
  }
});
