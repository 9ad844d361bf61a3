/**
 * The mutants that no test can catch, or none should, each with its reason: `survivors.json`.
 *
 * @module
 */

import { readText } from "../project.ts";
import type { Mutant } from "./mutants.ts";

/** What tells a mutant from others: its text, so that it is found when the file has moved around it. */
export type Identity = Pick<Mutant, "file" | "within" | "line" | "change" | "nth">;

/** A mutant that may survive. */
export interface Survivor extends Identity {
  /** Why nobody would notice, or why no fast test does. */
  readonly reason: string;
}

/** The list. */
export function listedSurvivors(): readonly Survivor[] {
  return JSON.parse(readText("tests/mutation/survivors.json"));
}

/** The same in one text. */
export function keyOf({ file, within, line, change, nth }: Identity): string {
  return [file, within, line, change, nth].join("\n");
}
