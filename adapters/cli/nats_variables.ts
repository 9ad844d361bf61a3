/**
 * What a program is told of NATS by its environment.
 *
 * @module
 */
import process from "node:process";

/** Where NATS is, and what does not belong on a command line, which others may see. */
const VARIABLES = {
  url: "OFFSTAGE_NATS_URL",
  user: "OFFSTAGE_NATS_USER",
  password: "OFFSTAGE_NATS_PASSWORD",
  token: "OFFSTAGE_NATS_TOKEN",
} as const;

/** Those that are set. They are taken out of this program's environment: no command is to have them. */
export function takeNatsVariables(): { readonly [Key in keyof typeof VARIABLES]?: string } {
  return Object.fromEntries(
    Object.entries(VARIABLES).flatMap(([key, name]) => {
      const value = process.env[name];
      delete process.env[name];
      return value === undefined || value === "" ? [] : [[key, value]];
    }),
  );
}
