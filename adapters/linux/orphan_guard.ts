/**
 * The orphan guard: ends the commands of a host that died without a chance to do so itself (spec E39).
 *
 * One small `sh` per host process reads on its stdin which process groups there are. The end of that stdin means that
 * the host is dead, by whatever cause: then it ends them. Uses only built-ins that Node, Deno and Bun share.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import type { Writable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";

/** Begins to guard a process group and the processes that carry the session's id; returns how to end that. */
export type Guard = (pid: number, sessionId: string) => () => void;

/** Calls `act` when the host exits in an orderly way; returns how to prevent that. */
export type AtExit = (act: () => void) => () => void;

/**
 * Age from which a command is guarded, ms. Most commands are over before, and telling the guard of them would add a
 * tenth to their time. What is younger when the host is killed, or crashes, is not ended; `process.exit()` leaves
 * time to tell.
 */
const GUARDED_FROM_MS = 20;

/** The shell is ended after that long with nothing to guard, ms, so that no process outlives the use of an instance. */
const IDLE_END_MS = 5_000;

/**
 * `+ pid id` and `- pid id` say what there is to end; the end of the input is the host's. Whoever carries a session's
 * id in its environment is found in `/proc` and, if it is outside the groups (field 5 of its stat), signalled by itself:
 * nobody gets two SIGTERM, which would hit a shell inside its trap. One second lies between TERM and KILL: together
 * with the two looks that is less than the two seconds that are promised.
 */
const SCRIPT = `
trap '' HUP INT TERM
guarded=' '
while read -r op pid id; do
  case $op in
    +) guarded="$guarded$pid:$id " ;;
    -) guarded="\${guarded%%" $pid:$id "*} \${guarded#*" $pid:$id "}" ;;
  esac
done
[ -n "\${guarded# }" ] || exit 0
ids=
groups=
for entry in $guarded; do
  groups="$groups -\${entry%%:*}"
  ids="$ids|\${entry#*:}"
done
end() {
  kill -s "$1" -- $groups
  for path in $(grep -lzE "^OFFSTAGE_SESSION_ID=(\${ids#|})$" /proc/[0-9]*/environ); do
    path=\${path%/environ}
    read -r stat < "$path/stat" || continue
    set -- "$1" \${stat##*) }
    case "$groups " in *" -$4 "*) ;; *) kill -s "$1" -- "\${path#/proc/}" ;; esac
  done
}
end TERM
end CONT
sleep 1
end KILL
`;

/**
 * Makes the guard of this process. The shell is started with the first command that has lived for
 * {@linkcode GUARDED_FROM_MS}, and ended {@linkcode IDLE_END_MS} after the last.
 *
 * @param permitted whether `sh` may be started; if not, or if there is none, nothing is guarded
 * @param atExit calls back while the host exits; default: the `exit` event of `process`
 */
export function createOrphanGuard(permitted: () => boolean = () => true, atExit: AtExit = atProcessExit): Guard {
  let input: Writable | undefined;
  let failed = false;
  let guarded = 0; // commands that the shell has been told of
  let ending: ReturnType<typeof setTimeout> | undefined;

  function start(): Writable | undefined {
    if (failed || !permitted()) return undefined;
    const shell = spawn("sh", ["-c", SCRIPT, "offstage-guard"], {
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, // nothing of the host's, and no mark of a session it may be in
      detached: true, // what ends the host's group must not end its guard
      stdio: ["pipe", "ignore", "ignore"],
    });
    const fail = (): void => {
      if (input !== shell.stdin) return; // it was ended because there was nothing to guard
      failed = true;
      input = undefined;
    };
    shell.once("error", fail).once("exit", fail).unref();
    shell.stdin.on("error", fail);
    (shell.stdin as Writable & { unref?(): void }).unref?.(); // a pipe to a guard must not keep its host alive
    return shell.stdin;
  }

  function told(count: 1 | -1, line: string): void {
    guarded += count;
    clearTimeout(ending);
    input?.write(line);
    if (guarded === 0) ending = setTimeout(endShell, IDLE_END_MS).unref();
  }

  function endShell(): void {
    input?.end();
    input = undefined;
  }

  const untold = new Set<() => void>(); // each tells the guard of one command
  let stopListening = (): void => {};
  const tellAll = (): void => untold.forEach((tell) => tell());

  /** Calls `tell` once the command is old enough, or the host exits; returns how to prevent it. */
  function tellLater(tell: () => void): () => void {
    const stopWaiting = (): void => {
      clearTimeout(timer);
      if (untold.delete(tellNow) && untold.size === 0) stopListening();
    };
    const tellNow = (): void => {
      stopWaiting();
      tell();
    };
    const timer = setTimeout(tellNow, GUARDED_FROM_MS).unref();
    if (untold.size === 0) stopListening = atExit(tellAll);
    untold.add(tellNow);
    return stopWaiting;
  }

  return (pid, sessionId) => {
    let isTold = false;
    const stopWaiting = tellLater(() => {
      isTold = true;
      input ??= start();
      told(1, `+ ${pid} ${sessionId}\n`);
    });
    return () => {
      stopWaiting();
      if (isTold) told(-1, `- ${pid} ${sessionId}\n`);
    };
  };
}

function atProcessExit(act: () => void): () => void {
  process.on("exit", act);
  return () => process.off("exit", act);
}
