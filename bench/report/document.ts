/**
 * What of the results people read: plots, and tables between marks in the README.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GROWTHS } from "../growth/growths.ts";
import { FIGURES as PEER_FIGURES } from "../peers/figures.ts";
import { SCENARIOS } from "./figures.ts";
import { shown } from "./lines.ts";
import { type AllResults, plotsOf } from "./plots.ts";
import { readResults, type Result, type Results, root } from "./results.ts";

/** Where the plots are. */
export const PLOTS = "bench/plots";

/** Longest line of the README. */
const LINE = 120;

const RUNTIMES = { node20: "Node.js 20", node24: "Node.js 24", deno: "Deno", bun: "Bun" } as const;
const PARTS = ["core", ...Object.keys(RUNTIMES), "growth", "peers"];

/** All results that are kept. */
export function allResults(): AllResults {
  return Object.fromEntries(PARTS.map((part) => [part, readResults(part)]));
}

/** Writes the plots and the README's tables. */
export function writeReport(): void {
  const all = allResults();
  const folder = join(root, PLOTS);
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) rmSync(join(folder, file));
  for (const [file, svg] of Object.entries(plotsOf(all))) writeFileSync(join(folder, file), svg);
  const path = join(root, "README.md");
  writeFileSync(path, withTables(readFileSync(path, "utf8"), all));
}

/** The README with the tables of these results between its marks. */
export function withTables(readme: string, all: AllResults): string {
  const tables = { figures: figuresTable(all), growth: growthTable(all), peers: peersTable(all) };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const marks = new RegExp(`(<!-- bench: ${name} -->\n)[^]*?(<!-- /bench -->)`);
    return text.replace(marks, (_, open: string, close: string) => `${open}\n${table}\n\n${close}`);
  }, readme);
}

/** The first figure of each scenario, and others that belong to it, on each runtime. */
function figuresTable(all: AllResults): string {
  const parts = Object.entries(RUNTIMES);
  const chosen = Object.entries(SCENARIOS).flatMap(([scenario, { figures }]) =>
    figures.filter(({ inReadme }, index) => index === 0 || inReadme).map(({ name }) => [scenario, name] as const)
  );
  const rows = chosen.flatMap(([scenario, name]) => {
    const found = parts.map(([part]) => all[part]?.[scenario]?.rows.find((row) => row.name === name));
    const bounds = new Set(found.map((row) => row?.bound ?? "").filter((bound) => bound !== ""));
    if (found.every((row) => row === undefined)) return [];
    const cells = found.map((row) => row === undefined ? "–" : row.met ? shown(row.value) : `**${shown(row.value)}**`);
    return [[name, [...bounds].join(), ...cells]];
  });
  return `${said(parts.map(([part]) => all[part] ?? {}))}\n\n${
    table([["", "bound", ...parts.map(([, name]) => name)], ...rows])
  }`;
}

function growthTable({ growth = {} }: AllResults): string {
  const rows = Object.entries(growth).flatMap(([name, { curves = {}, rows }]) =>
    Object.entries(GROWTHS[name]?.curves ?? {}).map(([key, curve], index) => {
      const [points = [], row] = [curves[key], rows[index]];
      const value = row === undefined ? "–" : row.met ? shown(row.value) : `**${shown(row.value)}**`;
      const range = `${shown(points[0]?.x ?? NaN)} … ${shown(points.at(-1)?.x ?? NaN)}`;
      return [GROWTHS[name]?.of ?? name, range, curve.name, value, row?.bound ?? ""];
    })
  );
  return `${said([growth])}\n\n${table([["of", "from … to", "grows", "exponent", "bound"], ...rows])}`;
}

function peersTable({ peers = {} }: AllResults): string {
  const there = Object.entries(peers).filter(([, { rows }]) => rows.length > 0);
  const heads = there.map(([name, { versions }]) => {
    const [, version = ""] = Object.entries(versions).find(([key]) => key.endsWith(name)) ?? [];
    return name === "offstage" ? "Offstage" : `${name} ${version.split(".").slice(0, 2).join(".")}`;
  });
  const rows = PEER_FIGURES.map(({ name }) => [
    name,
    ...there.map(([, { rows }]) => {
      const row = rows.find((row) => row.name === name);
      return row === undefined ? "–" : shown(row.value);
    }),
  ]);
  return `${said([peers])}\n\n${table([["", ...heads], ...rows])}`;
}

/** Processors: others that use more than that have an influence on figures. */
const QUIET_LOAD = 0.2;

/** When and where results were measured. */
function said(parts: readonly Results[]): string {
  const results: readonly Result[] = parts.flatMap((part) => Object.values(part));
  if (results.length === 0) return "Not measured yet.";
  const dates = results.map(({ date }) => date.slice(0, 10)).sort();
  const [first, last] = [dates[0] ?? "", dates.at(-1) ?? ""];
  const loads = results.flatMap(({ load = [] }) => load);
  const versions = Object.assign({}, ...results.map(({ versions }) => versions)) as Readonly<Record<string, string>>;
  const names = [["node", "Node.js"], ["deno", "Deno"], ["bun", "Bun"]].flatMap(([key = "", name]) => {
    const found = new Set(results.map(({ versions }) => versions[key] ?? "").filter((version) => version !== ""));
    return found.size === 0 ? [] : [`${name} ${[...found].sort().join(" and ")}`];
  });
  const day = first === last ? first : `${first} to ${last}`;
  const others = loads.length === 0
    ? ""
    : ` (${shown(Math.min(...loads))} to ${shown(Math.max(...loads))} of them used by others just before)`;
  const where = `${results[0]?.cpus} CPUs${others}`;
  const isBusy = loads.some((load) => load > QUIET_LOAD);
  const words = `Measured ${day}: ${where}, Linux ${versions["linux"]}, ${names.join(", ")}.`;
  return wrapped(isBusy ? `${words} The machine was busy with other things: these figures are provisional.` : words);
}

/** Lines as the formatter breaks them. */
function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > LINE) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join("\n");
}

/** A table as the formatter writes it. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const [head = "", ...rest] = rows.map((row) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  );
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest].join("\n");
}
