/**
 * The one shape of every refusal: `{ error: { code, message, hint, problems? } }`.
 *
 * @module
 */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AbortError, OffstageError, type Problem } from "../../mod.ts";

/** A refusal of the HTTP layer itself; what the tools refuse is their answer, with status 200. */
export class HttpError extends Error {
  /** The HTTP status. */
  readonly status: ContentfulStatusCode;
  /** A stable word for programs. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string;
  /** Headers of the answer, and everything that is wrong with the parameters. */
  readonly more: HttpErrorMore;

  /**
   * @param status the HTTP status
   * @param code a stable word for programs
   * @param message what is wrong
   * @param hint what to do next
   * @param more headers and problems
   */
  constructor(status: ContentfulStatusCode, code: string, message: string, hint: string, more: HttpErrorMore = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.more = more;
  }
}

/** What some refusals have beside the usual. */
export interface HttpErrorMore {
  /** Headers of the answer, e.g. `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Everything that is wrong with the parameters. */
  readonly problems?: readonly Problem[];
}

/** The body of a refusal. */
export interface ErrorBody {
  /** What was refused and what to do next. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly problems?: readonly Problem[];
  };
}

/** The body that tells of an error. */
export function errorBody({ code, message, hint, more: { problems } }: HttpError): ErrorBody {
  return { error: { code, message, hint, ...(problems !== undefined && { problems }) } };
}

/** Status of an answer that nobody reads, as nginx has it in its logs: the client has gone away. */
const CLIENT_GONE = 499 as ContentfulStatusCode;

/** The client has gone away, in the middle of his request or while it was worked on. */
export function clientGone(): HttpError {
  return new HttpError(CLIENT_GONE, "client-gone", "The client has gone away", "");
}

/** What an error is to the client; of what is not meant for him he learns nothing. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof AbortError) return clientGone();
  if (error instanceof OffstageError && error.code === "unreachable") {
    return new HttpError(503, error.code, error.message, "Try again later");
  }
  return new HttpError(500, "internal", "Something went wrong here", "Look at the server's log");
}

/** Parameters, in a query or a body, that cannot be taken as they are. */
export function invalid(problems: readonly Problem[]): HttpError {
  const list = problems.map(({ key, message }) => key === "" ? message : `${key}: ${message}`).join("; ");
  return new HttpError(422, "invalid", `Nothing was done. ${list}`, "See problems", { problems });
}

/** An id that is not among the caller's sessions; the same for one of another scope. */
export function unknownSession(id: string): HttpError {
  return new HttpError(404, "unknown-session", `No session "${id}"`, "GET /v1/sessions lists yours");
}
