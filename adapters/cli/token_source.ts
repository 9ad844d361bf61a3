/**
 * Where a server's tokens come from: a file, a variable, or nowhere.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { OffstageError } from "../../mod.ts";

/** The variable that has tokens: `scope:token,scope:token`. */
const VARIABLE = "OFFSTAGE_TOKENS";

/** Shortest token that is taken, characters: a random one of that length cannot be guessed. */
const SHORTEST = 16;

/** What a token may be made of (RFC 6750, `b64token`); so it has no colon, while a scope may. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** Bits of permission of those who are neither the owner nor in the group of a file. */
const OTHERS = 0o007;

/**
 * The tokens of a file and of `OFFSTAGE_TOKENS`, each with its scope. The variable is taken out of this program's
 * environment: no command is to have it.
 *
 * @throws {OffstageError} `invalid` without saying any token
 */
export function givenTokens(file: string | undefined): ReadonlyMap<string, string> {
  const variable = process.env[VARIABLE];
  delete process.env[VARIABLE];
  return tokensOf([
    ...(file === undefined ? [] : linesOf(file)),
    ...(variable ?? "").split(",").map((text, index) => ({ text, place: `${VARIABLE}, entry ${index + 1}` })),
  ]);
}

/** A token that nobody can guess. */
export function newToken(): string {
  return randomBytes(24).toString("base64url");
}

/** One `scope:token`, and where it stands. */
interface Entry {
  readonly text: string;
  readonly place: string;
}

function linesOf(file: string): readonly Entry[] {
  let text: string;
  try {
    if (process.platform !== "win32" && (statSync(file).mode & OTHERS) !== 0) {
      throw new OffstageError("invalid", `Everybody may read ${file}, so its tokens are no secret: chmod 600 ${file}`);
    }
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof OffstageError) throw error;
    throw new OffstageError("invalid", `Cannot read ${file}: ${(error as Error).message}`);
  }
  return text.split("\n").map((line, index) => ({
    text: line.trimStart().startsWith("#") ? "" : line,
    place: `${file}, line ${index + 1}`,
  }));
}

function tokensOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  for (const { text, place } of entries) {
    if (text.trim() === "") continue;
    const colon = text.lastIndexOf(":");
    const scope = text.slice(0, Math.max(colon, 0)).trim();
    const token = text.slice(colon + 1).trim();
    const trouble = colon < 0 || scope === ""
      ? "expected scope:token"
      : token.length < SHORTEST
      ? `the token is shorter than ${SHORTEST} characters`
      : !TOKEN.test(token)
      ? "the token has other characters than letters, digits and ._~+/-="
      : tokens.has(token) && tokens.get(token) !== scope
      ? "the token is that of another scope too"
      : undefined;
    // By its place alone: where a line end is missing, what stands before the last colon has a token in it
    if (trouble !== undefined) throw new OffstageError("invalid", `${place}: ${trouble}`);
    tokens.set(token, scope);
  }
  return tokens;
}
