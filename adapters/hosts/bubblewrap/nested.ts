/**
 * Binds that begin, or are to be seen, in a directory that commands can change. bwrap follows the links on the way there,
 * out of the workspace too: no command may put one there.
 *
 * @module
 */

import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { OffstageError } from "../../../mod.ts";
import type { Bind } from "./policy.ts";
import { isWithin, realPath } from "./view.ts";

/**
 * The binds without links in their sources, and with everything that leads from a directory that commands can change to
 * another bind bound onto itself: on what something is mounted nobody in a sandbox can move away.
 *
 * @param given what is asked for
 * @throws {OffstageError} `refused` if there is a link on such a way already
 */
export function steadyBinds(given: readonly Bind[]): readonly Bind[] {
  const binds = given.map((bind) => ({ ...bind, from: realPath(bind.from) ?? bind.from }));
  const writable = binds.filter((bind) => bind.writable);
  if (binds.length === 1 || writable.length === 0) return binds;
  for (const { from } of given) refuseLinks(from, writable);
  const steps = binds.flatMap((bind) =>
    writable.flatMap((outer) => [
      ...waysFrom(outer, outer.from, bind.from, binds),
      ...(isInnermost(outer, bind, binds) ? placesFor(outer, bind, writable, binds) : []),
    ])
  );
  return [...new Map([...steps, ...binds].map((bind) => [bind.to, bind])).values()];
}

/** What leads to the place where a bind is to be seen; it is made if it is not there, as bwrap would. */
function placesFor(outer: Bind, { to }: Bind, writable: readonly Bind[], binds: readonly Bind[]): readonly Bind[] {
  const host = outer.from + to.slice(outer.to.length);
  refuseLinks(host, writable);
  mkdirSync(dirname(host), { recursive: true });
  return waysFrom(outer, outer.from, dirname(host), binds);
}

/** Each step from a directory to something in it, bound onto itself where a command sees it and can change it. */
function waysFrom(outer: Bind, top: string, path: string, binds: readonly Bind[]): readonly Bind[] {
  if (!isWithin(path, top)) return [];
  const parts = path.slice(top.length).split("/").filter((part) => part !== "");
  return parts
    .map((_, index): Bind => {
      const way = parts.slice(0, index + 1);
      return { from: join(top, ...way), to: join(outer.to, ...way), writable: true };
    })
    .filter((step) => isInnermost(outer, step, binds));
}

/** Whether something is seen through that bind, and not through another one in it. */
function isInnermost(outer: Bind, inner: Bind, binds: readonly Bind[]): boolean {
  const around = binds.filter(({ to }) => to !== inner.to && isWithin(inner.to, to));
  return around.every(({ to }) => to.length <= outer.to.length) && around.includes(outer);
}

/** @throws {OffstageError} `refused` if something in a directory that commands can change leads elsewhere */
function refuseLinks(path: string, writable: readonly Bind[]): void {
  let real = "/";
  for (const part of path.split("/").filter((each) => each !== "")) {
    const straight = join(real, part);
    const next = realPath(straight);
    if (isLink(straight) && writable.some(({ from }) => isWithin(real, from))) {
      throw new OffstageError(
        "refused",
        `Cannot run anything in the sandbox: ${straight}, which leads to an extra bind, is a link, and a command may have made it`,
      );
    }
    if (next === undefined) return;
    real = next;
  }
}

/** A link that leads nowhere is one too. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
