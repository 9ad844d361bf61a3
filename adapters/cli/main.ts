#!/usr/bin/env node
/**
 * The command line: `offstage exec 'npm test'`.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { OffstageError } from "../../mod.ts";
import { diagnose, report } from "./doctor.ts";
import { EXIT_OWN_FAILURE, runCommand } from "./exec.ts";
import { MCP_HELP, serveMcp } from "./mcp.ts";
import { serve } from "./serve.ts";
import { SERVE_HELP } from "./serve_options.ts";
import { tour } from "./tour.ts";

const HELP = `Examples
  offstage exec 'npm test'                    run it, print its output as it comes, exit with its code
  offstage exec --timeout 60 --pty 'top -b'   in a terminal, for a minute at most
  offstage exec                               a short tour of what exec and process do
  offstage serve                              the same over HTTP; prints its address, a token and what to try
  offstage mcp                                the same for the MCP client that starts it
  offstage doctor                             what works on this machine: terminals, input, the orphan guard

Options of exec
  --timeout <seconds>   life span; default 1800, 0 is none
  --workdir <folder>    where to run it
  --pty                 run it in a pseudo-terminal

${SERVE_HELP}
${MCP_HELP}
Exit codes
  the command's own; 124 if it timed out; 125 if offstage failed; 126 and 127 as in shells; 128 + n if signal n ended it
`;

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  timeout: { type: "string" },
  workdir: { type: "string" },
  pty: { type: "boolean" },
} as const;

/** Verbs with options of their own. */
const VERBS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = { mcp: serveMcp, serve };

/** Runs one invocation; resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [first = "", ...rest] = args;
  const own = Object.hasOwn(VERBS, first) && !rest.includes("--help") ? VERBS[first] : undefined;
  if (own !== undefined) return await own(rest);
  const start = commandIndex(args);
  const words = args.slice(start);
  const { values, positionals } = parseArgs({
    args: args.slice(0, start),
    allowPositionals: true,
    options: OPTIONS,
  });
  const [verb] = positionals;
  if (values.help === true || verb === undefined || verb === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  if (verb === "doctor") {
    process.stdout.write(report(await diagnose()));
    return 0;
  }
  if (verb !== "exec") {
    throw new OffstageError("invalid", `Unknown command "${verb}": run offstage --help`);
  }
  if (words.length === 0) return await tour();
  return await runCommand({
    command: words.join(" "),
    ...(values.timeout !== undefined && { timeout: secondsOf(values.timeout) }),
    ...(values.workdir !== undefined && { workdir: values.workdir }),
    ...(values.pty !== undefined && { pty: values.pty }),
  });
}

/** Where the command begins: at the first word after the verb. What looks like an option behind it is the command's. */
function commandIndex(args: readonly string[]): number {
  const { tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: OPTIONS,
    strict: false,
    tokens: true,
  });
  return tokens.filter(({ kind }) => kind === "positional")[1]?.index ?? args.length;
}

function secondsOf(text: string): number {
  const seconds = text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(seconds)) throw new OffstageError("invalid", `--timeout: expected seconds but received "${text}"`);
  return seconds;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`offstage: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT_OWN_FAILURE;
}
