/**
 * The plots that are made of the results.
 *
 * @module
 */
import { GROWTHS } from "../growth/growths.ts";
import { PEER_ROWS } from "../peers/figures.ts";
import type { Result, Results } from "./results.ts";
import { type Bar, drawBars, drawGrowth } from "./svg.ts";

/** All results, by part. */
export type AllResults = Readonly<Record<string, Results>>;

const MIB = 2 ** 20;

/** SVG of each plot, by its file's name. A plot of which nothing was measured is not there. */
export function plotsOf(all: AllResults): Readonly<Record<string, string>> {
  const peers = all["peers"] ?? {};
  const drawn = {
    ...barsOf("peers_true", `${PEER_ROWS.quick} (less is better)`, PEER_ROWS.quick, peers, 6),
    ...barsOf("peers_bulk", `${PEER_ROWS.bulk} (more is better)`, PEER_ROWS.bulk, peers, 1.2),
  };
  const growths = Object.entries(all["growth"] ?? {}).flatMap(([name, { curves }]) => {
    const growth = GROWTHS[name];
    if (curves === undefined || growth === undefined) return [];
    const lines = Object.entries(growth.curves).map(([key, { name }]) => ({
      label: name.replace(/, \w+$/, ""),
      points: curves[key] ?? [],
    }));
    const title = `Growth with ${growth.of.replace(/, \w+$/, "")}: multiples of the first`;
    return [[`growth_${name}.svg`, drawGrowth({ title, curves: lines, size: name === "output" ? bytes : counted })]];
  });
  return { ...drawn, ...Object.fromEntries(growths) as Readonly<Record<string, string>> };
}

function barsOf(
  file: string,
  title: string,
  row: string,
  peers: Results,
  most: number,
): Readonly<Record<string, string>> {
  const bars = Object.entries(peers).flatMap(([name, result]) => barOf(name, result, row));
  if (bars.length === 0) return {};
  return { [`${file}.svg`]: drawBars({ title, bars, line: { value: 1, label: "bare spawn" }, most }) };
}

function barOf(name: string, { rows }: Result, wanted: string): readonly Bar[] {
  const row = rows.find((row) => row.name === wanted);
  return row === undefined ? [] : [{ label: name, value: row.value, isOurs: name === "offstage" }];
}

function bytes(size: number): string {
  return size >= 1_024 * MIB ? `${size / MIB / 1_024} GiB` : `${size / MIB} MiB`;
}

function counted(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000} M` : size >= 1_000 ? `${size / 1_000} k` : `${size}`;
}
