/**
 * Options of hosts that have something wrong with them.
 *
 * @module
 */
import { OffstageError, type Problem } from "../../mod.ts";

/** The error for options with something wrong: its message tells all of it, for whoever does not catch it. */
export function invalidOptions(what: string, problems: readonly Problem[]): OffstageError {
  const all = problems.map(({ key, message }) => `${key}: ${message}`).join("; ");
  return new OffstageError("invalid", `${what}: ${all}`, { problems });
}

/**
 * Options that there are not: a misspelt `readOnly` or `scopes` would permit what was to be forbidden.
 *
 * @param known each option's name, so that the compiler asks for those that are added
 */
export function unknownOptions<Options extends object>(
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): readonly Problem[] {
  const message = `unknown; known are ${Object.keys(known).join(", ")}`;
  return Object.keys(options).filter((key) => !Object.hasOwn(known, key)).map((key) => ({ key, message }));
}
