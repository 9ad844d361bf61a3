/**
 * What the routes take beside the tools' own parameters. Each value is declared once: what checks it and what
 * `/openapi.json` says of it come from the same line.
 *
 * @module
 */
import * as v from "valibot";
import * as json from "./openapi/json_schema.ts";

/** One value of a query or a body. */
interface Field<T> {
  /** Checks it; in a query it comes as text. */
  readonly check: v.GenericSchema<unknown, T>;
  /** What it is, for the document. */
  readonly schema: json.JsonSchema;
}

/** A query, or a body. */
export interface Input<T> {
  /** Checks it; unknown keys are refused. */
  readonly check: v.GenericSchema<unknown, T>;
  /** What it is, for the document. */
  readonly schema: json.JsonSchema & {
    readonly properties: Readonly<Record<string, json.JsonSchema>>;
    readonly required: readonly string[];
  };
}

/** Far more than there are events waiting. */
const MOST_IDS = 10_000;

/** `?abortOnDisconnect` of `POST /v1/exec`. */
export const EXEC_QUERY: Input<{ readonly abortOnDisconnect: boolean }> = input({
  abortOnDisconnect: flag("End the command if the client goes away. Otherwise it goes on in the background", false),
});

/** The query of `GET /v1/sessions/:id/output`. */
export const OUTPUT_QUERY: Input<{
  readonly since: number;
  readonly follow: boolean;
  readonly encoding: "text" | "base64";
}> = input({
  since: offset("Offset of the first byte; a Last-Event-ID header goes before it", 0),
  follow: flag("Go on until the session ends; false: only what there is by now", true),
  encoding: choice(["text", "base64"], "As text, or byte for byte", "text"),
});

/** The query of `GET /v1/sessions/:id/attach`. */
export const ATTACH_QUERY: Input<{ readonly readonly: boolean }> = input({
  readonly: flag("Only look: what comes from the client is refused", false),
});

/** The body of `POST /v1/events/ack`. */
export const ACK_BODY: Input<{ readonly ids: readonly string[] }> = input({
  ids: {
    check: v.pipe(
      v.array(v.string("expected a list of ids"), "expected a list of ids"),
      v.maxLength(MOST_IDS, `expected at most ${MOST_IDS} ids`),
    ),
    schema: { ...json.list(json.text(), "Ids of events; unknown ones are ignored"), maxItems: MOST_IDS },
  },
});

/** The body of `POST /v1/suspend`. */
export const SUSPEND_BODY: Input<{ readonly requestId: string }> = input({
  requestId: {
    check: v.pipe(v.string(), v.check((id) => id.trim() !== "", "is blank: give it a name")),
    schema: json.text("Name of the lease; asking again with it renews the lease"),
  },
});

/** A query or a body that has to be empty. */
export const NOTHING: Input<Readonly<Record<string, never>>> = input({});

/** Puts fields together. What has a default may be left out. */
function input<T>(fields: { readonly [K in keyof T]: Field<T[K]> }): Input<T> {
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  const properties = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]));
  const required = entries.filter(([, { schema }]) => !("default" in schema)).map(([name]) => name);
  const checks = Object.fromEntries(entries.map(([name, { check }]) => [name, check]));
  return {
    check: v.strictObject(checks) as unknown as v.GenericSchema<unknown, T>,
    schema: { type: "object", properties, required, additionalProperties: false },
  };
}

function flag(description: string, fallback: boolean): Field<boolean> {
  const check = v.pipe(
    v.picklist(["true", "false"], "expected true or false"),
    v.transform((value) => value === "true"),
  );
  return withDefault({ check, schema: json.flag(description) }, fallback);
}

function offset(description: string, fallback: number): Field<number> {
  const check = v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, "expected an offset in bytes, 0 or more"),
    v.transform(Number),
  );
  return withDefault({ check, schema: json.whole(description) }, fallback);
}

function choice<W extends string>(words: readonly W[], description: string, fallback: W): Field<W> {
  const check = v.picklist(words, `expected ${words.join(" or ")}`);
  return withDefault({ check, schema: json.choice(words, description) }, fallback);
}

/** In a query. */
function withDefault<T extends string | number | boolean>({ check, schema }: Field<T>, fallback: T): Field<T> {
  const filled = v.optional(check, String(fallback)) as v.GenericSchema<unknown, T>;
  return { check: filled, schema: { ...schema, default: fallback } };
}
