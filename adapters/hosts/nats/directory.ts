/**
 * The nodes of a fleet, as one gateway knows them.
 *
 * @module
 */
import { chooseNode, OffstageError } from "../../../mod.ts";
import type { NodeDirectory, NodeInfo, Spawner } from "../../../mod.ts";
import * as check from "./checks.ts";
import { DEFAULT_PREFIX, type NatsConnection } from "./connection.ts";
import { decodeFrame } from "./frame.ts";
import { createNodeLink, type NodeLink } from "./node_link.ts";
import { BEAT_MS, type HelloAnswer, newKey, type NodeState, subjectsOf } from "./protocol.ts";
import { connectWire, type Message, type Wire } from "./wire.ts";

/** A node that was heard of. */
interface Known {
  state: NodeState;
  heardAt: number;
  /** Nobody listens where it listened. */
  isGone: boolean;
  /** Commands started there since it last told how many run. */
  started: number;
  hello: Promise<HelloAnswer> | undefined;
  link: NodeLink | undefined;
}

/** A node that was not heard of for that long is lost, ms; one beat may be late, and one may be lost. */
const LOST_MS = 3 * BEAT_MS;

/** A lost node is told of for that long, ms. */
const REMEMBERED_MS = 300_000;

/** Time in which all nodes answer that they are there, ms. */
const FIND_MS = 300;

/** Time that one node has to answer, ms. */
const HELLO_LIMIT_MS = 5_000;

/** Output that is under way to this gateway, bytes: half of what a server keeps for a slow client as it is set up. */
const UNDER_WAY_BYTES = 33_554_432;

/** The share of one command, bytes. */
const LEAST_WINDOW_BYTES = 32_768;
const MOST_WINDOW_BYTES = 2_097_152;

/** A fleet that is connected. */
interface Fleet {
  readonly wire: Wire;
  readonly nodes: Map<string, Known>;
  /** Nodes of which two runs are heard, until it is clear which of them is there. */
  readonly twins: Map<string, Promise<void>>;
}

