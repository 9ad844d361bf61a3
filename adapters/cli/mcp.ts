/**
 * `offstage mcp`: the two tools for the MCP client that has started this program.
 *
 * @module
 */
import process from "node:process";
import { createOffstage } from "../auto.ts";
import { createMcpServer } from "../mcp/server.ts";
import { EXIT_OWN_FAILURE } from "./exit_codes.ts";
import { FLEET_HELP, FLEET_OPTIONS, fleetOf } from "./fleet.ts";
import { launcherGone } from "./launcher.ts";
import { givenOptions, say } from "./verb.ts";

/** Help of `offstage mcp`. */
export const MCP_HELP: string = `Examples
  offstage mcp                     serve MCP over stdin and stdout, to the client that starts it
  offstage mcp --read-only-tool    with a third tool that a client can allow without asking

Options
  --scope <name>        whose sessions they are, in events and in authorize; default "default"
  --read-only-tool      offer a third tool, process_read (list, poll, log, screen), which a client can allow without asking
${FLEET_HELP}
In a client's configuration: {"command": "npx", "args": ["-y", "offstage", "mcp"]}. When stdin ends, all sessions are ended.
`;

const OPTIONS = {
  ...FLEET_OPTIONS,
  "scope": { type: "string", default: "default" },
  "read-only-tool": { type: "boolean", default: false },
} as const;

/** The signals by which a client ends its server. */
const END_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Serves until the client goes or a signal comes, then ends every session.
 *
 * @param args what comes after `mcp` on the command line
 * @returns the exit code to end with
 */
export async function serveMcp(args: readonly string[]): Promise<number> {
  const values = givenOptions(args, OPTIONS);
  const offstage = createOffstage({ endOnSignals: false, ...await fleetOf(values) });
  const server = createMcpServer(offstage.agent(values.scope), {
    readOnlyTool: values["read-only-tool"],
    onError: ({ message }) => process.stderr.write(`offstage: ${message}\n`),
  });
  let isEnding = false;
  const end = (): void => {
    if (isEnding) process.exit(EXIT_OWN_FAILURE); // whoever asks twice is in a hurry
    isEnding = true;
    void server.close();
  };
  void launcherGone().then(() => server.close());
  for (const signal of END_SIGNALS) process.on(signal, end); // for good: without a listener the process would die of it
  process.stdout.setMaxListeners(0); // each message that waits for a slow client listens
  if (process.stdin.isTTY) {
    say("waits for an MCP client on stdin; Ctrl-D ends it. offstage mcp --help tells how to give it one");
  }
  try {
    await server.serveStdio();
  } finally {
    await offstage.close();
    process.stdin.unref?.();
  }
  return 0;
}
