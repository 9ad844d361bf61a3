/**
 * What becomes of a command on another machine when its client does not notice the end.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { remoteChild } from "../adapters/hosts/remote/child.ts";
import type { Overseer } from "../adapters/hosts/remote/overseer.ts";
import type { Child, Exit, SpawnSpec } from "../mod.ts";

/** The script (10, 11) around a command (12) in a terminal, all in one group. */
const table = (state: string): readonly string[] =>
  [[10, 9], [11, 10], [12, 11]].map(([pid, parent]) =>
    `${pid} (sh) ${state} ${parent} 10 10 0 -1 4194304 95 0 0 0 0 0 0 0 20 0 1 0 ${pid} 2654208 382`
  );

/** Answers of an overseer that sees these processes. */
function overseerOf(state: string): Overseer {
  const ask = (request: string): Promise<readonly string[]> =>
    Promise.resolve(request.startsWith("a ") ? ["10"] : request.startsWith("t ") ? [...table(state), ""] : []);
  return {
    mark: "m",
    connection: { command: () => ["docker"], env: {}, close: () => {} },
    cwd: "/",
    home: "/",
    hasProc: true,
    isAlive: () => true,
    why: () => "",
    tell: () => {},
    ask,
    keep: () => () => {},
    atEnd: () => {},
    hold: () => () => {},
  };
}

/** A client that ends when it is killed, and not before. */
function deafClient(): Child {
  let end: (exit: Exit) => void = () => {};
  return {
    pid: 99,
    exited: new Promise<Exit>((resolve) => end = resolve),
    write: () => Promise.resolve(),
    endInput: () => Promise.resolve(),
    signal: () => (end({ signal: "SIGKILL" }), "sent"),
    release: () => {},
  };
}

const SPEC: SpawnSpec = { argv: ["sh"], cwd: "/", env: {}, stdin: "closed", sessionId: "s", scope: "tester" };

test("host-lost: what is ended because the connection is gone, and can still tell, was not ended by a stranger", async () => {
  const gone: Partial<Overseer> = { isAlive: () => false, why: () => "closed", ask: () => Promise.resolve(undefined) };
  for (
    const [over, signal, exit] of [
      [gone, "TERM", { lost: "far: closed" }],
      [gone, "SEGV", { signal: "SIGSEGV" }],
      [{}, "TERM", { signal: "SIGTERM" }],
    ] as const
  ) {
    const child = remoteChild({
      client: deafClient(),
      overseer: { ...overseerOf("Z"), ...over },
      started: { pid: 12, group: 12, sessionId: "s", ownsGroup: true },
      ended: Promise.resolve({ kind: "end", code: 143, signal, isLeft: false }),
      spec: SPEC,
      target: "far",
    });
    assertEquals(await child.exited, exit);
  }
});

test("E34 a killed terminal ends although its client is stuck and nobody reaps what was killed", async () => {
  const client = deafClient();
  const child = remoteChild({
    client,
    overseer: overseerOf("Z"),
    started: { pid: 12, group: 10, sessionId: "s", ownsGroup: false },
    ended: client.exited.then(() => undefined), // the end of its streams
    spec: { ...SPEC, terminal: { cols: 80, rows: 24 } },
    target: "docker box",
  });
  assertEquals(child.signal("SIGKILL", "group"), "sent");
  assertEquals(await child.exited, { signal: "SIGKILL" });
});
