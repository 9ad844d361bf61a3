/**
 * What the client throws.
 *
 * @module
 */
import type { Problem } from "../../../mod.ts";

/** What a {@linkcode ClientError} is made of. */
export interface ClientErrorInit {
  /** A stable word for programs. */
  readonly code: string;
  /** What is wrong. */
  readonly message: string;
  /** What to do next; may be empty. */
  readonly hint?: string;
  /** The HTTP status; 0 if there was no answer. */
  readonly status?: number;
  /** Every problem of the parameters. */
  readonly problems?: readonly Problem[];
  /** What is behind it. */
  readonly cause?: unknown;
}

/**
 * The one error of the client. What the two tools refuse is no error but their answer (`isError`), as in the library.
 *
 * `code` is the server's, such as `unauthorized`, `unknown-session`, `invalid` or `throttled`, or one of the client's own:
 *
 * - `aborted` – your `signal` has fired; `name` is `AbortError` then, and `cause` the signal's reason
 * - `unreachable` – nobody answers there, or the connection broke before the answer was whole
 * - `bad-answer` – what answers there is not Offstage
 *
 * @example Tell a wrong token from a server that is not there
 * ```ts
 * import { ClientError, createClient } from "offstage/client";
 *
 * try {
 *   await createClient({ url: "http://127.0.0.1:9", token: "not mine" }).sessions();
 * } catch (error) {
 *   if (error instanceof ClientError) console.log(error.code, error.status); // unreachable 0
 * }
 * ```
 */
export class ClientError extends Error {
  /** `ClientError`, or `AbortError` if `code` is `aborted`. */
  override readonly name: string;
  /** A stable word for programs. */
  readonly code: string;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** What to do next; may be empty. */
  readonly hint: string;
  /** Every problem of the parameters, when `code` is `invalid`; otherwise empty. */
  readonly problems: readonly Problem[];

  /**
   * Makes an error; users only catch them.
   *
   * @param init what it is made of
   */
  constructor({ code, message, hint = "", status = 0, problems = [], cause }: ClientErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = code === "aborted" ? "AbortError" : "ClientError";
    this.code = code;
    this.status = status;
    this.hint = hint;
    this.problems = problems;
  }
}

/** The rejection of a call whose signal has fired. */
export function aborted(signal: AbortSignal): ClientError {
  return new ClientError({ code: "aborted", message: "The call was aborted", cause: signal.reason });
}
