/**
 * What happens in the background, as server-sent events, really served on this runtime.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { SessionEvent } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { eventually, readEvents, type Received, start } from "./http_streams.ts";

/** Bound of a test that waits for something, ms. */
const LONG = { timeout: 60_000 };

async function serve(): Promise<Served> {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return served;
}

function eventOf({ data = "" }: Received): SessionEvent {
  return JSON.parse(data);
}

/** Starts a command that ends by itself, and waits until its event is there. */
async function ended(served: Served, command: string): Promise<string> {
  const id = await start(served, { command });
  const { events } = served.offstage.agent("one");
  await eventually(() => events.list().events.some(({ sessionId }) => sessionId === id));
  return id;
}

test("R14 an end and a match come as they happen, the id being the event's own", LONG, async () => {
  const served = await serve();
  const reading = await readEvents(served, "/v1/events");
  assertEquals(await reading.next(), { comment: "ping" });
  const id = await start(served, {
    command: "read x; echo ready; read x; exit 4",
    stdin: "open",
    notifyOn: { pattern: "ready" },
  });
  const submit = (): Promise<unknown> => served.offstage.agent("one").process({ action: "submit", sessionId: id });
  await submit(); // what it prints before exec has answered is told by that answer
  const match = await reading.event() as Received;
  assertEquals([match.event, match.id, eventOf(match).sessionId], ["match", `${id}.match-1`, id]);
  await submit();
  const exit = await reading.event() as Received;
  const event = eventOf(exit);
  assertEquals([exit.event, exit.id, event.type === "exit" && event.exitCode], ["exit", `${id}.exit`, 4]);
  await reading.leave();
});

test(
  "whoever connects first gets what waits to be acknowledged, and after the last one he has seen only what is newer",
  LONG,
  async () => {
    const served = await serve();
    const ids = [await ended(served, "exit 1"), await ended(served, "exit 2"), await ended(served, "exit 3")];
    const first = await readEvents(served, "/v1/events");
    const got = [await first.event(), await first.event(), await first.event()].map((event) => event?.id);
    assertEquals(got, ids.map((id) => `${id}.exit`));
    await first.leave();
    const again = await readEvents(served, "/v1/events", { "last-event-id": `${ids[0]}.exit` });
    assertEquals((await again.event())?.id, got[1]);
    await again.leave();
    const ack = await served.post("/v1/events/ack", { ids: [got[0], got[1], "unknown"] });
    assertEquals(ack, { acked: 2 });
    const later = await readEvents(served, "/v1/events", { "last-event-id": got[0] as string }); // it is not in the list any more
    assertEquals((await later.event())?.id, got[2]);
    await later.leave();
  },
);

test("S2 the events of a scope are its own; the admin gets those of all", LONG, async () => {
  const served = await serve();
  const [own, foreign, admin] = [
    await readEvents(served, "/v1/events"),
    await readEvents(served, "/v1/events", { authorization: `Bearer ${TOKENS.two}` }),
    await readEvents(served, "/v1/events", { authorization: `Bearer ${TOKENS.admin}` }),
  ];
  for (const reading of [own, foreign, admin]) assertEquals(await reading.next(), { comment: "ping" });
  const one = await ended(served, "exit 1");
  const { details } = await served.offstage.agent("two").exec({ command: "exit 2", background: true });
  const two = "sessionId" in details ? details.sessionId : "";
  assertEquals((await own.event())?.id, `${one}.exit`);
  assertEquals((await foreign.event())?.id, `${two}.exit`);
  assertEquals([(await admin.event())?.id, (await admin.event())?.id], [`${one}.exit`, `${two}.exit`]);
  for (const reading of [own, foreign, admin]) await reading.leave();
  assertEquals(await served.post("/v1/events/ack", { ids: [`${one}.exit`] }, TOKENS.two), { acked: 0 });
  assertEquals((await served.request("/v1/events", { headers: { authorization: "" } })).status, 401);
});

test("what is acknowledged wrongly is told", LONG, async () => {
  const served = await serve();
  const ask = async (body: unknown): Promise<unknown> =>
    (await served.post("/v1/events/ack", body) as { readonly error: { readonly code: string } }).error.code;
  assertEquals([await ask({}), await ask({ ids: "a" }), await ask({ ids: [], more: 1 })], [
    "invalid",
    "invalid",
    "invalid",
  ]);
});
