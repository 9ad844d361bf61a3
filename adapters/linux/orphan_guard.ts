/**
 * The orphan guard: ends the commands of a host that died without a chance to do so itself (spec E39).
 *
 * One small `sh` per host process reads on its stdin which process groups there are. The end of that stdin means that
 * the host is dead, by whatever cause: then it ends them. Uses only built-ins that Node, Deno and Bun share.
 *
 * @module
 */
import { spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** Begins to guard a process group and the processes that carry the session's id; returns how to end that. */
export type Guard = (pid: number, sessionId: string) => () => void;

/**
 * `+ pid id` and `- pid id` say what there is to end; the end of the input is the host's. Whoever carries a session's
 * id in its environment is found in `/proc`, also outside its group. One second lies between TERM and KILL: together
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
  marked=$(grep -lzE "^OFFSTAGE_SESSION_ID=(\${ids#|})$" /proc/[0-9]*/environ)
  for path in $marked; do path=\${path#/proc/}; kill -s "$1" -- "\${path%%/*}"; done
}
end TERM
end CONT
sleep 1
end KILL
`;

/**
 * Makes the guard of this process. The shell is started with the first command there is to guard.
 *
 * @param permitted whether `sh` may be started; if not, or if there is none, nothing is guarded
 */
export function createOrphanGuard(permitted: () => boolean = () => true): Guard {
  let input: Writable | undefined;
  let failed = false;

  function start(): Writable | undefined {
    if (failed || !permitted()) return undefined;
    const shell = spawn("sh", ["-c", SCRIPT, "offstage-guard"], {
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, // nothing of the host's, and no mark of a session it may be in
      detached: true, // what ends the host's group must not end its guard
      stdio: ["pipe", "ignore", "ignore"],
    });
    const fail = (): void => {
      failed = true;
      input = undefined;
    };
    shell.once("error", fail).once("exit", fail).unref();
    shell.stdin.on("error", fail);
    (shell.stdin as Writable & { unref?(): void }).unref?.(); // a pipe to a guard must not keep its host alive
    return shell.stdin;
  }

  return (pid, sessionId) => {
    input ??= start();
    input?.write(`+ ${pid} ${sessionId}\n`);
    return () => void input?.write(`- ${pid} ${sessionId}\n`);
  };
}
