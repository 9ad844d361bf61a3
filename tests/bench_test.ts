/**
 * What the bench makes of its results is right, and the README says what the results are.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { allResults, PLOTS, withTables } from "../bench/report/document.ts";
import { rowOf } from "../bench/report/figures.ts";
import { shown } from "../bench/report/lines.ts";
import { plotsOf } from "../bench/report/plots.ts";
import { mergeResults, type Result, toText } from "../bench/report/results.ts";
import { exponent, median, quantile, rounded } from "../bench/report/statistics.ts";
import { drawBars, drawGrowth } from "../bench/report/svg.ts";
import { readText, root } from "./project.ts";

const UPDATE = "run: npm run bench -- report";
const LARGEST_PLOT = 20 * 1_024;

test("the README's figures are those of the results", () => {
  const readme = readText("README.md");
  for (const name of ["figures", "growth", "peers"]) {
    assertMatch(readme, new RegExp(`<!-- bench: ${name} -->\n[^]+?<!-- /bench -->`));
  }
  assertEquals(readme.split("\n"), withTables(readme, allResults()).split("\n"), UPDATE);
});

test("the plots are what is made of the results, no more and no fewer, and small", () => {
  const plots = plotsOf(allResults());
  assertEquals(readdirSync(join(root, PLOTS)).sort(), Object.keys(plots).sort(), UPDATE);
  for (const [file, svg] of Object.entries(plots)) {
    assertEquals(readText(`${PLOTS}/${file}`), svg, `${file}: ${UPDATE}`);
    assert(svg.length < LARGEST_PLOT, `${file}: ${svg.length} bytes`);
  }
});

test("the README shows every plot", () => {
  const [, ...parts] = readText("README.md").split(`](${PLOTS}/`);
  assertEquals(parts.map((part) => part.split(")")[0]).sort(), readdirSync(join(root, PLOTS)).sort());
});

test("every result says when, on what and how busy a machine it was measured", () => {
  const results = Object.values(allResults()).flatMap((part) => Object.values(part));
  assert(results.length > 0);
  for (const { date, versions, cpus, load = 0, rows, leftOut } of results) {
    assertEquals(new Date(date).toISOString(), date);
    assertEquals(typeof versions["offstage"], "string");
    assert(cpus >= 1 && load >= 0);
    assertEquals(rows.length === 0, leftOut !== undefined);
    for (const { value, runs } of rows) assert(Number.isFinite(value) && runs.length > 0);
  }
});

test("the median is the number in the middle, or between the two", () => {
  assertEquals(median([3, 1, 2]), 2);
  assertEquals(median([10, 1, 2, 3]), 2.5);
  assertEquals(median([7]), 7);
  assert(Number.isNaN(median([])));
  fc.assert(fc.property(fc.array(fc.integer(), { minLength: 1 }), (numbers) => {
    const middle = median(numbers);
    const below = numbers.filter((number) => number < middle).length;
    const above = numbers.filter((number) => number > middle).length;
    return below <= numbers.length / 2 && above <= numbers.length / 2;
  }));
});

test("a quantile is a number that was measured, which so many do not exceed", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assertEquals([0, 0.01, 0.5, 0.99, 1].map((share) => quantile(hundred, share)), [1, 1, 50, 99, 100]);
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (numbers, share) => {
        const found = quantile(numbers, share);
        const upTo = numbers.filter((number) => number <= found).length;
        return numbers.includes(found) && upTo >= share * numbers.length;
      },
    ),
  );
});

test("the exponent of c · xᵏ is k, whatever c, and that of noise about it is near", () => {
  const sizes = [1, 16, 256, 1_024, 4_096];
  fc.assert(
    fc.property(
      fc.double({ min: -2, max: 3, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      (k, c) => {
        assertNear(exponent(sizes.map((x) => ({ x, y: c * x ** k }))), k, 1e-9);
      },
    ),
  );
  const noisy = sizes.map((x, index) => ({ x, y: 3 * x * (index % 2 === 0 ? 1.1 : 0.9) }));
  assertNear(exponent(noisy), 1, 0.05);
  // A fixed cost hides growth at the small end, and never adds to it
  assert(exponent(sizes.map((x) => ({ x, y: 100 + x }))) < 1);
  // What has no logarithm is left out
  assertNear(exponent([{ x: 1, y: 2 }, { x: 2, y: 0 }, { x: 4, y: 8 }]), 1, 1e-9);
  assert(Number.isNaN(exponent([{ x: 5, y: 1 }])));
});

test("a figure is the median of its runs, held to its bound only where that is promised", () => {
  const figure = { name: "ratio", value: (bare: Readonly<Record<string, number>>) => bare["ms"] ?? NaN, atMost: 1.15 };
  const rounds = [1.1, 1.3, 1.2].map((ms) => ({ bare: { ms }, ours: {} }));
  assertEquals(rowOf(figure, "bun", rounds), {
    name: "ratio",
    value: 1.2,
    runs: [1.1, 1.3, 1.2],
    bound: "≤ 1.15",
    met: false,
  });
  const elsewhere = rowOf({ ...figure, on: ["deno"] }, "bun", rounds);
  assertEquals([elsewhere.bound, elsewhere.met], ["", true]);
  const { atMost: _, ...most } = figure;
  assertEquals(rowOf({ ...most, atLeast: 1.2 }, "bun", rounds).met, true);
});

test("what is measured anew takes the place of what it was, and nothing else", () => {
  const result = (date: string): Result => ({ date, versions: {}, cpus: 2, load: 0, rows: [] });
  const before = { true: result("1"), wake: result("1"), gone: result("1") };
  const merged = mergeResults(before, { wake: result("2"), bulk1: result("2") }, ["true", "bulk1", "wake"]);
  assertEquals(Object.entries(merged).map(([name, { date }]) => [name, date]), [
    ["true", "1"],
    ["bulk1", "2"],
    ["wake", "2"],
  ]);
});

test("results are JSON in which a list of numbers and a point are a line", () => {
  const results = { a: { runs: [1, 2.5, -3e-9], curve: [{ x: 1, y: 2 }], text: "[ 1, 2 ]" } };
  assertEquals(JSON.parse(toText(results)), results);
  assertMatch(toText(results), /"runs": \[1, 2.5, -3e-9\]/);
  assertMatch(toText(results), /^ +\{ "x": 1, "y": 2 \}$/m);
});

test("numbers are shown with the digits that count", () => {
  assertEquals([-0.001, 1.125, 12.34, 123.4, 1234.5, 1234567, NaN].map(shown), [
    "0",
    "1.13",
    "12.3",
    "123",
    "1 235",
    "1 234 567",
    "–",
  ]);
  assertEquals([0.123456, 12345.6, 7].map(rounded), [0.1235, 12346, 7]);
});

test("plots are SVG with text that can be read, whatever is in it", () => {
  const bars = [{ label: 'a<b & "c"', value: 99, isOurs: true }];
  const plot = drawBars({ title: "T <i>", bars, line: { value: 1, label: "bare" }, most: 3 });
  assertMatch(plot, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" /);
  assert(
    plot.includes("a&lt;b &amp; &quot;c&quot;") && plot.includes("→ 99") && plot.includes("prefers-color-scheme:dark"),
  );
  const curve = (k: number): { readonly x: number; readonly y: number }[] =>
    [1, 10, 100].map((x) => ({ x, y: x ** k }));
  const curves = [{ label: "linear", points: curve(1) }, { label: "flat", points: curve(0) }];
  const growth = drawGrowth({ title: "T", curves, size: String });
  for (const text of [plot, growth]) {
    assert(!/NaN|Infinity|undefined/.test(text));
    assertEquals(text.match(/<text/g)?.length, text.match(/<\/text>/g)?.length);
  }
  const ends = [...growth.matchAll(/<path class="curve c\d" d="[^"]*L(\d+(?:\.\d)?) (\d+(?:\.\d)?)"/g)];
  assertEquals(ends.length, 2);
  assert(Number(ends[0]?.[2]) < Number(ends[1]?.[2]), "the steeper one ends higher");
});

function assertNear(number: number, wanted: number, tolerance: number): void {
  assert(Math.abs(number - wanted) <= tolerance, `${number} is not ${wanted}`);
}
