/**
 * Other machines that run commands, where they come and go.
 *
 * @module
 */
import type { Spawner } from "../runtime.ts";

/** What a directory tells of one node. */
export interface NodeInfo {
  /** Its name, such as `builder-1`. */
  readonly id: string;
  /** `lost`: it was there and does not answer. */
  readonly state: "online" | "lost";
  /** What it was registered with: `{ gpu: "", arch: "arm" }`. */
  readonly labels: Readonly<Record<string, string>>;
  /** How many commands run there now, of all gateways. */
  readonly running: number;
  /** Its system, for people: `linux x64`. */
  readonly system?: string;
  /** What it runs on, for people: `node 24.1.0`. */
  readonly runtime?: string;
  /** Time since it was last heard of, ms. */
  readonly lastSeenMs?: number;
}

/** A node that was chosen for a command. */
export interface ChosenNode {
  /** Its id: what `authorize` is asked about, and what answers and lists show. */
  readonly name: string;
  /** Runs the command there. */
  readonly spawner: Spawner;
}

/** Nodes that come and go: what `nodes` of `createOffstage` may be instead of a map. */
export interface NodeDirectory {
  /**
   * The nodes that a scope may use, those that were lost a short time ago too.
   *
   * @param scope default: all nodes, for whoever runs the host
   */
  list(scope?: string): Promise<readonly NodeInfo[]>;
  /**
   * Finds the node that a call names; `chooseNode` has the rules. A call that would wait longer than 10 s starts nothing.
   *
   * @param node an id, `any`, `any:<label>` or `any:<label>=<value>`; `undefined`: the only one there is
   * @param scope the agent that asks; `*` is the admin
   * @throws {OffstageError} `invalid`, with a problem of key `node` that says which there are; or `refused`
   */
  choose(node: string | undefined, scope: string): Promise<ChosenNode>;
  /** Lets go of its connections: nothing will be asked of it any more. Called by `close` of the instance. */
  close(): Promise<void>;
}
