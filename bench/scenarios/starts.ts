/**
 * Short commands: what Offstage adds to each.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createOffstage } from "../../adapters/auto.ts";
import { bubblewrap } from "../../adapters/hosts/bubblewrap.ts";
import { bwrapArguments } from "../../adapters/hosts/bubblewrap/policy.ts";
import { systemEntries } from "../../adapters/hosts/bubblewrap/view.ts";
import { withAgent, withSite } from "./agents.ts";
import { bareSpawn, SHELL } from "./bare.ts";
import { barePty } from "./bare_pty.ts";
import { createClient } from "./http_client.ts";
import { type Both, inTurns } from "./turns.ts";

/** `true`, one after the other, by this runtime's own spawn and by `exec`. */
export function quick(): Promise<Both> {
  return withAgent((agent) => inTurns(bareTrue, () => agent.exec({ command: "true" })));
}

/** The same in a terminal. */
export function quickInTerminal(): Promise<Both> {
  return withAgent((agent) =>
    inTurns(() => barePty("true", () => {}), () => agent.exec({ command: "true", pty: true }))
  );
}

/** `true` through the library and by `POST /v1/exec`, on a connection that is kept. */
export function quickByHttp(): Promise<Both> {
  return withSite(({ agent, url, token }) => {
    const post = createClient(`${url}/v1/exec`, token);
    return inTurns(() => agent.exec({ command: "true" }), () => post({ command: "true" }));
  });
}

/** `true` in a sandbox; bare, bwrap is given the same arguments by hand. */
export async function sandboxed(): Promise<Both> {
  const workspace = process.cwd();
  const binds = [{ from: workspace, to: workspace, writable: true }];
  const policy = { system: systemEntries(false), binds, links: [], network: false, forbidsNamespaces: true };
  const argv = ["bwrap", ...bwrapArguments(policy, workspace, false), ...SHELL, "true"];
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace }) });
  const agent = offstage.agent("bench");
  const numbers = await inTurns(async () => (await bareSpawn(argv, () => {})).done, async () => {
    const { details, text } = await agent.exec({ command: "true" });
    if (details.status !== "completed") throw new Error(text);
  });
  await offstage.close();
  return numbers;
}

/** A command of 30 ms, without the orphan guard and with it, and what the guard holds while nothing happens, KiB. */
export function guarded(): Promise<Both> {
  const command = "sleep 0.03";
  return withAgent((bare) =>
    withAgent(async (agent) => {
      const times = await inTurns(() => bare.exec({ command }), () => agent.exec({ command }), 60);
      const children = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", `${process.pid}`], { encoding: "utf8" });
      const pid = /^ *(\d+) sh$/m.exec(children)?.[1];
      const [, held = ""] = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
      return { bare: times.bare, ours: { ...times.ours, heldKib: Number(held) } };
    }), { orphanGuard: false });
}

/** The baseline's `true`. */
export async function bareTrue(): Promise<void> {
  await (await bareSpawn([...SHELL, "true"], () => {})).done;
}
