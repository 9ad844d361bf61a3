/**
 * One soak in a process of its own, its options the only argument, as JSON. Prints a line of JSON for each loss and, at
 * the end, the counts.
 *
 * @module
 */
import process from "node:process";
import { soak, type SoakOptions } from "./soak.ts";
import { createTally, slopeOf } from "./tally.ts";

type Given = Pick<SoakOptions, "seed" | "forMs" | "folder" | "onlyOp" | "faults">;

/** A round is long enough for all kinds of operations, and short enough for a few of them in a minute, ms. */
const ROUND_MS = 20_000;

const tally = createTally();
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const failed = (error: unknown): void => {
  const loss = { op: null, doing: "uncaught", what: error instanceof Error ? String(error.stack) : String(error) };
  tally.losses.push(loss);
  tell({ loss });
};
process.on("uncaughtException", failed).on("unhandledRejection", failed);

await soak({
  ...JSON.parse(process.argv[2] ?? "{}") as Given,
  roundMs: ROUND_MS,
  tally,
  onLoss: (loss) => tell({ loss }),
  onBegun: (instance) => tell({ instance }),
});
tell({ tally, slope: slopeOf(tally.heap) });
process.exit(0);
