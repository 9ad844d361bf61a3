/**
 * A part of the bench: what is kept in one file of `results/`.
 *
 * @module
 */
import type { Result } from "./report/results.ts";

/** A part of the bench. */
export interface Part {
  /** Word by which it is asked for, and its file's name. */
  readonly name: string;
  /** Its scenarios, in their order. */
  readonly scenarios: readonly string[];
  /** Whether it is only measured when it, or a scenario of it, is asked for. */
  readonly onRequest?: true;
  /**
   * Measures one scenario.
   *
   * @param quick as short as possible: one round, and less of what takes long
   */
  measure(scenario: string, quick: boolean): Promise<Result>;
}
