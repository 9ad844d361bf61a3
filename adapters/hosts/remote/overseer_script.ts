/**
 * The script that looks after the commands of one connection, on the machine where they run.
 *
 * @module
 */
import { GUARD_SCRIPT } from "../../linux/guard_script.ts";
import { NEWLINE_VARIABLE } from "./quoting.ts";

/**
 * Does what it is told, a line of shell at a time, and passes to the guard what lines print: `+ <group> <session>` and
 * the like. It answers on descriptor 3. The end of its input is the death of the connection, which it answers by the
 * guard's: nothing that was told of is left running.
 *
 * Functions:
 *
 * - `s signal pid start` signals a process that was started then, or whoever has the number if that is `any`
 * - `g signal group leader` signals a group whose leader was started then, if there still is one: with another it is
 *   another group. With `any` as its leader, one that is not there yet will be that process in a moment
 * - `a group waiter` when the leader of a group was started, or `none`, if there still is that group once the script that
 *   waited for its command is out of the way
 * - `t session` the table of processes, then those that carry a session's id
 * - `h program` whether it can be run
 */
const SCRIPT = `
exec 3>&1
trap '' HUP INT TERM PIPE
${NEWLINE_VARIABLE}='
'
start_of() {
  start=
  { while read -r line || [ -n "$line" ]; do start="$start $line"; done <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- \${start##*') '}
  start=\${20}
}
s() {
  case $3 in any) ;; *) start_of "$2" && [ "$start" = "$3" ] || return ;; esac
  kill -s "$1" "$2"
}
g() {
  case $3 in
    any) kill -s "$1" -- "-$2" || kill -s "$1" "$2" ;;
    *)
      kill -0 "$2" && { start_of "$2" && [ "$start" = "$3" ] || return; }
      kill -s "$1" -- "-$2"
      ;;
  esac
}
a() {
  round=0
  while kill -0 "-$1" && kill -0 "$2" && [ "$round" -lt 200 ]; do round=$((round + 1)); done
  kill -0 "-$1" || return
  start_of "$1" || start=none
  echo "$start" >&3
}
t() {
  cat /proc/[0-9]*/stat >&3
  echo >&3
  grep -lzxF "OFFSTAGE_SESSION_ID=$1" /proc/[0-9]*/environ >&3
}
h() { case $1 in */*) [ -f "$1" ] && [ -x "$1" ] ;; *) command -v "$1" >/dev/null ;; esac && echo y >&3; }
{ [ -r /proc/self/stat ] && echo y || echo n; printf '%s\\n' "$PWD" "\${HOME:-/}"; echo "$mark 0"; } >&3
while IFS= read -r line; do eval "$line"; done 2>/dev/null | {
  set -- "$mark" /proc
  eval "$guard"
} >/dev/null 2>&1
`;

/**
 * The whole script.
 *
 * @param mark stands before the end of each answer, and marks the commands in their environment as `OFFSTAGE_INSTANCE`
 */
export function overseerScript(mark: string): string {
  return `mark=${mark}\nguard=${quoteLines(GUARD_SCRIPT)}\n${SCRIPT}exit 0\n`;
}

/** What `sh -c` is to be given: it reads the script from its input, so that nothing of it is in its arguments. */
export function overseerStarter(script: string): string {
  return `eval "$(head -c ${new TextEncoder().encode(script).length})"`;
}

/** A line for it: `request`, and the end of the answer. */
export function requestLine(mark: string, request: string, number: number): string {
  return `${request}; echo "${mark} ${number}" >&3\n`;
}

function quoteLines(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
