/**
 * Calls of the HTTP API.
 *
 * @module
 */

/** @typedef {import("../../../mod.ts").ListEntry} Entry */
/** @typedef {import("../../../mod.ts").LogDetails} LogDetails */
/** @typedef {{ text: string, isError: boolean, details: Record<string, unknown> }} Answer */

/** Where the API is: the page's files are two levels below it, wherever it is mounted. */
const BASE = new URL("../../", import.meta.url);

/** A call takes no longer, ms; what the page asks for is answered at once. */
const LONGEST_CALL_MS = 15_000;

/** A refusal, or no answer at all (`status` 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * The API with one token.
 *
 * @typedef {object} Api
 * @property {string} token
 * @property {() => Promise<readonly Entry[]>} sessions
 * @property {(parameters: object) => Promise<Answer>} exec
 * @property {(id: string, action: "kill" | "clear" | "write", parameters?: object) => Promise<Answer>} act
 * @property {(id: string, query: Record<string, string>) => Promise<LogDetails>} log
 */

/**
 * @param {string} token
 * @returns {Api}
 */
export function createApi(token) {
  /**
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<any>}
   */
  async function call(path, init = {}) {
    if (!/^[\x21-\x7e]+$/.test(token)) throw new ApiError(401, "unauthorized", "No valid token"); // no header can have it
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(LONGEST_CALL_MS);
    const response = await fetch(new URL(path, BASE), { ...init, headers, signal }).catch(() => {
      throw new ApiError(0, "unreachable", "The server does not answer");
    });
    const body = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body;
    const { code = "unreadable", message = `The server answered with status ${response.status}` } = body?.error ?? {};
    throw new ApiError(response.status, code, message);
  }

  /**
   * @param {string} path
   * @param {object} body
   */
  const post = (path, body) => call(path, { method: "POST", body: JSON.stringify(body) });

  return {
    token,
    sessions: async () => (await call("v1/sessions")).sessions,
    exec: (parameters) => post("v1/exec", parameters),
    act: (id, action, parameters = {}) => post(`v1/sessions/${encodeURIComponent(id)}/${action}`, parameters),
    log: (id, query) => call(`v1/sessions/${encodeURIComponent(id)}/log?${new URLSearchParams(query)}`),
  };
}

/**
 * The address of a session's WebSocket. The token is not in it: it goes in the first message.
 *
 * @param {string} id
 */
export function attachAddress(id) {
  const url = new URL(`v1/sessions/${encodeURIComponent(id)}/attach`, BASE);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}
