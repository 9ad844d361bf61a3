#!/usr/bin/env node
/**
 * The command line: `offstage exec 'npm test'`.
 *
 * @module
 */
import process from "node:process";
import { nearest } from "../../mod.ts";
import { EXIT_CODES_HELP, EXIT_OWN_FAILURE, exitCodeOfSignal } from "./exit_codes.ts";
import { launcherGone } from "./launcher.ts";
import { VERSION } from "../version.ts";
import { fail, usage, type Verb } from "./verb.ts";

/** A verb in the list of all: what it does, and where it is. */
interface Entry {
  readonly summary: string;
  /** Only what is used is loaded. */
  readonly load: () => Promise<Verb>;
}

const VERBS: Readonly<Record<string, Entry>> = {
  exec: {
    summary: "run a command here, print its output as it comes, exit with its code",
    load: async () => (await import("./exec.ts")).exec,
  },
  doctor: {
    summary: "what works on this machine, what to do about the rest, the settings in force",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  serve: {
    summary: "the same over HTTP; prints its address, a token and what to try",
    load: async () => ({
      help: (await import("./serve_options.ts")).SERVE_HELP,
      run: (await import("./serve.ts")).serve,
    }),
  },
  mcp: {
    summary: "the same for the MCP client that starts it",
    load: async () => {
      const { MCP_HELP, serveMcp } = await import("./mcp.ts");
      return { help: MCP_HELP, run: serveMcp };
    },
  },
  node: {
    summary: "make this machine a node of a fleet: gateways run commands here, over NATS",
    load: async () => (await import("./node.ts")).node,
  },
  ps: { summary: "the sessions of a server", load: async () => (await import("./ps.ts")).ps },
  nodes: { summary: "where a server's commands can run", load: async () => (await import("./nodes.ts")).nodes },
  logs: {
    summary: "what a session has printed; -f: as it comes",
    load: async () => (await import("./logs.ts")).logs,
  },
  attach: { summary: "a session in this terminal", load: async () => (await import("./attach.ts")).attach },
  send: { summary: "type into a session", load: async () => (await import("./send.ts")).send },
  wait: {
    summary: "until a session ends; exits with its code",
    load: async () => (await import("./wait.ts")).wait,
  },
  kill: { summary: "end sessions, or send them a signal", load: async () => (await import("./kill.ts")).kill },
  rm: { summary: "end sessions and forget them", load: async () => (await import("./rm.ts")).rm },
};

const HELP = `Examples
  offstage exec 'npm test'             run it, print its output as it comes, exit with its code
  offstage exec                        a short tour of what exec and process do
  offstage serve                       serve it over HTTP; the other verbs speak to such a server:
  offstage ps                          what runs there
  offstage logs amber-otter-7k3f -f    follow a session
  offstage attach amber-otter-7k3f     be in its terminal

Verbs (offstage <verb> --help tells more; offstage --version)
${Object.entries(VERBS).map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}\n`).join("")}
${EXIT_CODES_HELP}`;

const HELP_WORDS = ["--help", "-h"];

/** Verbs that end what runs here before they end, however they are told to. */
const RUNNERS: readonly string[] = ["exec", "serve", "mcp", "node"];

/** Whether failures are told as JSON too. */
let wantsJson = false;

/** Runs one invocation; resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  if (args[0] === "--version") {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const isAsked = args[0] === undefined || args[0] === "help" || HELP_WORDS.includes(args[0]);
  const [name, ...rest] = isAsked ? args.slice(1) : args;
  if (name === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!Object.hasOwn(VERBS, name)) {
    const [near] = name.startsWith("-") ? [] : nearest(name, Object.keys(VERBS), 1);
    throw usage(
      `Unknown verb "${name}": ${near === undefined ? "" : `did you mean ${near}? `}offstage --help lists all`,
    );
  }
  const verb = await VERBS[name]?.load() as Verb;
  const own = verb.ownWords?.(rest) ?? rest.slice(0, [...rest, "--"].indexOf("--"));
  wantsJson = own.includes("--json");
  if (isAsked || own.some((word) => HELP_WORDS.includes(word))) {
    process.stdout.write(verb.help);
    return 0;
  }
  if (!RUNNERS.includes(name)) void launcherGone().then(() => process.kill(process.pid, "SIGTERM"));
  return await verb.run(rest);
}

/** Whoever reads our output has seen enough, or the terminal is gone: we end as a program that no signal handler saves. */
const onOutputError = (error: NodeJS.ErrnoException): void => {
  if (error.code === "EPIPE") process.exit(exitCodeOfSignal("SIGPIPE"));
  if (error.code === "EIO") process.exit(exitCodeOfSignal("SIGHUP"));
  throw error;
};
process.stdout.on("error", onOutputError);
process.stderr.on("error", onOutputError);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  await fail(error, wantsJson);
  process.exitCode = EXIT_OWN_FAILURE;
}
