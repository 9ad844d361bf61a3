/**
 * What runs a command on another machine: a fixed script in the arguments, which reads everything about the command from
 * its input and tells of start and end on the command's own streams. So nothing of a command is ever in the arguments of a
 * process, on this machine or that one, and how it ended is told by somebody who was there.
 *
 * The script is one line without single quotes and `!`, so that any login shell can be given it in single quotes.
 *
 * @module
 */
import { isInjectionVariable, type SpawnSpec } from "../../../mod.ts";
import { NEWLINE_VARIABLE, quote } from "./quoting.ts";

/** First and last byte of what the script tells: a record separator, which text has no use for. */
export const MARK_BYTE = 0x1e;

/** What stands before everything it tells. */
export const MARK_START = "offstage:";

/** How a command's streams are connected. */
export type Way = "pipes" | "terminal";

const MARK = "\\036"; // MARK_BYTE for printf(1)
const TRAPPED = "HUP QUIT TERM USR1 USR2 ALRM PIPE"; // with INT, what ends a shell and may be sent to a whole group

/**
 * The part that starts the command and sees it end. Its descriptors 0 to 2 are its own, those of the command are 3 to 5:
 * what is printed besides are the words of the shell when a signal has ended the command. Functions, for `launchText`:
 *
 * - `m` tells something, `f` that the start has failed
 * - `d` goes to the command's directory, `p` looks for its program
 * - `o` finds the number of the process that it runs in, which has one task
 * - `x` becomes the command. On pipes it gets a session and a group of its own by setsid(1), where there is one. In a
 *   terminal it has to stay in those of the script: who is in its group gets its signals, hence the traps.
 */
const WORKER = [
  `${NEWLINE_VARIABLE}=$(printf "\\012.")`,
  `${NEWLINE_VARIABLE}=\${${NEWLINE_VARIABLE}%.}`,
  `m() { printf "${MARK}${MARK_START}%s${MARK}" "$1"; }`,
  `f() { m "fail:$tag:$1" >&2; exit 125; }`,
  `d() { unset CDPATH; cd "$1" 2>/dev/null && return; [ -d "$1" ] && f not-permitted; [ -e "$1" ] && f not-a-directory; f missing; }`,
  `p() { case $1 in */*) [ -f "$1" ] || f no-program; [ -x "$1" ] || f not-executable ;; *) command -v "$1" >/dev/null || f no-program ;; esac; }`,
  `o() { pid=\${1##*/}; case $pid in "*") pid=$(exec sh -c "echo \\$PPID") ;; esac; }`,
  [
    "x() { way=$1; shift",
    "o /proc/self/task/*",
    `if [ "$way" = pipes ] && command -v setsid >/dev/null; then lead=$pid; set -- setsid "$@"; fi`,
    `printf "%s %s " "$tag" "$pid" >&6`,
    `m "start:$tag:$pid:$lead" >&2`,
    `[ "$way" = terminal ] || m "start:$tag"`,
    `exec "$@" 6>&-; }`,
  ].join("; "),
  `trap : ${TRAPPED}`,
  "got= lead=$2",
  `trap "got=INT" INT`,
  "read -r tag size <&3",
  `case $size in 0) IFS= read -r text <&3 ;; *) text=$(head -c "$size" <&3) ;; esac`,
  `[ "$1" = pipes ] || stty sane <&3`,
  `( eval "$text" ) 6>&1 <&3 >&4 2>&5 3<&- 4>&- 5>&-`,
  `printf " %s %s" "$got" "$?"`,
].join("; ");

/**
 * Connects {@linkcode WORKER} and tells what it has seen: the code of the command, the signal that ended it if the shell
 * has said so, and whether others of its group live on. The worker has a shell of its own where that is bash, which says
 * nothing in a subshell, nor as `sh`.
 */
const FRAME = [
  "exec 3<&0 4>&1 5>&2",
  `trap : INT ${TRAPPED}`,
  `[ "$2" = pipes ] || { stty raw -echo <&3; printf "${MARK}${MARK_START}ready${MARK}" >&5; }`,
  `seen=$(work=$1; set -- "$2" "$$"; case \${BASH_VERSION-} in "") eval "$work" ;; *) exec bash -c "$work" offstage "$@" ;; esac 2>&1)`,
  "code=${seen##* } seen=${seen% *}",
  "got=${seen##* } seen=${seen% *}",
  "tag=${seen%% *} seen=${seen#* }",
  "pid=${seen%% *} said=${seen#* }",
  "name= left=",
  `[ -z "$said" ] || name=$(kill -l "$code" 2>/dev/null)`,
  `[ "$got$code" = INT130 ] && name=INT`,
  `kill -0 "-$pid" 2>/dev/null && left=y`,
  `trap "" TTOU`,
  `printf "${MARK}${MARK_START}end:%s:%s:%s:%s${MARK}" "$tag" "$code" "$name" "$left" >&5`,
  `exit "$code"`,
].join("; ");

/** Longest text that is left to `read`, characters: shells do that a byte at a time, which beats a process of head(1). */
const READ_BY_SHELL = 4_000;

/** Variables that a shell keeps to itself, or that would not stay what they were set to, and those of the script. */
const SHELL_VARIABLES: ReadonlySet<string> = new Set([
  ...["BASHOPTS", "BASHPID", "BASH_VERSINFO", "EUID", "GROUPS", "HISTCMD", "LINENO", "OLDPWD", "OPTARG", "OPTIND"],
  ...["PIPESTATUS", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SRANDOM", "UID", "_"],
  ...["got", "lead", "pid", "size", "tag", "text", "way", NEWLINE_VARIABLE],
]);

/**
 * The script as one word of a shell and its arguments, to be run by `sh -c` there.
 *
 * @param way how the command's streams are connected
 */
export function wrapperArguments(way: Way): readonly string[] {
  return [FRAME, "offstage", WORKER, way];
}

/**
 * What the script is to be given on its input, once it has said `ready` where that is a terminal.
 *
 * @param spec what to start
 * @param tag tells what the script says from what the command prints
 * @param marks variables that win over those of the command
 */
export function launchText(spec: SpawnSpec, tag: string, marks: Readonly<Record<string, string>>): Uint8Array {
  const variables = Object.entries({ ...spec.env, ...marks });
  const exported = variables.filter(([name]) => isExportable(name)).map(([name, value]) => `${name}=${quote(value)}`);
  const others = variables.filter(([name]) => !isExportable(name)).map(([name, value]) => quote(`${name}=${value}`));
  const [program, ...args] = spec.argv.map(quote);
  const text = [
    `d ${quote(spec.cwd)}`,
    ...(exported.length === 0 ? [] : [`export ${exported.join(" ")}`]),
    `p ${program}`,
    ...(spec.terminal === undefined && spec.stdin === "closed" ? ["exec </dev/null"] : []),
    ["x", spec.terminal === undefined ? "pipes" : "terminal", ...(others.length === 0 ? [] : ["env", "--", ...others])]
      .concat(program ?? "", args).join(" "),
  ].join("; ");
  const encoder = new TextEncoder();
  const { length } = encoder.encode(text);
  return encoder.encode(length < READ_BY_SHELL ? `${tag} 0\n${text}\n` : `${tag} ${length}\n${text}`);
}

/** Whether a shell can set it as it is, without acting on it itself. */
function isExportable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !SHELL_VARIABLES.has(name) && !isInjectionVariable(name);
}
