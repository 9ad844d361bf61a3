/**
 * What works, found out by doing it: a few small commands are run.
 *
 * @module
 */
import { tmpdir } from "node:os";
import process from "node:process";
import type { Agent, ExecConfig, Offstage } from "../../../mod.ts";
import { createOffstage } from "../../auto.ts";
import { bubblewrap } from "../../hosts/bubblewrap.ts";
import { type Finding, missing, ok, problem } from "./finding.ts";
import { withVersions } from "./packages.ts";

/** Time a program has to be seen waiting for input, ms. */
const SEEN_WITHIN_MS = 5_000;

/** The packages that open terminals, in the order in which they are tried, by runtime. */
const TERMINAL_PACKAGES = {
  node: ["@lydell/node-pty", "node-pty"],
  deno: ["@lydell/node-pty"],
  bun: [],
} as const;

/** Tries everything that takes a command. `config` must be good. */
export async function tryCommands(config: ExecConfig): Promise<readonly Finding[]> {
  const offstage = createOffstage({ tools: { exec: { ...config, host: "gateway", sandboxRequired: false } } });
  try {
    return [...await examine(offstage), await trySandbox(config)];
  } finally {
    await offstage.close();
  }
}

async function examine(offstage: Offstage): Promise<readonly Finding[]> {
  const agent = offstage.agent("doctor");
  const { details, text } = await agent.exec({ command: "read -r line", pty: true, background: true });
  if (details.status !== "running") return [problem("shell", text)];
  const { sessionId, shell, pty, warnings } = details;
  const terminals = pty ? ok("terminals", terminalPackage()) : missing("terminals", `none: ${warnings.join("; ")}`);
  return [
    ok("shell", shell),
    terminals,
    ...(pty ? [await tryScreen(agent, sessionId)] : []),
    await evidenceOf(agent, sessionId),
    guardOf(offstage),
  ];
}

/** What opens terminals here. */
function terminalPackage(): string {
  const runtime = "bun" in process.versions ? "bun" : "deno" in process.versions ? "deno" : "node";
  const [first] = withVersions(TERMINAL_PACKAGES[runtime]);
  return first === undefined ? `yes, of ${runtime} itself` : `yes, by ${first}`;
}

async function tryScreen(agent: Agent, sessionId: string): Promise<Finding> {
  const { isError, text } = await agent.process({ action: "screen", sessionId });
  if (isError) return missing("screens", `none: ${text}`);
  return ok("screens", `yes, by ${withVersions(["@xterm/headless"])[0] ?? "@xterm/headless"}`);
}

async function evidenceOf(agent: Agent, sessionId: string): Promise<Finding> {
  const { details } = await agent.process({ action: "poll", sessionId, until: "input", timeout: SEEN_WITHIN_MS });
  const isSeen = "evidence" in details && details.evidence === "blocked-in-read";
  if (isSeen) return ok("input", "the system tells who waits for it");
  return missing("input", "guessed from silence: the system does not tell who waits for it");
}

function guardOf(offstage: Offstage): Finding {
  const status = offstage.guardStatus();
  if (!status.startsWith("off")) return ok("orphan guard", status);
  return offstage.settings.orphanGuard ? problem("orphan guard", status) : missing("orphan guard", status);
}

async function trySandbox(config: ExecConfig): Promise<Finding> {
  const absent = config.sandboxRequired === true ? problem : missing;
  if (process.platform !== "linux") return absent("sandbox", "no: bubblewrap is for Linux");
  const sandbox = bubblewrap({ workspace: tmpdir(), readOnly: true });
  const offstage = createOffstage({ sandbox, tools: { exec: { ...config, host: "sandbox" } } });
  try {
    const { isError, text } = await offstage.agent("doctor").exec({ command: "true" });
    return isError ? absent("sandbox", `no: ${text}`) : ok("sandbox", "bubblewrap works");
  } finally {
    await offstage.close();
  }
}
