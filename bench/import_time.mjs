/**
 * Prints how long an import takes, as JSON: `node bench/import_time.mjs ../.build/mod.js`. Plain JavaScript, and a module
 * compiled beforehand: that is what is installed.
 */
import process from "node:process";

const begin = performance.now();
await import(process.argv[2]);
console.log(JSON.stringify({ ms: performance.now() - begin }));
process.exit(0);
