/**
 * A node: runs here what gateways ask for over NATS.
 *
 * @module
 */
import process from "node:process";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { OffstageError, type Runtime } from "../../../mod.ts";
import { hostRuntime } from "../../auto.ts";
import * as check from "./checks.ts";
import { invalidOptions } from "../options.ts";
import { DEFAULT_PREFIX } from "./connection.ts";
import { encodeFrame, FRAME_OVERHEAD } from "./frame.ts";
import { createNodeDesk } from "./node_desk.ts";
import { fittingLook } from "./node_looks.ts";
import { nodeEnvironment } from "./node_environment.ts";
import { DEFAULT_LEASE_MS, nodeProblems, type ServeNodeOptions } from "./node_options.ts";
import {
  BEAT_MS,
  CHUNK_BYTES,
  type HelloAnswer,
  type LookAnswer,
  type LookQuestion,
  newKey,
  type NodeState,
  type PlaceAnswer,
  type PlaceQuestion,
  type SpawnAnswer,
  subjectsOf,
} from "./protocol.ts";
import { connectWire, type Message, type Wire } from "./wire.ts";

/** A node that serves. */
export interface ServedNode extends AsyncDisposable {
  /** Its id. */
  readonly id: string;
  /** How many commands run. */
  running(): number;
  /** Resolves when it has ended: with the reason, if that was not {@linkcode ServedNode.close}. */
  readonly ended: Promise<OffstageError | undefined>;
  /** Ends its commands, tells the gateways, and leaves. Idempotent. */
  close(): Promise<void>;
}

const DEFAULT_GRACE_MS = 5_000;

/** How often it is looked whether a gateway is silent, and whether something was lost, ms. */
const TICK_MS = 1_000;

/** Another number of commands is told of after that time, ms: quick ones are not told of one by one. */
const LOAD_MS = 200;

/** How long a node of the same id is asked for before there is one, ms. */
const TWIN_LIMIT_MS = 2_000;

/**
 * Makes this machine a node of a fleet: gateways with `nats()` of the same server and prefix find it and run commands on
 * it, with the rights of this process. Each command's processes are ended when its gateway is gone for longer than the
 * lease, and when this process ends, whatever ends it.
 *
 * It connects again by itself, for ever.
 *
 * @throws {OffstageError} `invalid`, `refused` (there is a node of that id, or the credentials are not taken),
 * `spawn-failed` (NATS cannot be reached), `unsupported` (its library is missing)
 *
 * @example
 * ```ts
 * import { serveNode } from "offstage/nats";
 *
 * const options = { url: "nats://10.0.0.1:4222", id: "builder-1", labels: { gpu: "" } };
 * const node = await serveNode(options).catch((error) => console.error(error.message));
 * await node?.ended;
 * ```
 */
export async function serveNode(options: ServeNodeOptions): Promise<ServedNode> {
  const problems = nodeProblems(options);
  if (problems.length > 0) throw invalidOptions("Cannot make this node", problems);
  const runtime = hostRuntime();
  const subjects = subjectsOf(options.prefix ?? DEFAULT_PREFIX);
  const wire = await connectWire(options, {
    name: `offstage node ${options.id}`,
    inbox: subjects.inbox(options.id),
    onBack: () => back(),
    ...(options.onTrouble !== undefined && { onTrouble: options.onTrouble }),
  });
  let back = (): void => {};
  try {
    const twin = await wire.request(subjects.to(options.id, "hello"), check.encode({}), TWIN_LIMIT_MS);
    if (twin instanceof Uint8Array) throw twinError(options.id);
  } catch (error) {
    await wire.close();
    throw error;
  }
  const served = serve(options, runtime, wire);
  back = served.back;
  await wire.flush();
  return served.node;
}

