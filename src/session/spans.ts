/**
 * Lengths of time in words.
 *
 * @module
 */

/** Units of time and their lengths, ms. */
const UNITS: readonly (readonly [string, number])[] = [["days", 86_400_000], ["h", 3_600_000], ["min", 60_000]];

/** A length of time in seconds, as short as it is exact. */
export function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 0))} s`;
}

/** A length of time for people: in seconds up to two minutes, then in minutes, hours, days. */
export function span(ms: number): string {
  const [unit, length] = UNITS.find(([, unitMs]) => ms >= 2 * unitMs) ?? ["s", 1_000];
  return unit === "s" ? seconds(ms) : `${Number((ms / length).toFixed(1))} ${unit}`;
}
