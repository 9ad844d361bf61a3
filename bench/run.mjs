/**
 * Compiles what the machine's own Node is to run, and measures: `npm run bench [-- word…]`, see main.ts.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toldHelp } from "../tests/header_help.mjs";

if (toldHelp(process.argv, new URL("main.ts", import.meta.url))) process.exit();
process.chdir(fileURLToPath(new URL("..", import.meta.url)));
// A type error in a test is printed and changes no figure
const compiler = ["node_modules/typescript/bin/tsc", "-p", "tests", "--noEmitOnError", "false"];
spawnSync(process.execPath, compiler, { stdio: ["ignore", 2, 2] });
const { main } = await import("../.build/bench/main.js");
await main(process.argv.slice(2));
