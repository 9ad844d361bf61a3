/**
 * Requests to one server with one token: whatever fails is a `ClientError`.
 *
 * @module
 */
import { aborted, ClientError } from "./error.ts";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** One request. */
export interface Call {
  /** Default: GET. */
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** What is `undefined` is left out. */
  readonly query?: object;
  /** Beside the token. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A server, as one token sees it. */
export interface Connection {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Asks and gives the answer's JSON. */
  ask(path: string, call?: Call): Promise<unknown>;
  /** Asks and gives the answer as it comes; it is a success. */
  open(path: string, call?: Call): Promise<Response>;
}

/** Makes a connection; nothing is sent yet. */
export function createConnection(url: string, headers: Readonly<Record<string, string>>, fetch: Fetch): Connection {
  async function open(path: string, { method = "GET", body, query = {}, headers: more, signal }: Call = {}) {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const init: RequestInit = {
      method,
      headers: { ...headers, ...json, ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    };
    if (signal?.aborted) throw aborted(signal);
    let response: Response;
    try {
      response = await fetch(url + path + queryText(query), init);
    } catch (error) {
      throw broken(url, error, signal);
    }
    if (response.ok) return response;
    throw refusal(response.status, await response.text().catch(() => ""), url);
  }

  return {
    url,
    open,
    ask: async (path, call = {}) => {
      const response = await open(path, call);
      let text: string;
      try {
        text = await response.text();
      } catch (error) {
        throw broken(url, error, call.signal);
      }
      if (text === "") return undefined;
      const { json } = parsed(text);
      if (json === undefined) throw notOffstage(url, response.status);
      return json;
    },
  };
}

/** What a request that broke rejects with. */
export function broken(url: string, cause: unknown, signal: AbortSignal | undefined): ClientError {
  if (signal?.aborted) return aborted(signal);
  return new ClientError({
    code: "unreachable",
    message: `Cannot reach ${url}: ${reasonOf(cause)}`,
    hint: "Is the server running there? `offstage serve` starts one",
    cause,
  });
}

/** Node's fetch says "fetch failed" and hides why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code ?? "") : "";
  return inner === "" ? error.message : inner;
}

function refusal(status: number, text: string, url: string): ClientError {
  const error = (parsed(text).json as { readonly error?: Partial<ClientError> } | undefined)?.error;
  if (typeof error?.code !== "string" || typeof error.message !== "string") return notOffstage(url, status);
  const { code, message, hint = "", problems = [] } = error;
  const details = problems.map(({ key, message }) => key === "" ? message : `${key}: ${message}`).join("; ");
  return new ClientError({
    code,
    message: message.includes(details) ? message : `${message}: ${details}`,
    hint,
    status,
    problems,
  });
}

function notOffstage(url: string, status: number): ClientError {
  return new ClientError({
    code: "bad-answer",
    message: `${url} answered with status ${status}, but not as Offstage does`,
    hint: "Check the address, and what stands between you and the server",
    status,
  });
}

function parsed(text: string): { readonly json?: unknown } {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return {};
  }
}

function queryText(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
