/**
 * What `exec` takes.
 *
 * @module
 */
import * as v from "valibot";
import type { Problem } from "../errors.ts";
import { LIMIT_NAMES, type Limits, limitsSchema } from "../limits.ts";
import { isPattern, patternTrouble } from "../pattern.ts";
import type { NotifyOn } from "../session/line_watch.ts";
import { check, type Checked, describe, numberLike } from "../validate.ts";

/** Parameters of `exec`. Only `command` is required; an unknown key is an error that names the nearest known one. */
export interface ExecParams {
  /** The command, given to the shell byte for byte; at most 1 MiB. */
  readonly command: string;
  /** Directory to run in; must exist. `~` and `~/x` are expanded. Default: the host's own. */
  readonly workdir?: string;
  /**
   * Variables to set, literally. Outside a sandbox `PATH` and `INJECTION_VARIABLES` are refused. A list of
   * `{ name, value }`, which strict tool callers send, is taken as well.
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Time to wait before answering `running`, ms, clamped to 10…120000. 0 is the same as `background: true`. Default: the
   * setting `backgroundMs`.
   */
  readonly yieldMs?: number;
  /** Answer `running` at once. */
  readonly background?: boolean;
  /** Life span in seconds, background included; 0, negative or Infinity is none. Default: the setting `timeoutSeconds`. */
  readonly timeout?: number;
  /** The same as `timeout`. */
  readonly timeoutSeconds?: number;
  /** Run in a pseudo-terminal; where there is none, on pipes, with a warning that says why. @default {false} */
  readonly pty?: boolean;
  /** Columns of the terminal, 1…1000. @default {120} */
  readonly cols?: number;
  /** Rows of the terminal, 1…1000. @default {30} */
  readonly rows?: number;
  /** Whether stdin can be written to. Default: open with `pty`, `background` or `yieldMs`, else closed. */
  readonly stdin?: "open" | "closed";
  /** Give stderr the same descriptor as stdout: true order, one stream. @default {false} */
  readonly mergeStreams?: boolean;
  /** Resource limits of this command. Where the settings have one too, the lower of the two. */
  readonly limits?: Limits;
  /** Whether its end in the background makes an event. Default: the setting `notifyOnExit`. */
  readonly notifyOnExit?: boolean;
  /** Make an event when a line of its output, once it runs in the background, matches; see {@linkcode NotifyOn}. */
  readonly notifyOn?: NotifyOn;
  /** Run outside the sandbox, where that is enabled and allowed. Default: `elevated.default`. */
  readonly elevated?: boolean;
  /** Where to run. Default: the setting `host`. */
  readonly host?: "auto" | "sandbox" | "gateway" | "node";
  /**
   * Which node, with `host: "node"`: its name, or `any`, `any:<label>` or `any:<label>=<value>` for the one of these where
   * least runs. May be left out if there is only one.
   */
  readonly node?: string;
}

/** Characters; of all systems Windows has the longest. */
const LONGEST_PATH = 32_767;

const cells = v.optional(
  v.pipe(
    numberLike(),
    v.integer("expected a whole number"),
    v.minValue(1, "expected 1 to 1000"),
    v.maxValue(1000, "expected 1 to 1000"),
  ),
);

/** A list is a record of its indexes to valibot; whoever wrote `["A=1"]` did not mean a variable named 0. */
const NO_MAP = "expected an object of names and values, or a list of { name, value } that has each name once";

const entries = {
  command: v.pipe(v.string(), v.check((text) => text.trim() !== "", "is blank: give a command to run")),
  workdir: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(LONGEST_PATH, `is longer than ${LONGEST_PATH} characters: no system has such a path`),
      v.check((path) => !path.includes("\0"), "must not contain NUL"),
    ),
  ),
  env: v.optional(v.pipe(v.unknown(), v.transform(withoutPairs), v.rawTransform(variables))),
  yieldMs: v.optional(numberLike()),
  background: v.optional(v.boolean()),
  timeout: v.optional(numberLike()),
  timeoutSeconds: v.optional(numberLike()),
  pty: v.optional(v.boolean()),
  cols: cells,
  rows: cells,
  stdin: v.optional(v.picklist(["open", "closed"])),
  mergeStreams: v.optional(v.boolean()),
  limits: v.optional(limitsSchema(numberLike())),
  notifyOnExit: v.optional(v.boolean()),
  notifyOn: v.optional(
    v.pipe(
      v.unknown(),
      v.transform(withoutNulls),
      v.strictObject({
        pattern: v.pipe(
          v.string(),
          v.nonEmpty("is empty"),
          v.check(isPattern, (issue) => patternTrouble(issue.input) ?? ""),
        ),
        once: v.optional(v.boolean()),
        cooldownMs: v.optional(v.pipe(numberLike(), v.minValue(0, "expected 0 or more"))),
        max: v.optional(
          v.pipe(numberLike(), v.integer("expected a whole number"), v.minValue(1, "expected 1 or more")),
        ),
      }, "expected { pattern, once?, cooldownMs?, max? }"),
    ),
  ),
  elevated: v.optional(v.boolean()),
  host: v.optional(v.picklist(["auto", "sandbox", "gateway", "node"])),
  node: v.optional(v.pipe(v.string(), v.nonEmpty("is empty: name a node"))),
};

