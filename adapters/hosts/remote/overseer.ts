/**
 * A connection to another machine, and a shell there that looks after the commands of this process: signals them, tells
 * which of them live, and ends them if the connection does.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { clearTimeout, setTimeout } from "node:timers";
import { OffstageError, type SignalName } from "../../../mod.ts";
import { overseerScript, overseerStarter, requestLine } from "./overseer_script.ts";

/** How programs are run on another machine. */
export interface Client {
  /** The machine, for people, e.g. `build@10.0.0.7`. */
  readonly target: string;
  /** Opens a connection, or what stands for one. */
  connect(): Connection;
}

/** A connection of a {@linkcode Client}. */
export interface Connection {
  /**
   * Program and arguments that run `/bin/sh -c` with further arguments over there.
   *
   * @param shell the arguments after `-c`
   * @param use `overseer` for what makes the connection, which comes first
   */
  command(shell: readonly string[], use: "overseer" | "pipes" | "terminal"): readonly [string, ...string[]];
  /** The environment of that program. */
  readonly env: Readonly<Record<string, string>>;
  /** What an exit code of the program means when nothing was started; empty if it says nothing. */
  explain?(code: number | null): string;
  /** The connection is over. */
  close(): void;
}

/** A shell that looks after commands. */
export interface Overseer {
  /** By which it makes and finds commands, as `OFFSTAGE_INSTANCE` in their environment. */
  readonly mark: string;
  /** The connection that it holds. */
  readonly connection: Connection;
  /** The directory that a command over there begins in. */
  readonly cwd: string;
  /** The home directory. */
  readonly home: string;
  /** Whether there is a `/proc`. */
  readonly hasProc: boolean;
  /** Whether the connection is there, as far as is known. */
  isAlive(): boolean;
  /** Why it is gone, for people. */
  why(): string;
  /** Has something done; nobody learns whether it could be. */
  tell(request: string): void;
  /** The lines that something printed on descriptor 3; `undefined` if the connection is gone, or does not answer. */
  ask(request: string): Promise<readonly string[] | undefined>;
  /** Looks after a command from now on; returns how to stop that. */
  keep(group: number, sessionId: string): () => void;
  /** Calls back when the connection is gone. */
  atEnd(act: () => void): void;
  /** Keeps the connection for somebody; returns how to let it go. */
  hold(): () => void;
}

/** A connection that nobody uses is closed after that long, ms. */
const IDLE_END_MS = 60_000;

/** Time to connect and start a shell over there, ms: a distant machine may take seconds, and name servers as many. */
const CONNECT_LIMIT_MS = 60_000;

/** An answer that does not come within that time, ms, will not come: what is asked takes milliseconds. */
const ANSWER_LIMIT_MS = 20_000;

/** Age from which it is told of a command, ms: it finds those up to a second old by its mark, and most live no longer. */
const TOLD_FROM_MS = 300;

/** What a client says is kept, characters. */
const KEPT_WORDS = 2_000;

/**
 * Connects.
 *
 * @throws {OffstageError} `spawn-failed` with the client's own words if that fails
 */
export async function connect(client: Client): Promise<Overseer> {
  const mark = `o${crypto.randomUUID().replaceAll("-", "")}`;
  const connection = client.connect();
  const script = overseerScript(mark);
  const [program, ...args] = connection.command([overseerStarter(script)], "overseer");
  const child = spawn(program, args, { cwd: "/", env: connection.env, detached: true, stdio: "pipe" });
  const answers = new Map<number, (lines: readonly string[] | undefined) => void>();
  const decoder = new TextDecoder();
  const atEnd: (() => void)[] = [];
  let number = 0;
  let partial = "";
  let lines: string[] = [];
  let words = "";
  let isAlive = true;
  let ending: ReturnType<typeof setTimeout> | undefined;
  let holders = 0;

  function die(how: string): void {
    if (!isAlive) return;
    isAlive = false;
    clearTimeout(ending);
    words = [words.trim(), how].filter((part) => part !== "").join("; ");
    connection.close();
    for (const answer of answers.values()) answer(undefined);
    answers.clear();
    for (const act of atEnd) act();
  }

  function take(bytes: Uint8Array): void {
    const whole = (partial + decoder.decode(bytes, { stream: true })).split("\n");
    partial = whole.pop() ?? "";
    for (const line of whole) {
      const [first, answered] = line.split(" ");
      if (first !== mark) {
        lines.push(line);
        continue;
      }
      answers.get(Number(answered))?.(lines);
      answers.delete(Number(answered));
      lines = [];
    }
  }

  /** Waits for an answer; what waits keeps this process alive. */
  function answerTo(asked: number, limitMs: number): Promise<readonly string[] | undefined> {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        answers.delete(asked);
        resolve(undefined);
      }, limitMs);
      answers.set(asked, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
    });
  }

  child.once("error", (error) => die(error.message));
  // Not `exit`: its last words are to be read
  child.once("close", (code, signal) => die(connection.explain?.(code) || `${program} ended with ${signal ?? code}`));
  child.stdin.on("error", () => {});
  child.stdout.on("data", take);
  child.stderr.on("data", (bytes: Uint8Array) => words = (words + new TextDecoder().decode(bytes)).slice(-KEPT_WORDS));
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?(): void }).unref?.();

  child.stdin.write(script);
  const hello = await answerTo(0, CONNECT_LIMIT_MS);
  if (hello === undefined) {
    child.kill();
    die(
      `there was no answer within ${
        CONNECT_LIMIT_MS / 1000
      } s (do startup files of the login shell wait for something?)`,
    );
    throw new OffstageError("spawn-failed", `Cannot reach ${client.target}: ${words}`);
  }
  const [proc, cwd = "/", home = "/"] = hello.slice(-3); // startup files may have said something before

  const tell = (request: string): void => {
    if (isAlive) child.stdin.write(`${request}\n`);
  };

  function restLater(): void {
    clearTimeout(ending);
    ending = setTimeout(() => {
      if (holders > 0 || !isAlive) return;
      tell("echo q");
      child.stdin.end();
      die("nobody used it");
    }, IDLE_END_MS).unref();
  }

  restLater();
  return {
    mark,
    connection,
    cwd,
    home,
    hasProc: proc === "y",
    isAlive: () => isAlive,
    why: () => words,
    tell,
    ask: async (request) => {
      if (!isAlive) return undefined;
      const asked = ++number;
      const answer = answerTo(asked, ANSWER_LIMIT_MS);
      child.stdin.write(requestLine(mark, request, asked));
      return await answer;
    },
    keep: (group, sessionId) => {
      let isTold = false;
      const timer = setTimeout(() => {
        isTold = true;
        tell(`echo "+ ${group} ${sessionId}"`);
      }, TOLD_FROM_MS).unref();
      return () => {
        clearTimeout(timer);
        if (isTold) tell(`echo "- ${group} ${sessionId}"`);
        isTold = false;
      };
    },
    atEnd: (act) => void atEnd.push(act),
    hold: () => {
      holders += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (holders === 0) restLater();
      };
    },
  };
}

/** The name of a signal for kill(1). */
export function bareName(name: SignalName): string {
  return name.slice("SIG".length);
}
