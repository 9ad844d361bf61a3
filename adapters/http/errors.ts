/**
 * The one shape of every refusal: `{ error: { code, message, hint } }`.
 *
 * @module
 */
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** A refusal of the HTTP layer itself; what the tools refuse is their answer, with status 200. */
export class HttpError extends Error {
  /** The HTTP status. */
  readonly status: ContentfulStatusCode;
  /** A stable word for programs. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string;

  /**
   * @param status the HTTP status
   * @param code a stable word for programs
   * @param message what is wrong
   * @param hint what to do next
   */
  constructor(status: ContentfulStatusCode, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** The body of a refusal. */
export interface ErrorBody {
  /** What was refused and what to do next. */
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

/** The body that tells of an error. */
export function errorBody({ code, message, hint }: HttpError): ErrorBody {
  return { error: { code, message, hint } };
}