/** The schema of {@linkcode ExecParams}; unknown keys are looked for beside it, to name the nearest. */
export const execSchema: v.GenericSchema<unknown, ExecParams> = v.object(entries) as v.GenericSchema<
  unknown,
  ExecParams
>;

const KNOWN = {
  keys: Object.keys(entries),
  required: ["command"],
  aliases: {
    cmd: "command",
    script: "command",
    cwd: "workdir",
    dir: "workdir",
    directory: "workdir",
    workingdirectory: "workdir",
    environment: "env",
    yield: "yieldMs",
    yieldms: "yieldMs",
    waitms: "yieldMs",
    timeoutms: "timeoutSeconds",
    timeoutsec: "timeoutSeconds",
    bg: "background",
    runinbackground: "background",
    tty: "pty",
    columns: "cols",
    width: "cols",
    height: "rows",
    lines: "rows",
    merge: "mergeStreams",
    ulimit: "limits",
    rlimits: "limits",
    ...Object.fromEntries(LIMIT_NAMES.map((name) => [name.toLowerCase(), `limits.${name}`])),
    notify: "notifyOnExit",
    notifyonmatch: "notifyOn",
    watch: "notifyOn",
    sudo: "elevated",
    target: "host",
  },
};

/** A list of `{ name, value }` is what strict tool callers send for a map: theirs have no free keys. */
function withoutPairs(input: unknown): unknown {
  if (!Array.isArray(input) || ![...input].every(isPair)) return input; // spread: `every` passes over holes
  const map = Object.fromEntries(input.map(({ name, value }) => [name, value]));
  return Object.keys(map).length === input.length ? map : input;
}

/** Not a record of valibot's: that leaves out `constructor` and `__proto__`, which are names of variables like others. */
function variables(
  { dataset: { value: input }, addIssue, NEVER }: v.RawTransformContext<unknown>,
): Readonly<Record<string, string>> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    addIssue({ message: NO_MAP });
    return NEVER;
  }
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (typeof value === "string") pairs.push([name, value]);
    else {
      const message = `expected string but received ${describe(value)}`;
      addIssue({ message, path: [{ type: "unknown", origin: "value", input, key: name, value }] });
    }
  }
  return Object.fromEntries(pairs);
}

function isPair(entry: unknown): entry is { readonly name: string; readonly value: unknown } {
  if (typeof entry !== "object" || entry === null || !("name" in entry) || !("value" in entry)) return false;
  return typeof entry.name === "string" && Object.keys(entry).length === 2;
}

/** `null` counts as absent inside of an object too. */
function withoutNulls(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

/** Checks the parameters of a call; every problem is in the answer, and none was acted upon. */
export function checkExec(input: unknown): Checked<ExecParams> {
  const checked = check<ExecParams>(entries, input, KNOWN);
  if (!checked.ok) return checked;
  const problems: Problem[] = [];
  const { timeout, timeoutSeconds } = checked.value;
  if (timeout !== undefined && timeoutSeconds !== undefined && timeout !== timeoutSeconds) {
    problems.push({ key: "timeoutSeconds", message: "differs from timeout, which means the same; give one of them" });
  }
  const { once, cooldownMs, max } = checked.value.notifyOn ?? {};
  if (once === true && (cooldownMs !== undefined || max !== undefined)) {
    problems.push({ key: "notifyOn.once", message: "leaves nothing for cooldownMs or max; give one or the other" });
  }
  return problems.length === 0 ? checked : { ok: false, problems };
}
