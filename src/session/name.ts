/**
 * A short name for a session, made from its command: what runs, and on what.
 *
 * @module
 */

/** Names are for lists and notices: this many characters still fit a line. */
const LONGEST_NAME = 48;

/** The name of a command no plain word can be taken from. */
const FALLBACK = "shell";

/** A word of a command. */
interface Word {
  /** What stands outside of quotations and expansions. */
  readonly text: string;
  /** Nothing in it is quoted, escaped or expanded. */
  readonly plain: boolean;
  /** The word before says that this one is a credential. */
  readonly secret: boolean;
}

/** How the words of a launcher (`sudo -u bob npm test`) are told from those of the command it launches. */
interface Launcher {
  /** Letters of its short options that take the next word as their value. */
  readonly valued: string;
  /** Words of its own that are not options, e.g. the duration of `timeout`. */
  readonly operands: number;
}

const LAUNCHERS: ReadonlyMap<string, Launcher> = new Map<string, Launcher>([
  ["sudo", { valued: "CDghpRrTtUu", operands: 0 }],
  ["doas", { valued: "Cu", operands: 0 }],
  ["env", { valued: "CSu", operands: 0 }],
  ["nohup", { valued: "", operands: 0 }],
  ["setsid", { valued: "", operands: 0 }],
  ["exec", { valued: "a", operands: 0 }],
  ["command", { valued: "", operands: 0 }],
  ["time", { valued: "fo", operands: 0 }],
  ["nice", { valued: "n", operands: 0 }],
  ["ionice", { valued: "cn", operands: 0 }],
  ["stdbuf", { valued: "eio", operands: 0 }],
  ["timeout", { valued: "ks", operands: 1 }],
  ["!", { valued: "", operands: 0 }],
  ["{", { valued: "", operands: 0 }],
]);

/** Commands that only prepare the ground: `cd app || exit 1; npm test` is about `npm test`. */
const PRELUDES: ReadonlySet<string> = new Set([
  "cd",
  "pushd",
  "export",
  "set",
  "source",
  ".",
  "umask",
  "ulimit",
  "exit",
]);

/** Commands that are often given a password as a plain word. */
// deno-fmt-ignore
const SECRETIVE: ReadonlySet<string> = new Set([
  "sshpass", "export", "htpasswd", "chpasswd", "passwd",
  "redis-cli", "mongo", "mongosh", "sqlcmd", "ldapsearch", "kinit", "smbclient",
]);

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const PLAIN_WORD = /^[\p{L}\p{N}_.,/@%+~^*-]+$/u;
/** The word after such an option or word is a credential. */
const ANNOUNCES_SECRET = /^-[^=]*(?:pass|token|secret|key|auth|cred|header)[^=]*$|^(?:bearer|basic|digest|token)$|:$/i;
/** Beginnings of the tokens that well-known services give out. */
const TOKEN_PREFIX =
  /^(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|xox[a-z]|hf|npm|pypi|dop_v1|shpat|ya29|AKIA|ASIA|AIza|eyJ)(?:[-_.]|(?<=AKIA|ASIA|AIza|eyJ))[\w.-]{8,}/;

/**
 * Names a command for people: its first word and its first later word that is not an option, such as `npm test`. Longer
 * names are cut in the middle at 48 characters.
 *
 * It is shown in lists and events, so it is made of plain words alone: nothing quoted or expanded, no `key=value` or
 * `key:value`, nothing that looks like a credential or follows an option that takes one. Assignments in front, launchers
 * (`sudo`, `env`, `timeout 30` …) and a leading `cd dir &&` are passed over.
 *
 * @param command any text
 * @returns never empty; `shell` when there is no plain word
 *
 * @example What runs, and on what
 * ```ts
 * sessionName("NODE_ENV=test sudo -u bob npm --silent run 'my task'"); // "npm run"
 * ```
 */
export function sessionName(command: string): string {
  let prelude: string | undefined;
  for (const words of simpleCommands(command)) {
    const [verb, ...operands] = launched(words);
    if (verb === undefined) continue;
    if (!isPublic(verb)) return prelude ?? FALLBACK;
    const target = SECRETIVE.has(verb.text) ? undefined : operands.find(isTarget)?.text;
    const name = cutMiddle(target === undefined ? verb.text : `${verb.text} ${target}`);
    if (!PRELUDES.has(verb.text)) return name;
    prelude ??= name;
  }
  return prelude ?? FALLBACK;
}

/** The words of a command less assignments in front and launchers. */
function launched(words: readonly Word[]): readonly Word[] {
  let at = 0;
  for (;;) {
    while (ASSIGNMENT.test(words[at]?.text ?? "")) at++;
    const word = words[at];
    const launcher = word?.plain ? LAUNCHERS.get(word.text) : undefined;
    if (launcher === undefined) return words.slice(at);
    const next = skipOwnWords(words, at + 1, launcher);
    // `sudo -i`, a bare `env`: the launcher is all there is.
    if (next >= words.length) return words.slice(at);
    at = next;
  }
}

