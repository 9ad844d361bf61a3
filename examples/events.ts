/**
 * An agent that sleeps while its commands run, and is woken when something has happened: `onEvent` keeps a journal,
 * `requestHeartbeat` wakes the agent, which reads its news, deals with it and acknowledges it.
 *
 * @module
 */
import type { SessionEvent } from "offstage";
import { createOffstage } from "offstage/auto"; // or offstage/node, offstage/deno, offstage/bun

const journal: string[] = [];
let wake = (): void => {};

const offstage = createOffstage({
  onEvent: (event) => journal.push(`${event.scope}: ${event.name} ${event.type}`), // of every agent, as it happens
  requestHeartbeat: (scope) => scope === "agent-1" && wake(), // after each event: that agent has news
});
const agent = offstage.agent("agent-1");

await agent.exec({
  command: "sleep 1; echo 'Ready on port 8080'; sleep 1; exit 3",
  background: true,
  notifyOn: { pattern: "^Ready" }, // the end is news anyhow, a line only if it is asked for
});

let isRunning = true;
while (isRunning) {
  const { events } = agent.events.list();
  for (const event of events) {
    console.log(tell(event));
    // the line "Ready on port 8080"
    // it ended with exit code 3
    if (event.type === "exit") isRunning = false;
  }
  agent.events.ack(...events.map(({ id }) => id)); // else they are listed again
  if (isRunning && agent.events.list().events.length === 0) await heartbeat();
}

console.log(journal.join(", "));
// agent-1: sleep 1 match, agent-1: sleep 1 exit
await offstage.close();

/** What a model would be told. */
function tell(event: SessionEvent): string {
  return event.type === "match" ? `the line "${event.line}"` : `it ended with exit code ${event.exitCode}`;
}

/** Resolves at the next one. */
function heartbeat(): Promise<void> {
  return new Promise((resolve) => wake = resolve);
}