/** Makes the directory; it connects on first use. */
export function createDirectory(options: NatsConnection): NodeDirectory {
  const subjects = subjectsOf(options.prefix ?? DEFAULT_PREFIX);
  const gateway = newKey();
  let connecting: Promise<Fleet> | undefined;
  let isClosed = false;
  let turn = 0;

  async function connect(): Promise<Fleet> {
    const nodes = new Map<string, Known>();
    const wire = await connectWire(options, {
      name: "offstage gateway",
      inbox: subjects.inbox(gateway),
      onBack: () => {
        for (const { link } of nodes.values()) link?.resume();
      },
    });
    const fleet: Fleet = { wire, nodes, twins: new Map() };
    wire.subscribe(subjects.beats, ({ data }) => hear(fleet, data));
    wire.subscribe(subjects.from("*", gateway), (message) => takeFrame(fleet, message));
    try {
      await find(fleet);
      return fleet;
    } catch (error) {
      await wire.close();
      throw error;
    }
  }

  async function connected(): Promise<Fleet> {
    if (isClosed) throw new OffstageError("closed", "Cannot look for nodes: this directory has been closed");
    connecting ??= connect();
    try {
      return await connecting;
    } catch (error) {
      connecting = undefined; // the next call tries again
      throw error;
    }
  }

  function find(fleet: Fleet): Promise<void> {
    return fleet.wire.ask(subjects.find, check.encode({}), FIND_MS, (answer) => hear(fleet, answer));
  }

  /** A node tells of itself. */
  function hear(fleet: Fleet, data: Uint8Array): Known | undefined {
    const state = check.decode(check.nodeState, data);
    if (state === undefined) return undefined;
    const known = fleet.nodes.get(state.id);
    if (known !== undefined && known.state.instance !== state.instance) {
      if (state.isLeaving === true) return undefined;
      if (isOnline(known)) {
        if (!fleet.twins.has(state.id)) fleet.twins.set(state.id, settleTwins(fleet, known, state));
        return undefined;
      }
      known.link?.lose("it was started anew");
    }
    if (state.isLeaving === true) {
      if (known?.link === undefined || known.link.size() === 0) fleet.nodes.delete(state.id);
      else known.state = state;
      return undefined;
    }
    const isSame = known?.state.instance === state.instance;
    const next: Known = {
      state,
      heardAt: performance.now(),
      isGone: false,
      started: 0,
      hello: isSame ? known.hello : undefined,
      link: isSame && known.link?.isLost() !== true ? known.link : undefined,
    };
    fleet.nodes.set(state.id, next);
    next.link?.hear(state);
    return next;
  }

  /** Another run of a node is heard of: it has followed the known one, unless that still answers and this one has to go. */
  async function settleTwins(fleet: Fleet, known: Known, other: NodeState): Promise<void> {
    const { id, instance } = known.state;
    let isThere = false;
    await fleet.wire.ask(subjects.to(id, "hello"), check.encode({}), FIND_MS, (answer) => {
      const node = check.decode(check.helloAnswer, answer)?.node;
      if (node?.instance === instance && node.isLeaving !== true) isThere = true;
    }).catch(() => {});
    fleet.twins.delete(id);
    if (isThere || fleet.nodes.get(id)?.state.instance !== instance) return;
    const now = fleet.nodes.get(id) as Known;
    now.isGone = true;
    hear(fleet, check.encode(other));
  }

  function takeFrame({ nodes }: Fleet, { subject, data }: Message): void {
    const frame = decodeFrame(data);
    if (frame !== undefined) nodes.get(subjects.nodeOf(subject))?.link?.take(frame);
  }

  /** Asks a node what it is like, which shows that it is there. */
  async function greet(fleet: Fleet, id: string): Promise<HelloAnswer | undefined> {
    const reply = await fleet.wire.request(subjects.to(id, "hello"), check.encode({}), HELLO_LIMIT_MS);
    const answer = reply instanceof Uint8Array ? check.decode(check.helloAnswer, reply) : undefined;
    if (answer !== undefined && answer.node.id === id) {
      hear(fleet, check.encode(answer.node));
      return answer;
    }
    const known = fleet.nodes.get(id);
    if (reply === "nobody" && known !== undefined) known.isGone = true;
    return undefined;
  }

  const isFresh = ({ heardAt, isGone }: Known): boolean => !isGone && performance.now() - heardAt < BEAT_MS * 1.5;
  const isOnline = ({ heardAt, isGone, state }: Known): boolean =>
    !isGone && state.isLeaving !== true && performance.now() - heardAt < LOST_MS;
  const serves = ({ state }: Known, scope: string | undefined): boolean =>
    scope === undefined || state.scopes === undefined || state.scopes.includes(scope);

  function inOrder(fleet: Fleet): readonly Known[] {
    return [...fleet.nodes.values()].sort((one, other) => one.state.id < other.state.id ? -1 : 1);
  }

  async function list(scope?: string): Promise<readonly NodeInfo[]> {
    const fleet = await connected();
    await Promise.all(inOrder(fleet).filter((known) => !isFresh(known)).map(({ state }) => greet(fleet, state.id)));
    forget(fleet);
    return inOrder(fleet).filter((known) => serves(known, scope) && known.state.isLeaving !== true).map(infoOf);
  }

  function infoOf(known: Known): NodeInfo {
    const { id, labels, running, system, runtime } = known.state;
    const state = isOnline(known) ? "online" : "lost";
    return {
      id,
      state,
      labels,
      running: state === "online" ? running + known.started : 0,
      system,
      runtime,
      lastSeenMs: Math.round(performance.now() - known.heardAt),
    };
  }

  function forget({ nodes }: Fleet): void {
    for (const [id, known] of nodes) {
      if (performance.now() - known.heardAt > REMEMBERED_MS) nodes.delete(id);
    }
  }

  async function choose(
    node: string | undefined,
    scope: string,
  ): Promise<{ readonly name: string; readonly spawner: Spawner }> {
    const fleet = await connected();
    if (fleet.nodes.size === 0) await find(fleet);
    if (node !== undefined) await lookFor(fleet, node, scope);
    await Promise.all(fleet.twins.values());
    turn++;
    for (;;) {
      const { id } = chooseNode(inTurn(fleet, scope).map(infoOf), node);
      const chosen = fleet.nodes.get(id) as Known;
      if (isFresh(chosen) || await greet(fleet, id) !== undefined) {
        return await use(fleet, fleet.nodes.get(id) ?? chosen);
      }
      chosen.isGone = true;
    }
  }

  /** A node that is named may have come, or come back, since all were asked; another scope's is refused as such. */
  async function lookFor(fleet: Fleet, id: string, scope: string): Promise<void> {
    const known = fleet.nodes.get(id);
    const isMet = known?.link !== undefined && isFresh(known);
    if (!isMet && !/^any(:|$)/.test(id) && /^[A-Za-z0-9_-]+$/.test(id)) await greet(fleet, id);
    const found = fleet.nodes.get(id);
    if (found !== undefined && isOnline(found) && !serves(found, scope)) {
      throw new OffstageError("refused", `Node "${id}" runs nothing for the scope "${scope}"`);
    }
  }

  /** Those that serve a scope, beginning with another each time: of several that do equally well the first is taken. */
  function inTurn(fleet: Fleet, scope: string): readonly Known[] {
    const all = inOrder(fleet).filter((known) => serves(known, scope) && known.state.isLeaving !== true);
    const start = turn % Math.max(1, all.length);
    return [...all.slice(start), ...all.slice(0, start)];
  }

  /** A node that was chosen, ready to be used. */
  async function use(fleet: Fleet, known: Known): Promise<{ readonly name: string; readonly spawner: Spawner }> {
    const { id } = known.state;
    let now = known;
    if (now.link === undefined || now.link.isLost()) {
      const hello = await greet(fleet, id);
      await fleet.twins.get(id);
      now = fleet.nodes.get(id) ?? known;
      if (hello?.node.instance !== now.state.instance) {
        throw new OffstageError("invalid", `Cannot run anything on node "${id}": it is lost`);
      }
      now.link ??= createNodeLink({ gateway, hello, wire: fleet.wire, subjects, window: () => windowOf(fleet) });
    }
    now.started++;
    return { name: id, spawner: now.link.spawner };
  }

  return {
    list,
    choose,
    close: async () => {
      isClosed = true;
      const fleet = await connecting?.catch(() => undefined);
      if (fleet === undefined) return;
      for (const { link } of fleet.nodes.values()) link?.close();
      await fleet.wire.close();
    },
  };
}

/** How many bytes of one command may be under way: all of them together must not make the server take us for too slow. */
function windowOf({ nodes }: Fleet): number {
  const commands = [...nodes.values()].reduce((sum, { link }) => sum + (link?.size() ?? 0), 0);
  return Math.min(MOST_WINDOW_BYTES, Math.max(LEAST_WINDOW_BYTES, Math.floor(UNDER_WAY_BYTES / Math.max(1, commands))));
}