/** Serves on a connection. */
function serve(
  options: ServeNodeOptions,
  runtime: Runtime,
  wire: Wire,
): { readonly node: ServedNode; readonly back: () => void } {
  const { id, scopes, leaseMs = DEFAULT_LEASE_MS, graceMs = DEFAULT_GRACE_MS, host = runtime.spawner } = options;
  const subjects = subjectsOf(options.prefix ?? DEFAULT_PREFIX);
  const spawner = typeof host === "function" ? host(runtime.spawner) : host;
  const place = spawner.place ?? runtime;
  const guard = runtime.guard?.();
  const instance = newKey();
  const since = Date.now();
  const desk = createNodeDesk({
    id,
    instance,
    scopes,
    spawner,
    guard,
    leaseMs,
    graceMs,
    chunkBytes: Math.min(CHUNK_BYTES, wire.maxBytes() - FRAME_OVERHEAD),
    environment: (call) => nodeEnvironment(call, options.env ?? {}, runtime.environment(), guard?.instance),
    send: (gateway, frame) => wire.publish(subjects.from(id, gateway), encodeFrame(frame)),
    onLoad: () => void (loadTold ??= setTimeout(beat, LOAD_MS).unref()),
  });
  let isLeaving = false;
  let lastTick = performance.now();
  let lastBeat = 0;
  let loadTold: ReturnType<typeof setTimeout> | undefined;
  let closing: Promise<void> | undefined;
  let tellEnd: (reason: OffstageError | undefined) => void;
  const ended = new Promise<OffstageError | undefined>((resolve) => tellEnd = resolve);

  function state(): NodeState {
    return {
      id,
      instance,
      since,
      labels: options.labels ?? {},
      scopes,
      running: desk.running(),
      system: `${process.platform} ${process.arch}`,
      runtime: runtime.name,
      leaseMs,
      ...(isLeaving && { isLeaving }),
    };
  }

  function beat(): void {
    clearTimeout(loadTold);
    loadTold = undefined;
    lastBeat = performance.now();
    wire.publish(subjects.beatOf(id), check.encode(state()));
  }

  async function hello(): Promise<HelloAnswer> {
    return {
      node: state(),
      cwd: options.cwd ?? await place.cwd(),
      home: await place.home(),
      capabilities: await spawner.capabilities(),
    };
  }

  async function lookAt({ what, name }: PlaceQuestion): Promise<PlaceAnswer> {
    if (what === "directory") return { is: await place.directoryStatus(name) };
    return { is: await place.hasProgram(name) ? "ok" : "missing" };
  }

  function tick(): void {
    const now = performance.now();
    desk.tick(Math.min(now - lastTick, 2 * TICK_MS)); // this process may have been stopped: nobody else was
    lastTick = now;
    if (now - lastBeat >= BEAT_MS - TICK_MS / 2) beat();
  }

  /** There is one node of each id: the younger one goes. */
  function meet({ data }: Message): void {
    const other = check.decode(check.nodeState, data);
    if (other === undefined || other.instance === instance || other.id !== id || other.isLeaving === true) return;
    if (other.since < since || (other.since === since && other.instance < instance)) void close(twinError(id));
  }

  function close(reason?: OffstageError): Promise<void> {
    return closing ??= leave(reason);
  }

  async function leave(reason: OffstageError | undefined): Promise<void> {
    isLeaving = true;
    if (reason === undefined) beat();
    await desk.close();
    clearInterval(ticking);
    clearTimeout(loadTold);
    forgetShutdown();
    guard?.close();
    await wire.close();
    tellEnd(reason);
  }

  /** Answers requests of one kind; what is no such request gets `otherwise`, or no answer. */
  function serveRequests<Q, A>(
    subject: string,
    question: check.Check<Q>,
    reply: (question: Q) => Promise<A | undefined>,
    otherwise?: A,
  ): void {
    wire.subscribe(subject, (message) => {
      const asked = check.decode(question, message.data);
      const given = asked === undefined ? Promise.resolve(otherwise) : reply(asked);
      void given.then((answer) => answer !== undefined && message.respond(check.encode(answer)), () => {});
    });
  }

  const notOne: SpawnAnswer = { ok: false, code: "invalid", message: `Node "${id}" does not understand the request` };
  wire.subscribe(subjects.find, (message) => message.respond(check.encode(state())));
  serveRequests(subjects.to(id, "hello"), check.anything, hello);
  serveRequests(subjects.to(id, "place"), check.placeQuestion, lookAt);
  serveRequests(subjects.to(id, "spawn"), check.spawnRequest, desk.spawn, notOne);
  const look = async (question: LookQuestion): Promise<LookAnswer> =>
    fittingLook(await desk.look(question), wire.maxBytes());
  serveRequests(subjects.to(id, "look"), check.lookQuestion, look);
  wire.subscribe(subjects.to(id, "frame"), ({ data }) => desk.takeFrame(data));
  wire.subscribe(subjects.to(id, "beat"), ({ data }) => desk.takeBeat(data));
  wire.subscribe(subjects.beatOf(id), meet);
  const ticking = setInterval(tick, TICK_MS);
  const forgetShutdown = runtime.onShutdown(() => close(), { signals: options.endOnSignals ?? true });
  beat();

  return {
    node: { id, running: desk.running, ended, close: () => close(), [Symbol.asyncDispose]: () => close() },
    back: () => {
      beat();
      desk.remind();
    },
  };
}

function twinError(id: string): OffstageError {
  return new OffstageError("refused", `There is a node "${id}" already: give this one another id, or end that one`);
}
