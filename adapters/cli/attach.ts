/**
 * `offstage attach`: a session in this terminal.
 *
 * @module
 */
import process from "node:process";
import type { AttachEnd, Attachment, Client, ClientSocketConstructor } from "../client.ts";
import { createDetachKeys, type DetachKeys, parseDetachKeys } from "./detach_keys.ts";
import { endWords, EXIT_CODES_HELP, EXIT_OWN_FAILURE, exitCodeOf, exitCodeOfSignal } from "./exit_codes.ts";
import { createLeftModes } from "./left_modes.ts";
import { makeRaw, onResize, ownSize } from "./own_terminal.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, onlyId, printJson, say, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage attach amber-otter-7k3f               the session's terminal in this one; Ctrl-P Ctrl-Q leaves it running
  offstage attach amber-otter-7k3f --readonly    only look
  echo yes | offstage attach amber-otter-7k3f    pass stdin on, print what comes, until the session ends

Options
  --readonly            send nothing, not even this terminal's size
  --detach-keys <keys>  what leaves: default ctrl-p,ctrl-q; letters and ctrl-<letter>; "" is nothing. The first key is
                        held back until the next one, for a second at most. Ctrl-C leaves a session without a terminal
  --json                print how it ended as JSON, as the last line
${SERVER_HELP}
${EXIT_CODES_HELP}  0 if you left`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  "readonly": { type: "boolean" },
  "detach-keys": { type: "string", default: "ctrl-p,ctrl-q" },
  "json": { type: "boolean" },
} as const;

/** A key that may be the first one of those that leave is held back so long, ms. */
const HELD_MS = 1_000;

/** More typed bytes than that on the way, and the source of them waits. */
const UNSENT_BYTES = 1_048_576;

/** How often it is looked whether they have gone, ms. */
const LOOK_MS = 20;

/** Time for both sides to close the connection, ms. */
const HANDSHAKE_MS = 2_000;

const END_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];

/** The verb. */
export const attach: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    const id = onlyId(positionals);
    const words = values["detach-keys"];
    const bytes = parseDetachKeys(words);
    if (bytes === undefined) throw usage("--detach-keys: expected keys such as ctrl-p,ctrl-q");
    const client = clientOf(values, globalThis.WebSocket as ClientSocketConstructor | undefined ?? await socketOfWs());
    const { end, signal } = await attachHere(client, id, { words, bytes }, values.readonly ?? false);
    setTimeout(() => process.exit(), HANDSHAKE_MS).unref(); // the server may never answer that the line is closed
    if (values.json) await printJson(end);
    else tell(id, end);
    if (signal !== undefined) return exitCodeOfSignal(signal);
    if (end.why === "exit") return exitCodeOf(end.exit);
    return end.why === "detached" ? 0 : EXIT_OWN_FAILURE;
  },
};

/** Node 20 has no WebSocket of its own. */
async function socketOfWs(): Promise<ClientSocketConstructor> {
  try {
    return (await import("ws")).WebSocket as unknown as ClientSocketConstructor;
  } catch (error) {
    throw usage(`Cannot attach: ${(error as Error).message}. It takes Node.js 22, or the package ws: npm install ws`);
  }
}

/** The keys that leave. */
interface Keys {
  readonly words: string;
  readonly bytes: Uint8Array;
}

/** How it went: the end, and the signal that brought it, if one did. */
interface Ended {
  readonly end: AttachEnd;
  readonly signal: NodeJS.Signals | undefined;
}

async function attachHere(client: Client, id: string, keys: Keys, readonly: boolean): Promise<Ended> {
  const modes = createLeftModes();
  let written = Promise.resolve();
  let early: (() => void)[] | undefined = []; // whoever sees output may type: nothing is shown before that works
  const whenReady = (act: () => void): void => early === undefined ? act() : void early.push(act);
  const show = (bytes: Uint8Array): void => {
    modes.see(bytes);
    written = new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
  };
  const line = await client.attach(id, {
    readonly,
    ...(readonly ? {} : ownSize()),
    onData: (bytes) => whenReady(() => show(bytes)),
    // On a terminal it would be in the picture
    onGap: ({ from, to }) => whenReady(() => line.hello.pty || say(`bytes ${from} to ${to} are missing`)),
  });
  const { name, pty } = line.hello;
  const isTerminal = pty && process.stdin.isTTY;
  const leave = isTerminal ? keys.words : "ctrl-c";
  if (process.stdin.isTTY) say(`attached to ${id} (${name})${leave === "" ? "" : `; ${leave} leaves it`}`);
  let signal: NodeJS.Signals | undefined;
  const stop = (received: NodeJS.Signals): void => {
    signal = received === "SIGINT" && !isTerminal ? undefined : received;
    line.detach();
  };
  for (const each of END_SIGNALS) process.on(each, stop);
  const undo = [
    isTerminal ? makeRaw() : () => {},
    pty && !readonly ? onResize(({ cols, rows }) => line.resize(cols, rows)) : () => {},
    readonly && !isTerminal
      ? () => {}
      : passOn(client, line, isTerminal ? createDetachKeys(keys.bytes) : createDetachKeys(new Uint8Array()), readonly),
  ];
  const shown = early;
  early = undefined;
  for (const act of shown) act();
  try {
    const end = await line.ended;
    await written;
    return { end, signal };
  } finally {
    for (const each of undo.reverse()) each();
    for (const each of END_SIGNALS) process.off(each, stop);
    if (process.stdout.isTTY && pty) process.stdout.write(modes.undo());
  }
}

/** Types what this program is given, but for the keys that leave. */
function passOn(client: Client, line: Attachment, keys: DetachKeys, readonly: boolean): () => void {
  const { stdin } = process;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let look: ReturnType<typeof setInterval> | undefined;
  const write = (bytes: Uint8Array): void => {
    if (bytes.length === 0 || readonly) return;
    line.write(bytes);
    if (line.unsent <= UNSENT_BYTES) return;
    stdin.pause();
    clearInterval(look);
    look = setInterval(() => {
      if (line.unsent > UNSENT_BYTES) return;
      clearInterval(look);
      stdin.resume();
    }, LOOK_MS);
  };
  const take = (bytes: Uint8Array): void => {
    clearTimeout(timer);
    const { send, detached } = keys.sift(bytes);
    write(send);
    if (detached) line.detach();
    else if (keys.isHolding) timer = setTimeout(() => write(keys.release()), HELD_MS);
  };
  const end = (): void => {
    if (!readonly) void client.process({ action: "write", sessionId: line.hello.sessionId, eof: true }).catch(() => {});
  };
  stdin.on("data", take).on("end", end).on("error", line.detach); // the terminal may be gone
  return () => {
    clearTimeout(timer);
    clearInterval(look);
    stdin.off("data", take).off("end", end).off("error", line.detach);
    stdin.pause();
    stdin.unref?.();
  };
}

function tell(id: string, end: AttachEnd): void {
  if (end.why === "exit") say(`${id}: ${endWords(end.exit)}`);
  else if (end.why === "detached") say(`left ${id}: it goes on`);
  else if (end.why === "gone") say(`${id} is not kept any more`);
  else say(`the connection broke (${end.message}); ${id} goes on: attach again`);
}
