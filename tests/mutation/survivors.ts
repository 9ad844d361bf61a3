/**
 * The mutants that no test can catch, or none should, each with its reason: `survivors.json`.
 *
 * @module
 */

import { readText } from "../project.ts";
import type { Mutant } from "./mutants.ts";

/** A mutant that may survive: it is known by its text, so that it is found when the file has moved around it. */
export interface Survivor extends Pick<Mutant, "file" | "within" | "line" | "change"> {
  /** Why nobody would notice, or why no fast test does. */
  readonly reason: string;
}

/** The list. */
export function listedSurvivors(): readonly Survivor[] {
  return JSON.parse(readText("tests/mutation/survivors.json"));
}

/** What tells a mutant from others. */
export function keyOf({ file, within, line, change }: Pick<Mutant, "file" | "within" | "line" | "change">): string {
  return [file, within, line, change].join("\n");
}
