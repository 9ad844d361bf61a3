/**
 * `offstage send`: types into a session.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import type { FailureDetails, ToolAnswer, WriteDetails } from "../../mod.ts";
import type { Client } from "../client.ts";
import { EXIT_OWN_FAILURE } from "./exit_codes.ts";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, JSON_HELP, printJson, say, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage send amber-otter-7k3f yes --enter            types it, then presses Enter
  offstage send amber-otter-7k3f --keys C-c             presses keys: names as of tmux, may be repeated
  offstage send amber-otter-7k3f --keys Down --keys Enter
  offstage send amber-otter-7k3f --paste < notes.txt    pastes, as a person does
  make-input | offstage send amber-otter-7k3f --eof     passes its stdin on, then ends the session's input

Options
  --enter               press Enter afterwards
  --keys <key>          press this key after the text; may be repeated
  --paste               paste the text instead of typing it
  --eof                 end the session's input at the end
  --sensitive           a secret: its echo is kept out of the log
${JSON_HELP}
${SERVER_HELP}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  enter: { type: "boolean" },
  keys: { type: "string", multiple: true },
  paste: { type: "boolean" },
  eof: { type: "boolean" },
  sensitive: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** What one call types. */
type Typed = ToolAnswer<WriteDetails | FailureDetails>;

/** Bytes typed at once: less than a session takes while its program does not read. */
const PIECE_BYTES = 65_536;

/** The verb. */
export const send: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals: [sessionId, ...words] } = given(args, OPTIONS);
    if (!sessionId) throw usage("Which session? Give its id: offstage ps lists them");
    const { enter = false, keys = [], paste = false, eof = false, sensitive } = values;
    const text = words.join(" ");
    const isOnlyKeys = (enter || keys.length > 0) && !paste;
    const reads = text === "" && !isOnlyKeys && !process.stdin.isTTY;
    if (text === "" && !reads && !isOnlyKeys && !eof) throw usage("Nothing to send: give text, --keys or stdin");
    const plan: Plan = { text, reads, enter, keys, paste, eof, secret: sensitive ? { sensitive } : {} };
    for await (const { details, text, isError } of typed(clientOf(values), sessionId, plan)) {
      const isFailed = isError || isStuck(details);
      if (values.json) await printJson(details);
      else if ("warnings" in details && !isFailed) details.warnings.forEach(say);
      else if (isFailed) say(text);
      if (isFailed) return EXIT_OWN_FAILURE;
    }
    return 0;
  },
};

/** What is to be typed. */
interface Plan {
  readonly text: string;
  /** Whether the text comes from stdin. */
  readonly reads: boolean;
  readonly paste: boolean;
  readonly keys: readonly string[];
  readonly enter: boolean;
  readonly eof: boolean;
  readonly secret: { readonly sensitive?: boolean };
}

/** Types it, piece by piece. */
async function* typed(client: Client, sessionId: string, plan: Plan): AsyncGenerator<Typed> {
  const { text, reads, paste, keys, enter, eof, secret } = plan;
  if (paste) {
    yield await client.process({ action: "paste", sessionId, text: reads ? await stdinText() : text, ...secret });
  } else if (reads) {
    let isEmpty = true;
    for await (const piece of stdinPieces()) {
      isEmpty = false;
      yield* writeAll(client, sessionId, piece, secret);
    }
    if (isEmpty && !eof) yield await client.process({ action: "write", sessionId, data: "" }); // is there such a session?
  } else if (text !== "") {
    yield* writeAll(client, sessionId, new TextEncoder().encode(text), secret);
  }
  if (keys.length > 0) yield await client.process({ action: "send-keys", sessionId, keys, ...secret });
  if (enter) yield await client.process({ action: "submit", sessionId });
  if (eof) yield await client.process({ action: "write", sessionId, eof });
}

/** Whether nothing of it found a place. */
function isStuck(details: WriteDetails | FailureDetails): boolean {
  return "refused" in details && details.refused > 0 && details.accepted === 0;
}

/** Types all of it, as fast as the program takes it. */
async function* writeAll(
  client: Client,
  sessionId: string,
  bytes: Uint8Array,
  secret: { readonly sensitive?: boolean },
): AsyncGenerator<Typed> {
  for (let at = 0; at < bytes.length;) {
    const base64 = Buffer.from(bytes.subarray(at, at + PIECE_BYTES)).toString("base64");
    const answer = await client.process({ action: "write", sessionId, base64, ...secret });
    yield answer;
    at += "accepted" in answer.details ? answer.details.accepted : bytes.length;
  }
}

async function* stdinPieces(): AsyncGenerator<Uint8Array> {
  for await (const piece of process.stdin) yield piece as Uint8Array;
}

async function stdinText(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stdinPieces()) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}
