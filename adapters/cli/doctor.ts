/**
 * `offstage doctor`: what works on this machine, found out by doing it.
 *
 * @module
 */
import { tmpdir } from "node:os";
import process from "node:process";
import type { Offstage } from "../../mod.ts";
import { createOffstage } from "../auto.ts";
import { bubblewrap } from "../hosts/bubblewrap.ts";
import { given, JSON_HELP, print, printJson, type Verb } from "./verb.ts";

/** Time a program has to be seen waiting for input, ms. */
const SEEN_WITHIN_MS = 5_000;

/** What there is to know about a machine, in the order in which it is told. */
export interface Diagnosis {
  /** The runtime and its version. */
  readonly runtime: string;
  /** The shell that runs commands, or why none can be run. */
  readonly shell: string;
  /** Whether there are pseudo-terminals; if not, why. */
  readonly terminals: string;
  /** How it is known that a program waits for input. */
  readonly input: string;
  /** Whether the commands are ended should this program be killed; see `guardStatus()`. */
  readonly guard: string;
  /** Whether commands can be run in a sandbox made by bubblewrap; if not, why. */
  readonly sandbox: string;
}

/** Runs a few small commands and tells what came of them. */
export async function diagnose(): Promise<Diagnosis> {
  const offstage = createOffstage();
  try {
    return await examine(offstage);
  } finally {
    await offstage.close();
  }
}

async function examine(offstage: Offstage): Promise<Diagnosis> {
  const agent = offstage.agent("doctor");
  const { details, text } = await agent.exec({ command: "read -r line", pty: true, background: true });
  const isRunning = details.status === "running";
  return {
    runtime: runtimeName(),
    shell: isRunning ? details.shell : text,
    terminals: !isRunning ? "not tried" : details.pty ? "yes" : details.warnings.join("; "),
    input: isRunning ? await evidenceOf(offstage, details.sessionId) : "not tried",
    guard: offstage.guardStatus(),
    sandbox: await trySandbox(),
  };
}

async function trySandbox(): Promise<string> {
  if (process.platform !== "linux") return "no: bubblewrap is for Linux";
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace: tmpdir(), readOnly: true }) });
  try {
    const { isError, text } = await offstage.agent("doctor").exec({ command: "true" });
    return isError ? `no: ${text}` : "bubblewrap works";
  } finally {
    await offstage.close();
  }
}

async function evidenceOf(offstage: Offstage, sessionId: string): Promise<string> {
  const agent = offstage.agent("doctor");
  const { details } = await agent.process({ action: "poll", sessionId, until: "input", timeout: SEEN_WITHIN_MS });
  const isSeen = "evidence" in details && details.evidence === "blocked-in-read";
  return isSeen ? "the system tells who waits for it" : "guessed from silence: the system does not tell";
}

/** Name and version of this runtime. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions as Readonly<Record<string, string | undefined>>;
  if (bun !== undefined) return `bun ${bun}`;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
}

/** A diagnosis as lines for people. */
export function report({ runtime, shell, terminals, input, guard, sandbox }: Diagnosis): string {
  return [
    `runtime       ${runtime}`,
    `shell         ${shell}`,
    `terminals     ${terminals}`,
    `input         ${input}`,
    `orphan guard  ${guard}`,
    `sandbox       ${sandbox}`,
    "",
  ].join("\n");
}

const HELP = `Examples
  offstage doctor             what works on this machine: terminals, input, the orphan guard

Options
${JSON_HELP}
`;

const OPTIONS = { json: { type: "boolean" } } as const;

/** The verb. */
export const doctor: Verb = {
  help: HELP,
  run: async (args) => {
    const { values } = given(args, OPTIONS);
    const diagnosis = await diagnose();
    await (values.json ? printJson(diagnosis) : print(report(diagnosis)));
    return 0;
  },
};
