/**
 * Everything that is fuzzed.
 *
 * @module
 */
import { growth } from "./growth.ts";
import { http } from "./http_calls.ts";
import { mcp } from "./mcp_calls.ts";
import { parameters } from "./parameters.ts";
import { output } from "./output.ts";
import { settings } from "./settings.ts";
import { sockets } from "./sockets.ts";
import type { Part } from "./target.ts";

/** The parts, in the order in which they are run. */
export const PARTS: readonly Part[] = [parameters, http, mcp, output, growth, sockets, settings];
