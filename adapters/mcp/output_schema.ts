/**
 * What the tools' structured content has for certain, as JSON Schema.
 *
 * @module
 */

const TEXT = { type: "string" } as const;
const TEXT_OR_NULL = { type: ["string", "null"] } as const;

/** The parts of the state of a command that every answer has under the same names; `null` where it has not ended. */
const STATE = {
  status: { enum: ["running", "completed", "failed", "killed"], description: "completed: it ended by itself" },
  sessionId: TEXT,
  ok: { type: ["boolean", "null"], description: "completed with code 0" },
  exitCode: { type: ["integer", "null"] },
  signal: TEXT_OR_NULL,
  reason: { ...TEXT_OR_NULL, description: "why it ended, or why the call failed" },
  message: { ...TEXT, description: "of a call that failed: what to do next" },
  output: TEXT,
} as const;

/** Of each tool, by name. Answers have more than is told here, see the types of the package. */
export const OUTPUT_SCHEMAS: Readonly<Record<string, Record<string, unknown>>> = {
  exec: { type: "object", properties: { ...STATE, tail: TEXT, truncated: { type: "boolean" } }, required: ["status"] },
  process: processSchema(),
  process_read: processSchema(),
};

function processSchema(): Record<string, unknown> {
  const sessions = {
    type: "array",
    description: "of a list",
    items: { type: "object", properties: { ...STATE, name: TEXT, tail: TEXT }, required: ["sessionId", "status"] },
  };
  return { type: "object", properties: { ...STATE, sessions } };
}
