/**
 * fast-check, repeatable: with `OFFSTAGE_SEED` every property tries the same values in every run. Without it they are
 * others each time, and a failure prints the seed that brings them back.
 *
 * @module
 */
import fc from "fast-check";
import { givenSeed } from "./random.ts";

if (givenSeed !== undefined) fc.configureGlobal({ seed: givenSeed });

export { default } from "fast-check";
