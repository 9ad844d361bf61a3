/**
 * Requests with whatever headers a test wants: `fetch` sets some itself.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type IncomingHttpHeaders, request } from "node:http";

/** What to send. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends one request on a connection of its own. */
export function raw(url: string, { method = "GET", headers = {}, body }: RawRequest = {}): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, headers, body: new TextDecoder().decode(Buffer.concat(chunks)) });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
