/**
 * Inputs that have broken something once, as `npm run fuzz` prints them. They are tried in every run of the tests.
 *
 * @module
 */

/** Part, target and input. */
export type Found = readonly [part: string, target: string, input: () => unknown];

/** What was found. */
export const FOUND: readonly Found[] = [
  // a valid variable named as what every object has was left out of a command's environment
  ["parameters", "exec", () => ({
    call: { command: "make" },
    changes: [{ set: "env", value: { ["__proto__"]: { command: "true" } } }],
  })],
  // rejected instead of being answered
  [
    "parameters",
    "exec",
    () => ({ call: { command: "make" }, changes: [{ set: "env", value: { hostile: "a hole" } }] }),
  ],
  ["parameters", "process", () => ({
    call: { action: "list" },
    changes: [{ set: "action", value: { hostile: "a revoked proxy" } }],
  })],
  ["parameters", "process", () => ({
    call: { action: "list" },
    changes: [{ set: "hex", value: { hostile: "a revoked proxy" } }],
  })],
  // answers as long as what they refused
  ["parameters", "exec", () => ({ call: { command: "make" }, changes: [{ whole: { hostile: "many keys" } }] })],
  [
    "parameters",
    "exec",
    () => ({ call: { command: "make" }, changes: [{ set: "env", value: { hostile: "many pairs" } }] }),
  ],
  ["parameters", "process", () => ({
    call: { action: "poll", sessionId: "<pipe>" },
    changes: [{ set: "sessionId", value: { hostile: "long" } }],
  })],
  ["parameters", "process", () => ({
    call: { action: "send-keys", sessionId: "<terminal>" },
    changes: [{ set: "keys", value: { hostile: "many" } }],
  })],
  [
    "parameters",
    "exec",
    () => ({ call: { command: "make" }, changes: [{ set: "workdir", value: { hostile: "long base64" } }] }),
  ],
  // taken, and thrown when it was to match something
  ["parameters", "process", () => ({
    call: { action: "screen", sessionId: "<terminal>" },
    changes: [{ set: "until", value: { hostile: "long" } }],
  })],
  // taken, and failed when the first event was to be told, or the first command to run there
  ["settings", "config", () => [{ set: "onEvent", value: "" }]],
  ["settings", "config", () => [{ set: "nodes", value: { builder: 5 } }]],
  ["settings", "config", () => [{ set: "nodes", value: { hostile: "a throwing getter" } }]],
  // a message that told a token, where the line end between two was missing
  ["settings", "tokens", () => ["one:a-secret-of-somebodyone:a-secret-of-somebody{", ""]],
];
