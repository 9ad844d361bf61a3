/**
 * The lines that a server prints: one a request, one for what went wrong inside.
 *
 * @module
 */
import type { RequestRecord } from "../http.ts";

/** How lines are written. */
export type LogFormat = "text" | "json" | "off";

/** The line of a request. */
export function requestLine(record: RequestRecord, format: LogFormat): string {
  const { at, method, route, status, ms, scope, client } = record;
  const time = new Date(at).toISOString();
  const rounded = Math.round(ms * 10) / 10;
  if (format === "json") return JSON.stringify({ time, method, route, status, ms: rounded, scope, client });
  return `${time} ${method} ${route} ${status} ${rounded} ms scope=${JSON.stringify(scope)} client=${client ?? "-"}`;
}

/** The line of an error: its kind and where it came from. Its message is left out, for it may quote what was sent. */
export function errorLine(error: unknown, format: LogFormat): string {
  const time = new Date().toISOString();
  const { name, stack } = error instanceof Error ? error : { name: typeof error, stack: "" };
  const frames = (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
  if (format === "json") return JSON.stringify({ time, error: name, frames });
  return [`${time} error ${name}`, ...frames.map((frame) => `  ${frame}`)].join("\n");
}
