/**
 * JSON Schema as it is written here: a few words for the few kinds of values there are.
 *
 * @module
 */

/** A JSON Schema, plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What every value may have said about it. */
function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { ...schema, description };
}

/** Text. */
export function text(description?: string): JsonSchema {
  return described({ type: "string" }, description);
}

/** A whole number, not below zero unless said otherwise. */
export function whole(description?: string, minimum = 0): JsonSchema {
  return described({ type: "integer", minimum }, description);
}

/** True or false. */
export function flag(description?: string): JsonSchema {
  return described({ type: "boolean" }, description);
}

/** One of some words. */
export function choice(words: readonly string[], description?: string): JsonSchema {
  return described({ type: "string", enum: words }, description);
}

/** A list. */
export function list(items: JsonSchema, description?: string): JsonSchema {
  return described({ type: "array", items }, description);
}

/** A schema of `components`. */
export function named(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The same or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/**
 * An object that has all these keys, and may have more.
 *
 * @param optional some of those that it may have
 */
export function having(
  properties: Readonly<Record<string, JsonSchema>>,
  description?: string,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const required = Object.keys(properties);
  return described({ type: "object", properties: { ...properties, ...optional }, required }, description);
}

/** An object with these keys that it may lack. */
export function perhaps(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties };
}
