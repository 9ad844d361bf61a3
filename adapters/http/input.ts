/**
 * What a request brings: its JSON and its query, checked.
 *
 * @module
 */
import * as v from "valibot";
import type { AppContext } from "./caller.ts";
import { clientGone, HttpError, invalid } from "./errors.ts";

/** An object of parameters, not yet checked further. */
export type Given = Readonly<Record<string, unknown>>;

/** A body can only be read in part if its sender has gone away. */
async function textOf(c: AppContext): Promise<string> {
  return await c.req.text().catch(() => {
    throw clientGone();
  });
}

/**
 * The JSON of a request's body.
 *
 * @throws {HttpError} 400 if it is none
 */
export async function jsonOf(c: AppContext): Promise<unknown> {
  const text = await textOf(c);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "bad-json", "The body is not JSON", "Send one JSON object");
  }
}

/**
 * The JSON object of a request's body; an empty body is an empty object.
 *
 * @throws {HttpError} 400 if it is no JSON, 422 if it is no object
 */
export async function objectOf(c: AppContext): Promise<Given> {
  if (await textOf(c) === "") return {};
  const value = await jsonOf(c);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Given;
  throw invalid([{ key: "", message: "expected an object" }]);
}

/**
 * The query of a request as parameters: `true` and `false` of the keys named are booleans.
 *
 * @throws {HttpError} 422 if a key comes twice, or such a value is neither
 */
export function queryOf(c: AppContext, booleans: readonly string[] = []): Given {
  const problems: { readonly key: string; readonly message: string }[] = [];
  const entries = Object.entries(c.req.queries()).map(([key, values]) => {
    const [value = ""] = values;
    if (values.length > 1) problems.push({ key, message: "given more than once" });
    if (!booleans.includes(key)) return [key, value] as const;
    if (value !== "true" && value !== "false") problems.push({ key, message: "expected true or false" });
    return [key, value === "true"] as const;
  });
  if (problems.length > 0) throw invalid(problems);
  return Object.fromEntries(entries);
}

/**
 * Parameters as a schema wants them.
 *
 * @throws {HttpError} 422 with everything that is wrong, keys that are not known too
 */
export function checked<T>(schema: v.GenericSchema<unknown, T>, given: unknown): T {
  const result = v.safeParse(schema, given);
  if (result.success) return result.output;
  throw invalid(result.issues.map((issue) => ({
    key: v.getDotPath(issue) ?? "",
    message: issue.type === "strict_object" ? keyMessage(issue.expected) : issue.message,
  })));
}

/** What is wrong with a key itself: it is one too many, or it is not there. */
function keyMessage(expected: string | null): string {
  return expected === "never" ? "unknown" : "required";
}
