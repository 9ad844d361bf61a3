/**
 * Instances to measure, and what of their answers is needed.
 *
 * @module
 */
import { createOffstage } from "../../adapters/auto.ts";
import { createHttpApp } from "../../adapters/http.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import type { Agent, ExecConfig, ExecParams, Offstage } from "../../mod.ts";

/** An instance that is served. */
export interface Site {
  readonly agent: Agent;
  readonly url: string;
  /** The bearer token of the agent. */
  readonly token: string;
}

const TOKEN = "token-of-the-bench";
const CONFIG: ExecConfig = { maxSessions: 20_000, killGraceMs: 100 };

/** Makes an instance, measures with its agent, and closes it. */
export async function withAgent<T>(
  measure: (agent: Agent, offstage: Offstage) => Promise<T>,
  config: ExecConfig = {},
): Promise<T> {
  const offstage = createOffstage({ tools: { exec: { ...CONFIG, ...config } } });
  const result = await measure(offstage.agent("bench"), offstage);
  await offstage.close();
  return result;
}

/** Makes an instance, serves it on this runtime while something is measured, and closes it. */
export async function withSite<T>(measure: (site: Site) => Promise<T>): Promise<T> {
  return await withAgent(async (agent, offstage) => {
    const listen = await listenHere();
    const server = await listen(
      (host) => createHttpApp(offstage, { ...host, tokens: new Map([[TOKEN, "bench"]]) }),
      { hostname: "127.0.0.1", port: 0 },
    );
    const result = await measure({ agent, url: `http://127.0.0.1:${server.port}`, token: TOKEN });
    await offstage.close();
    await server.close();
    return result;
  });
}

/** Starts a session and gives its id. */
export async function background(agent: Agent, command: string, params: Partial<ExecParams> = {}): Promise<string> {
  const { details, text } = await agent.exec({ command, background: true, ...params });
  if (details.status !== "running") throw new Error(`It does not run: ${command}: ${text}`);
  return details.sessionId;
}
