/**
 * A command in a sandbox, out of the bwrap that holds it: signals are for the command, and bwrap is not one of its
 * processes.
 *
 * @module
 */

import { setTimeout as sleep } from "node:timers/promises";
import { readStat } from "../../linux/process_table.ts";
import { nodeKill } from "../../node/kill.ts";
import { unfoldExit } from "../shell_status.ts";
import { findInsiders, groupOf, type Insiders, now } from "./insiders.ts";
import type { Child, SignalName, SignalOutcome, TreeProcess } from "../../../mod.ts";

/** Signals that end nobody who has not asked for them. */
const HARMLESS: ReadonlySet<SignalName> = new Set<SignalName>([
  ...["SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"] as const,
]);

/** Time that the kernel has to end what is in a sandbox once its bwrap has exited, ms: it takes few, on a busy machine more. */
const LEFT_LIMIT_MS = 5_000;

/**
 * Makes a child of the command. Its process id remains that of bwrap: whoever ends that ends the sandbox, and everything
 * in it.
 *
 * @param bwrap the child that was started
 */
export function sandboxedChild(bwrap: Child): Child {
  const { pid: outer, inspector } = bwrap;
  // Without a look at /proc nobody but bwrap can be reached
  if (outer === undefined || inspector === undefined) return bwrap;
  const sent = new Set<SignalName>();
  let insiders: Insiders | undefined;
  let hasExited = false;
  let endedEarly: SignalName | undefined;
  const exited = bwrap.exited.then((exit) => {
    hasExited = true;
    const real = unfoldExit(exit, sent);
    return real.signal === "SIGKILL" && endedEarly !== undefined ? { signal: endedEarly } : real;
  });
  const find = (): Insiders | undefined => insiders = findInsiders(outer, insiders);

  function signal(name: SignalName, target: "child" | "group"): SignalOutcome {
    if (hasExited) return "gone"; // everything in there ends with bwrap
    const inside = find();
    if (inside?.command === undefined) return signalEarly(name, inside);
    sent.add(name);
    const command = now(inside.command);
    if (target === "child" && command === undefined) return "gone";
    const outcome = nodeKill(command !== undefined && target === "child" ? command.pid : -groupOf(inside), name);
    return outcome === "refused" ? bwrap.signal(name, "group") : outcome;
  }

  /** bwrap is still at work on the sandbox, and its first process does not act on a SIGTERM. */
  function signalEarly(name: SignalName, inside: Insiders | undefined): SignalOutcome {
    if (HARMLESS.has(name)) return bwrap.signal(name, "group");
    endedEarly ??= name;
    sent.add("SIGKILL");
    if (inside !== undefined) nodeKill(inside.init.pid, "SIGKILL");
    return bwrap.signal("SIGKILL", "group");
  }

  /** Without bwrap, as long as it only waits for the command. */
  async function tree(): Promise<readonly TreeProcess[]> {
    if (hasExited) return await leftAfterExit();
    const all = await inspector?.tree() ?? [];
    const inside = find();
    const group = inside === undefined ? undefined : groupOf(inside);
    return all.filter(({ pid }) => pid !== outer && pid !== inside?.init.pid)
      .map((member) => ({ ...member, inGroup: readStat(member.pid)?.group === group }));
  }

  async function leftAfterExit(): Promise<readonly TreeProcess[]> {
    for (const limit = performance.now() + LEFT_LIMIT_MS;;) {
      const left = await inspector?.tree() ?? [];
      if (left.length === 0 || performance.now() > limit) return left;
      await sleep(10);
    }
  }

  return { ...bwrap, exited, signal, inspector: { tree, reader: () => inspector.reader() } };
}
