/**
 * Makes a Node process load the files with mutants in them, and gives the tests a `node:test` that only collects them.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import process from "node:process";
import { ASKED } from "./active.ts";

/** @type {Readonly<Record<string, string>>} sources by the URL of the file they stand for */
const sources = JSON.parse(readFileSync(process.env["OFFSTAGE_MUTATED"] ?? "", "utf8"));
const collected = new URL("./collected.ts", import.meta.url).href;

Object.assign(globalThis, ASKED);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "node:test" ? { url: collected, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) => {
    const source = sources[url];
    return source === undefined ? next(url, context) : { format: "module-typescript", source, shortCircuit: true };
  },
});
