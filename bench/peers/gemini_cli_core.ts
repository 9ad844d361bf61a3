/**
 * The shell execution service of Gemini CLI, on pipes and in a terminal.
 *
 * @module
 */
import process from "node:process";
import { load, type Peer } from "./peer.ts";

interface Handle {
  readonly pid: number;
  readonly result: Promise<{ readonly error: Error | null }>;
}

interface Gemini {
  readonly ShellExecutionService: {
    execute(
      command: string,
      workdir: string,
      onEvent: (event: { readonly type: string }) => void,
      signal: AbortSignal,
      inTerminal: boolean,
      config: object,
    ): Promise<Handle>;
    writeToPty(pid: number, text: string): void;
  };
  readonly NoopSandboxManager: new () => object;
}

/** Opens it. */
export async function open(): Promise<Peer> {
  const { ShellExecutionService: service, NoopSandboxManager } = await load<Gemini>(
    "gemini-cli-core",
    "@google/gemini-cli-core",
    "dist/index.js",
  );
  const config = {
    sanitizationConfig: {
      allowedEnvironmentVariables: [],
      blockedEnvironmentVariables: [],
      enableEnvironmentVariableRedaction: false,
    },
    sandboxManager: new NoopSandboxManager(),
    terminalWidth: 120,
    terminalHeight: 30,
  };
  const start = (command: string, inTerminal: boolean, heard: () => void): Promise<Handle> =>
    service.execute(
      command,
      process.cwd(),
      ({ type }) => type === "data" && heard(),
      new AbortController().signal,
      inTerminal,
      config,
    );
  const run = async (command: string, inTerminal: boolean): Promise<void> => {
    const { error } = await (await start(command, inTerminal, () => {})).result;
    if (error !== null) throw error;
  };
  return {
    run: (command) => run(command, false),
    runInTerminal: (command) => run(command, true),
    open: async (command, heard) => {
      const { pid } = await start(command, true, heard);
      return { write: (text) => service.writeToPty(pid, text) };
    },
    start: (command) => start(command, false, () => {}),
  };
}