function skipOwnWords(words: readonly Word[], from: number, { valued, operands }: Launcher): number {
  let at = from;
  for (let text = words[at]?.text; text?.startsWith("-"); text = words[at]?.text) {
    at += text.length === 2 && valued.includes(text.slice(1)) ? 2 : 1;
  }
  return at + operands;
}

function isTarget(word: Word): boolean {
  return isPublic(word) && !ANNOUNCES_SECRET.test(word.text);
}

function isPublic({ text, plain, secret }: Word): boolean {
  return plain && !secret && !text.startsWith("-") && PLAIN_WORD.test(text) && !looksRandom(text);
}

/** A known token, or a long run without separators that mixes letters and digits: a key, a hash, an id. */
function looksRandom(text: string): boolean {
  const runs = text.match(/[A-Za-z0-9_+]{20,}/g) ?? [];
  return TOKEN_PREFIX.test(text) || runs.some((run) => /[A-Za-z]/.test(run) && /\d/.test(run));
}

function cutMiddle(name: string): string {
  const characters = [...name];
  if (characters.length <= LONGEST_NAME) return name;
  const head = characters.slice(0, Math.floor((LONGEST_NAME - 1) / 2));
  const tail = characters.slice(head.length + 1 - LONGEST_NAME);
  return `${head.join("")}…${tail.join("")}`;
}

const BLANK = /[ \t\r]/;
const OPERATOR = /[;&|()<>\n]/;

/** The simple commands of a shell text, each as its words; what is redirected to or from is not among them. */
function* simpleCommands(command: string): Iterable<readonly Word[]> {
  let words: Word[] = [];
  let redirected = false;
  for (let at = 0; at < command.length;) {
    const character = command.charAt(at);
    if (BLANK.test(character)) at++;
    else if (command.startsWith("\\\n", at)) at += 2;
    else if (character === "#") at = endOf(command, "\n", at);
    else if (character === "<" || character === ">") {
      redirected = true;
      at += /^[<>]{1,3}[&|-]?/.exec(command.slice(at, at + 4))?.[0].length ?? 1;
    } else if (OPERATOR.test(character)) {
      if (words.length > 0) yield words;
      words = [];
      redirected = false;
      at++;
    } else {
      const { text, plain, end } = readWord(command, at);
      const descriptor = /^\d+$/.test(text) && /[<>]/.test(command.charAt(end));
      if (!redirected && !descriptor) {
        words.push({ text, plain, secret: ANNOUNCES_SECRET.test(words.at(-1)?.text ?? "") });
      }
      redirected = false;
      at = end;
    }
  }
  if (words.length > 0) yield words;
}

/** Reads one word; whatever is quoted, escaped or expanded makes it not plain and is left out of its text. */
function readWord(
  command: string,
  from: number,
): { readonly text: string; readonly plain: boolean; readonly end: number } {
  let text = "";
  let plain = true;
  let at = from;
  while (at < command.length) {
    const character = command.charAt(at);
    if (BLANK.test(character) || OPERATOR.test(character)) break;
    const end = endOfSpecial(command, at);
    if (end > at) {
      plain = false;
      at = end;
    } else {
      text += character;
      at++;
    }
  }
  return { text, plain, end: at };
}

/** The end of the quotation, escape or expansion that begins at `at`; `at` itself when none does. */
function endOfSpecial(command: string, at: number): number {
  switch (command.charAt(at)) {
    case "\\":
      return Math.min(at + 2, command.length);
    case "'":
    case "`":
      return endOf(command, command.charAt(at), at + 1) + 1;
    case '"':
      return endOfNest(command, at + 1, '"');
    case "$": {
      const opened = command.charAt(at + 1);
      if (opened === "(") return endOfNest(command, at + 2, ")");
      if (opened === "{") return endOfNest(command, at + 2, "}");
      return at + 1;
    }
    default:
      return at;
  }
}

/** The end of a part that closes with `close` and may hold quotations and expansions itself. */
function endOfNest(command: string, from: number, close: string): number {
  const closers = [close];
  let at = from;
  while (at < command.length && closers.length > 0) {
    const character = command.charAt(at);
    const closer = closers.at(-1);
    if (character === "\\") at++;
    else if (character === closer) closers.pop();
    else if (character === "$" && /[({]/.test(command.charAt(at + 1))) {
      closers.push(command.charAt(at + 1) === "(" ? ")" : "}");
      at++;
    } else if (character === '"') closers.push('"');
    else if (closer === ")" && character === "(") closers.push(")");
    else if (closer !== '"' && character === "'") at = endOf(command, "'", at + 1);
    at++;
  }
  return Math.min(at, command.length);
}

function endOf(command: string, character: string, from: number): number {
  const at = command.indexOf(character, from);
  return at < 0 ? command.length : at;
}
