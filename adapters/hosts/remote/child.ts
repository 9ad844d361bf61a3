/**
 * A command on another machine as a child: its streams are those of the client that was started for it here, its end is
 * told by the script around it, and its signals go by way of the overseer.
 *
 * @module
 */
import { unfoldExit } from "../shell_status.ts";
import { stdinClosed } from "../../node/failures.ts";
import type { EndMark } from "./launch.ts";
import { bareName, type Overseer } from "./overseer.ts";
import { createRemoteInspector, type Started } from "./tree.ts";
import { within } from "./within.ts";
import type { Child, Exit, SignalName, SpawnSpec } from "../../../mod.ts";

/** What a {@linkcode remoteChild} is made of. */
export interface RemoteParts {
  /** The client that was started for it. */
  readonly client: Child;
  /** Looks after it over there. */
  readonly overseer: Overseer;
  /** What the script has told of its start. */
  readonly started: Started;
  /** Its end; `undefined` if its streams ended without one. */
  readonly ended: Promise<EndMark | undefined>;
  /** What was asked for. */
  readonly spec: SpawnSpec;
  /** The machine, for people. */
  readonly target: string;
}

/** A client that has exited may have left its last output in the pipes, which are read within that time, ms. */
const READ_LIMIT_MS = 5_000;

/** Time that a client has to notice that its command has been killed, ms. */
const NOTICE_LIMIT_MS = 1_000;

/** Makes the child. */
export function remoteChild({ client, overseer, started, ended, spec, target }: RemoteParts): Child {
  const { pid, group, ownsGroup } = started;
  const sent = new Set<SignalName>();
  const inTerminal = spec.terminal !== undefined;
  const forget = overseer.keep(group, started.sessionId);
  const letGo = overseer.hold();
  let isReleased = false;
  let isClientEnded = false; // by us
  let hasExited = false;
  let isLeft = false; // whether others of the group may live on
  let leader = "any"; // when that of the group was started: while the command runs, nobody else gets its number

  const inspector = overseer.hasProc ? createRemoteInspector(overseer, started, () => leader) : undefined;

  /** For when nobody tells any more: whatever is left of it is ended. */
  async function endTree(): Promise<void> {
    const strays = await inspector?.tree() ?? [];
    overseer.tell(`g KILL ${group} ${leader}`);
    for (const stray of strays) stray.signal("SIGKILL");
  }

  /** When the leader of the group was started, and whether somebody of it lives; `undefined` if nobody answers. */
  async function lookAtGroup(): Promise<{ readonly start: string; readonly isLeft: boolean } | undefined> {
    const answer = await overseer.ask(`a ${group} ${group}`);
    if (answer === undefined) return undefined;
    const [start = "none"] = answer;
    // What is there may be dead, with nobody who reaps it, or the script
    const isLeft = answer.length > 0 && (await inspector?.tree() ?? [{ inGroup: true }]).some(({ inGroup }) => inGroup);
    return { start, isLeft };
  }

  async function lookForOthers(): Promise<void> {
    const group = await lookAtGroup();
    if (leader === "any") leader = group?.start ?? "none";
    isLeft = group?.isLeft ?? false;
  }

  async function exitOf(end: EndMark): Promise<Exit> {
    if (!ownsGroup) await lookForOthers();
    else {
      isLeft = end.isLeft;
      leader = "none"; // the script has seen it end
    }
    if (end.signal !== "") {
      const signal = `SIG${end.signal}` as SignalName;
      return await isOfGuard(signal) ? { lost: `${target}: ${overseer.why()}` } : { signal };
    }
    return unfoldExit({ code: end.code }, sent);
  }

  /** Whether the guard over there has ended it, since the overseer's connection is gone: it may have had one of its own. */
  async function isOfGuard(signal: SignalName): Promise<boolean> {
    return (signal === "SIGTERM" || signal === "SIGKILL") && !sent.has(signal) && await overseer.ask(":") === undefined;
  }

  /** The end without a word of the script. */
  async function exitUntold(): Promise<Exit> {
    const { code, signal } = await client.exited;
    if (isReleased) return { code: code ?? null };
    const isThere = (signal === undefined || isClientEnded) && await overseer.ask(":") !== undefined;
    await endTree();
    // In a terminal the script gets what its command gets, and tells of everything but that
    if (isThere) return sent.has("SIGKILL") ? { signal: "SIGKILL" } : { code: null };
    const how = signal === undefined ? overseer.why() : `its connection was ended by ${signal}`;
    return { lost: `${target}: ${how}` };
  }

  /** The script has been killed with its command: a client that does not notice, being stuck in a write, is ended too. */
  async function endClient(): Promise<void> {
    if ((await lookAtGroup())?.isLeft !== false) return;
    await within(client.exited, NOTICE_LIMIT_MS);
    isClientEnded = true;
    client.signal("SIGKILL", "group");
  }

  async function follow(): Promise<Exit> {
    const end = await Promise.race([ended, client.exited.then(() => within(ended, READ_LIMIT_MS))]);
    const exit = end === undefined ? await exitUntold() : await exitOf(end);
    hasExited = true;
    if (!isLeft) forgetIt();
    return exit;
  }

  function forgetIt(): void {
    forget();
    letGo();
  }

  const exited = follow();

  return {
    pid,
    isElsewhere: true,
    exited,
    write: (bytes) => {
      if (!inTerminal && spec.stdin === "closed") return Promise.reject(stdinClosed());
      return client.write(bytes);
    },
    endInput: () => inTerminal || spec.stdin === "closed" ? Promise.resolve() : client.endInput(),
    signal: (name, to) => {
      if (hasExited && (to === "child" || !isLeft)) return "gone";
      if (!overseer.isAlive()) return "refused";
      sent.add(name);
      overseer.tell(to === "child" ? `s ${bareName(name)} ${pid} any` : `g ${bareName(name)} ${group} ${leader}`);
      if (name === "SIGKILL" && to === "group" && !ownsGroup) void endClient();
      return "sent";
    },
    groupAnswers: () => {
      if (!hasExited) return true;
      if (isLeft) {
        void lookForOthers().then(() => {
          if (!isLeft) forgetIt();
        });
      }
      return isLeft;
    },
    ...(client.resize !== undefined && { resize: client.resize }),
    ...(client.hold !== undefined && { hold: client.hold }),
    ...(inTerminal && { isCooked: () => Promise.resolve(undefined) }),
    ...(inspector !== undefined && { inspector }),
    release: () => {
      isReleased = true;
      client.release();
      void exited.then(forgetIt);
    },
  };
}
