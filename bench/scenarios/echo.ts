/**
 * A key typed into a terminal, until its echo is read.
 *
 * @module
 */
import { quantile } from "../report/statistics.ts";
import { background, withAgent, withSite } from "./agents.ts";
import { openBarePty } from "./bare_pty.ts";
import { type Numbers, timed } from "./turns.ts";

const ECHO = "stty raw -echo; echo ready; exec cat";
const KEYS = 300;

/** By the baseline's terminal. */
export async function bareEcho(): Promise<Numbers> {
  const ear = createEar();
  const ready = ear.next();
  const terminal = await openBarePty(ECHO, () => ear.hear());
  await ready;
  const numbers = await echoes(async () => {
    const echo = ear.next();
    terminal.write("k");
    await echo;
  });
  terminal.kill();
  return numbers;
}

/** By the library. */
export function libraryEcho(): Promise<Numbers> {
  return withAgent(async (agent) => {
    const sessionId = await background(agent, ECHO, { pty: true });
    const view = agent.session(sessionId);
    const ear = createEar();
    let at = 0;
    const stop = view?.watch(() => {
      if (view.end > at) ear.hear();
      at = view.end;
    });
    if (at === 0) await ear.next();
    const numbers = await echoes(async () => {
      const echo = ear.next();
      void agent.process({ action: "write", sessionId, data: "k" });
      await echo;
    });
    stop?.();
    return numbers;
  });
}

/** Over a WebSocket. */
export function attachEcho(): Promise<Numbers> {
  return withSite(async ({ agent, url, token }) => {
    const id = await background(agent, ECHO, { pty: true });
    const { WebSocket } = "WebSocket" in globalThis ? globalThis : await import("ws") as never; // Node 20 has none
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${id}/attach`, "offstage.v1");
    socket.binaryType = "arraybuffer";
    const ear = createEar();
    socket.onmessage = ({ data }) => typeof data === "string" || ear.hear();
    const ready = ear.next();
    socket.onopen = () => socket.send(JSON.stringify({ type: "auth", token }));
    await ready;
    const numbers = await echoes(async () => {
      const echo = ear.next();
      socket.send(new TextEncoder().encode("k"));
      await echo;
    });
    socket.close();
    return numbers;
  });
}

/** Waits for what comes next. */
function createEar(): { next(): Promise<void>; hear(): void } {
  let heard = (): void => {};
  return { next: () => new Promise((resolve) => heard = resolve), hear: () => heard() };
}

async function echoes(typeOne: () => Promise<void>): Promise<Numbers> {
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) times.push(await timed(typeOne));
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}
