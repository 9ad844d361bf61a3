/**
 * What every test of the HTTP front end begins with: an instance that is really served on this runtime.
 *
 * @module
 */
import { createOffstage } from "../../adapters/auto.ts";
import { createHttpApp, type HttpOptions } from "../../adapters/http.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import type { Offstage, OffstageConfig } from "../../mod.ts";

/** Tokens of the scopes `one` and `two`, and of the admin. */
export const TOKENS = { one: "token-of-one", two: "token-of-two", admin: "token-of-admin" } as const;

/** A served instance. */
export interface Served {
  readonly offstage: Offstage;
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** A request with the token of scope `one`, unless `init` has other headers. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Posts JSON and gives the answer's JSON. */
  post(path: string, body: unknown, token?: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Serves an instance on a free port of the loopback. To be closed. */
export async function serveHttp(config: OffstageConfig = {}, options: Partial<HttpOptions> = {}): Promise<Served> {
  const offstage = createOffstage(config);
  const tokens = new Map([[TOKENS.one, "one"], [TOKENS.two, "two"], [TOKENS.admin, "*"]]);
  const listen = await listenHere();
  const server = await listen(
    (host) => createHttpApp(offstage, { tokens, ...host, ...options }),
    { hostname: "127.0.0.1", port: 0 },
  );
  const url = `http://127.0.0.1:${server.port}`;
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${TOKENS.one}`, ...init.headers } });
  return {
    offstage,
    url,
    request,
    post: async (path, body, token = TOKENS.one) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      return await (await request(path, { method: "POST", body: JSON.stringify(body), headers })).json();
    },
    close: async () => {
      await offstage.close();
      await server.close();
    },
  };
}
