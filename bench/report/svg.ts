/**
 * Two kinds of plots as plain SVG: text is text, and colours fit a light and a dark page.
 *
 * @module
 */
import { shown } from "./lines.ts";
import type { Point } from "./statistics.ts";

/** A bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Drawn in the colour of what the plot is about. */
  readonly isOurs: boolean;
}

/** Bars side by side, against a line. */
export interface BarPlot {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** What the values are held against. */
  readonly line: { readonly value: number; readonly label: string };
  /** Longer bars are cut, with their value beside them. */
  readonly most: number;
}

/** A curve. */
export interface Curve {
  readonly label: string;
  readonly points: readonly Point[];
}

/** Curves on logarithmic axes, both relative to where each begins. */
export interface GrowthPlot {
  readonly title: string;
  readonly curves: readonly Curve[];
  /** How a size is shown on the axis. */
  readonly size: (x: number) => string;
}

const WIDTH = 720;
const STYLE = `
text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:15px}.quiet{fill:#59636e}
.ours{fill:#0969da}.other{fill:#9aa4af}.line{stroke:#1f2328;stroke-dasharray:4 3}.grid{stroke:#d1d9e0}
.curve{fill:none;stroke-width:2}.c0{stroke:#0969da;fill:#0969da}.c1{stroke:#bc4c00;fill:#bc4c00}
.c2{stroke:#1a7f37;fill:#1a7f37}.c3{stroke:#8250df;fill:#8250df}text.c0,text.c1,text.c2,text.c3{stroke:none}
.curve.c0,.curve.c1,.curve.c2,.curve.c3{fill:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.ours{fill:#4493f8}.other{fill:#656c76}
.line{stroke:#e6edf3}.grid{stroke:#3d444d}.c0{stroke:#4493f8;fill:#4493f8}.c1{stroke:#f0883e;fill:#f0883e}
.c2{stroke:#3fb950;fill:#3fb950}.c3{stroke:#ab7df8;fill:#ab7df8}}`;

/** Draws bars. */
export function drawBars({ title, bars, line, most }: BarPlot): string {
  const [left, right, top, step] = [190, 70, 48, 28];
  const height = top + bars.length * step + 30;
  const xOf = (value: number): number => left + Math.min(value, most) / most * (WIDTH - left - right);
  const rows = bars.map(({ label, value, isOurs }, index) => {
    const y = top + index * step;
    return text(left - 8, y + 15, label, "", "end") +
      `<rect class="${isOurs ? "ours" : "other"}" x="${left}" y="${y}" width="${at(xOf(value) - left)}" height="20"/>` +
      text(xOf(value) + 6, y + 15, `${value > most ? "→ " : ""}${shown(value)}`);
  });
  const x = at(xOf(line.value));
  const bottom = height - 24;
  return svg(height, title, [
    ...rows,
    `<line class="line" x1="${x}" x2="${x}" y1="${top - 6}" y2="${bottom}"/>`,
    text(xOf(line.value), bottom + 15, line.label, "quiet", "middle"),
  ]);
}

/** Draws how curves grow, each as a multiple of its first point, beside a line that is linear. */
export function drawGrowth({ title, curves, size }: GrowthPlot): string {
  const [left, right, top, height, bottom] = [70, 210, 44, 340, 300];
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(({ x }) => x)))].sort((one, other) => one - other);
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  const multiples = curves.map(({ label, points }) => ({
    label,
    points: points.map(({ x, y }) => ({ x, y: y / (points[0]?.y ?? y) })),
  }));
  const reach = last / first;
  const least = Math.min(1, ...multiples.flatMap(({ points }) => points.map(({ y }) => y)));
  const xOf = (x: number): number => left + share(x / first, 1, reach) * (WIDTH - left - right);
  const yOf = (y: number): number => bottom - share(y, least, reach) * (bottom - top);
  const decades = Array.from({ length: Math.floor(Math.log10(reach)) + 1 }, (_, power) => 10 ** power);
  const grid = decades.map((y) =>
    `<line class="grid" x1="${left}" x2="${WIDTH - right}" y1="${at(yOf(y))}" y2="${at(yOf(y))}"/>` +
    text(left - 8, yOf(y) + 4, `× ${shown(y)}`, "quiet", "end")
  );
  const ticks = xs.map((x) => text(xOf(x), bottom + 20, size(x), "quiet", "middle"));
  const ends = spread(multiples.map(({ points }) => yOf(points.at(-1)?.y ?? 1)), 17);
  const drawn = multiples.map(({ label, points }, index) => {
    const path = points.map(({ x, y }, point) => `${point === 0 ? "M" : "L"}${at(xOf(x))} ${at(yOf(y))}`).join("");
    const dots = points.map(({ x, y }) => `<circle class="c${index}" cx="${at(xOf(x))}" cy="${at(yOf(y))}" r="3"/>`);
    const end = text(WIDTH - right + 10, (ends[index] ?? 0) + 4, label, `c${index}`);
    return `<path class="curve c${index}" d="${path}"/>${dots.join("")}${end}`;
  });
  const linear = `<line class="line" x1="${left}" y1="${at(yOf(1))}" x2="${at(xOf(last))}" y2="${at(yOf(reach))}"/>` +
    text(xOf(last) - 6, yOf(reach) - 6, "linear", "quiet", "end");
  return svg(height, title, [...grid, ...ticks, linear, ...drawn]);
}

/** Where a value is between two, by their logarithms: 0 to 1. */
function share(value: number, least: number, most: number): number {
  return most === least ? 0 : Math.log(value / least) / Math.log(most / least);
}

/** Heights moved so that no two are nearer to one another than `gap`. */
function spread(heights: readonly number[], gap: number): readonly number[] {
  const order = heights.map((y, index) => ({ y, index })).sort((one, other) => other.y - one.y);
  const moved: number[] = [];
  let lowest = Infinity;
  for (const { y, index } of order) {
    lowest = Math.min(y, lowest - gap);
    moved[index] = lowest;
  }
  return moved;
}

function svg(height: number, title: string, parts: readonly string[]): string {
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">\n` +
    `<style>${STYLE}\n</style>\n${text(12, 24, title, "title")}\n${parts.join("\n")}\n</svg>\n`;
}

function text(x: number, y: number, content: string, kind = "", anchor = ""): string {
  const attributes = `${kind && ` class="${kind}"`}${anchor && ` text-anchor="${anchor}"`}`;
  return `<text x="${at(x)}" y="${at(y)}"${attributes}>${escaped(content)}</text>`;
}

/** A coordinate with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("`", "");
}
