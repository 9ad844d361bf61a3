/**
 * What a node is given, and what is wrong with it.
 *
 * @module
 */
import type { OffstageError, Problem, Spawner, WrappingHost } from "../../../mod.ts";
import { unknownOptions } from "../options.ts";
import { CONNECTION_OPTIONS, connectionProblems, type NatsConnection } from "./connection.ts";
import { isNodeId } from "./protocol.ts";

/** Options of {@linkcode serveNode}. */
export interface ServeNodeOptions extends NatsConnection {
  /** What the node is called, such as `builder-1`: letters, digits, `-` and `_`, at most 64. There is one of each. */
  readonly id: string;
  /** By which it can be chosen: `{ gpu: "", arch: "arm" }` is meant by `any:gpu` and by `any:arch=arm`. @default {{}} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Scopes whose commands it runs; others are refused. @default everybody's */
  readonly scopes?: readonly string[];
  /** Directory that commands run in unless a call says otherwise, absolute. @default this process's */
  readonly cwd?: string;
  /** Variables that commands get beside `PATH`, `HOME` and the like, and those of the call. @default {{}} */
  readonly env?: Readonly<Record<string, string>>;
  /** What runs the commands, such as `bubblewrap({ workspace })`. @default this machine */
  readonly host?: Spawner | WrappingHost;
  /**
   * Commands of a gateway that has not been heard of for that long are ended; a shorter cut ends nothing. The gateway
   * takes them for lost after the same time. In milliseconds, at least 3000.
   *
   * @default {15000}
   */
  readonly leaseMs?: number;
  /** Time between SIGTERM and SIGKILL for what is ended, ms. @default {5000} */
  readonly graceMs?: number;
  /**
   * Whether SIGTERM, SIGINT and SIGHUP end the node. `false`: not those that your program listens to itself.
   *
   * @default {true}
   */
  readonly endOnSignals?: boolean;
  /** Told what people ought to know: of refusals by the server, and of the connection. @default {() => {}} */
  readonly onTrouble?: (error: OffstageError) => void;
}

/** Used unless something else is given, ms. */
export const DEFAULT_LEASE_MS: number = 15_000;
const LEAST_LEASE_MS = 3_000; // a beat may be late, and one may be lost

const KNOWN: Readonly<Record<keyof ServeNodeOptions, true>> = {
  ...CONNECTION_OPTIONS,
  id: true,
  labels: true,
  scopes: true,
  cwd: true,
  env: true,
  host: true,
  leaseMs: true,
  graceMs: true,
  endOnSignals: true,
  onTrouble: true,
};

/** What is wrong with them. */
export function nodeProblems(options: ServeNodeOptions): readonly Problem[] {
  const problems: Problem[] = [...unknownOptions(options, KNOWN), ...connectionProblems(options)];
  const { id, labels = {}, cwd, leaseMs = DEFAULT_LEASE_MS } = options;
  if (typeof id !== "string" || !isNodeId(id)) {
    problems.push({ key: "id", message: 'must be letters, digits, - and _, at most 64, and not "any"' });
  }
  for (const name of Object.keys(labels)) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_./-]*$/.test(name)) {
      problems.push({ key: `labels.${name}`, message: "must be named by letters, digits, _ . / and -" });
    }
  }
  if (cwd !== undefined && !cwd.startsWith("/")) problems.push({ key: "cwd", message: "must be an absolute path" });
  if (!(leaseMs >= LEAST_LEASE_MS)) problems.push({ key: "leaseMs", message: `must be at least ${LEAST_LEASE_MS}` });
  return problems;
}
