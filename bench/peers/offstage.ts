/**
 * Offstage, by the same measure as its peers.
 *
 * @module
 */
import type { Peer } from "./peer.ts";

/** Opens it. */
export async function open(): Promise<Peer> {
  const { createOffstage } = await import("../../adapters/auto.ts");
  const offstage = createOffstage({ tools: { exec: { maxSessions: 1_000, killGraceMs: 100 } } });
  const agent = offstage.agent("bench");
  const start = (command: string, pty = false): ReturnType<typeof agent.exec> =>
    agent.exec({ command, background: true, pty, ...(pty ? {} : { stdin: "closed" as const }) });
  return {
    run: (command) => agent.exec({ command, yieldMs: 120_000, stdin: "closed" }),
    runInTerminal: (command) => agent.exec({ command, yieldMs: 120_000, pty: true }),
    open: async (command, heard) => {
      const { details } = await start(command, true);
      const { sessionId = "" } = details as { readonly sessionId?: string };
      const view = agent.session(sessionId);
      let at = 0;
      const look = (): void => {
        if (view !== undefined && view.end > at) heard();
        at = view?.end ?? 0;
      };
      view?.watch(look);
      queueMicrotask(look); // what came before
      return { write: (data) => agent.process({ action: "write", sessionId, data }) };
    },
    start: (command) => start(command),
    close: () => offstage.close(),
  };
}
