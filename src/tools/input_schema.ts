/**
 * A tool's parameters as a schema that frameworks take as it is.
 *
 * @module
 */
import { OffstageError, type Problem } from "../errors.ts";
import type { Checked } from "../validate.ts";
import type { ParametersSchema } from "./definition.ts";

/** Parameters that have been checked; numbers that came as strings are numbers, nulls are gone. */
export type CheckedInput = Readonly<Record<string, unknown>>;

/** What checking has found: a value or issues, never both (AI SDK takes a result with a value for a good one). */
export type InputResult =
  | { readonly value: CheckedInput; readonly issues?: undefined }
  | { readonly issues: readonly InputIssue[] };

/** One thing that is wrong, and what to do about it. */
export interface InputIssue {
  /** The same words as in the tool's answer. */
  readonly message: string;
  /** Where. */
  readonly path: readonly string[];
}

/** Says which JSON Schema is wanted: `draft-2020-12`, `draft-07` or `openapi-3.0`. */
export interface JsonSchemaOptions {
  /** The edition. */
  readonly target: string;
}

/**
 * A tool's parameters, at once a Standard Schema and a Standard JSON Schema (https://standardschema.dev): `registerTool`
 * of the MCP SDK and `tool()` of the AI SDK take it as it is.
 */
export interface InputSchema {
  /** What the two standards ask for. */
  readonly "~standard": {
    /** Of the standards. */
    readonly version: 1;
    /** Whose schema it is. */
    readonly vendor: "offstage";
    /** Only for the type checker. */
    readonly types?: { readonly input: unknown; readonly output: CheckedInput } | undefined;
    /** Checks parameters as the tool itself does. */
    readonly validate: (value: unknown) => Promise<InputResult>;
    /** Tells the JSON Schema: a copy of the caller's own. */
    readonly jsonSchema: {
      /** Of what the tool takes. */
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      /** Of what `validate` returns: the same. */
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
  };
}

/** The editions in which {@linkcode JsonSchema} means the same. */
const TARGETS = ["draft-2020-12", "draft-07", "openapi-3.0"];

/**
 * Makes a schema of what a model is told and of the check that the tool itself does.
 *
 * @param check the check; its object is `object` for interfaces, which have no index signature
 */
export function inputSchema(
  parameters: ParametersSchema,
  check: (input: unknown) => Promise<Checked<object>>,
): InputSchema {
  const jsonSchema = ({ target }: JsonSchemaOptions): Record<string, unknown> => {
    if (TARGETS.includes(target)) return structuredClone<Record<string, unknown>>({ ...parameters });
    throw new OffstageError("unsupported", `No JSON Schema for "${target}": there is one for ${TARGETS.join(", ")}`);
  };
  return {
    "~standard": {
      version: 1,
      vendor: "offstage",
      validate: async (value) => resultOf(await check(value)),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

function resultOf(checked: Checked<object>): InputResult {
  return checked.ok ? { value: { ...checked.value } } : { issues: checked.problems.map(issueOf) };
}

function issueOf({ key, message }: Problem): InputIssue {
  return { message, path: key === "" ? [] : key.split(".") };
}
