/**
 * OpenClaw's exec tool: its module has another name in each build.
 *
 * @module
 */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { load, packagePath, type Peer } from "./peer.ts";

interface Tool {
  execute(id: string, params: object): Promise<{ readonly details: { readonly sessionId?: string } }>;
}

interface BashTools {
  readonly createExecTool?: (defaults: object) => Tool;
  readonly createProcessTool?: () => Tool;
}

const NAME = "openclaw";

/** Opens it, with a state of its own. */
export async function open(): Promise<Peer> {
  process.env["OPENCLAW_STATE_DIR"] = mkdtempSync(join(tmpdir(), "offstage-bench-openclaw-"));
  const files = readdirSync(join(packagePath(NAME), "dist")).filter((file) => /^bash-tools-[\w-]+\.mjs$/.test(file));
  const modules = await Promise.all(files.map((file) => load<BashTools>(NAME, NAME, `dist/${file}`)));
  const { createExecTool, createProcessTool } = modules.find((module) => module.createExecTool !== undefined) ?? {};
  const tool = createExecTool?.({ host: "gateway", security: "full", ask: "off" });
  const processTool = createProcessTool?.();
  if (tool === undefined || processTool === undefined) throw new Error("Its exec tool was not found");
  const run = (command: string, params: object): ReturnType<Tool["execute"]> =>
    tool.execute("bench", { command, yieldMs: 120_000, ...params });
  return {
    run: (command) => run(command, {}),
    runInTerminal: (command) => run(command, { pty: true }),
    start: (command) => run(command, { background: true }),
    open: async (command, heard) => {
      const { details: { sessionId } } = await run(command, { pty: true, background: true });
      const listen = async (): Promise<void> => {
        for (;;) {
          const answer = await processTool.execute("bench", { action: "poll", sessionId, timeout: 10_000 });
          if (!JSON.stringify(answer).includes("no new output")) heard();
        }
      };
      void listen().catch(() => {});
      return { write: (data) => processTool.execute("bench", { action: "write", sessionId, data }) };
    },
  };
}
