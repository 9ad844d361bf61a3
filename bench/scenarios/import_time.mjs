/**
 * Prints how long something takes in a process that has done nothing before, as JSON: `node bench/import_time.mjs core`.
 * Plain JavaScript, and modules compiled beforehand: that is what is installed.
 *
 * - `core`: the import of the core
 * - `ours`: the import of the runtime's adapter, an instance, and its first command; so what is loaded on use is in it
 * - `bare`: the runtime's own spawn of the same command
 */
import process from "node:process";

const MEASURED = {
  core: () => import("../../.build/mod.js"),
  ours: async () => {
    const { createOffstage } = await import("../../.build/adapters/auto.js");
    await createOffstage().agent("bench").exec({ command: "true" });
  },
  bare: async () => {
    const { bareSpawn } = await import("../../.build/bench/scenarios/bare.js");
    await (await bareSpawn(["bash", "--norc", "-c", "true"], () => {})).done;
  },
};

const begin = performance.now();
await MEASURED[process.argv[2]]();
console.log(JSON.stringify({ ms: performance.now() - begin }));
process.exit(0);
