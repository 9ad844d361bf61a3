/**
 * Requests that no client writes.
 *
 * @module
 */
import fc from "fast-check";

/** What no answer may contain. */
export const SECRETS = { token: "token-of-the-tester-123", other: "token-of-another-4567" } as const;

/** A request, in pieces. */
export interface RawRequest {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
  /** Whether it comes with a token. */
  readonly authorized?: boolean;
  /** Sent in two parts, cut there. */
  readonly cut: number | undefined;
}

const METHODS = [
  "GET",
  "POST",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "get",
  "G\0T",
  "",
  "CONNECT",
  "TRACE",
  "PRI",
  "M-SEARCH",
  "X".repeat(5_000),
];
const TARGETS = [
  ..."/healthz|/v1/exec|/v1/process|/v1/sessions|/v1/sessions/x/log|/|/mcp|/metrics|/openapi.json|/v1/events".split(
    "|",
  ),
  ..."http://localhost/healthz|http://evil/healthz|https://localhost:1/v1/exec|localhost:80|*|//|//evil/healthz|http://[::1"
    .split("|"),
  ..."/..%2f..%2fetc/passwd|/%2e%2e/healthz|/../healthz|/%|/%zz|/%00|/v1/sessions/%ff/log|/v1/sessions/..%2f../log|ws://x/"
    .split("|"),
  ..."/healthz?%|/healthz?a=%zz&a|/healthz#x|/healthz x|\\healthz|/\u00ff|?|/v1/sessions/%00/attach|/page/..%2f..%2fapp.ts"
    .split("|"),
  "/" + "x".repeat(70_000),
  "/v1/sessions?" + "a=1&".repeat(5_000),
];
const VERSIONS = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "HTTP/0.9",
  "HTTP/1.10",
  "http/1.1",
  "HTTP/1.1 ",
  "",
  "ICE/1.0",
];

const AUTHORIZATION = `Authorization: Bearer ${SECRETS.token}`;

const HEADERS = [
  ..."Content-Length: 20|Content-Length: 19|Content-Length: 0|Content-Length: -1|Content-Length: +20|Content-Length: 0x14"
    .split("|"),
  ..."Content-Length: 20, 20|Content-Length: 99999999999999999999|Content-Length: 18446744073709551617|Content-Length:  20 "
    .split("|"),
  ..."Content-Length: 2097153|Content-Length: 1e3|Content-Length:|Content-Length : 20|Content-Length: 20\r\nContent-Length: 3"
    .split("|"),
  ..."Transfer-Encoding: chunked|Transfer-Encoding: Chunked|Transfer-Encoding: chunked, identity|Transfer-Encoding: xchunked"
    .split("|"),
  ..."Transfer-Encoding: identity|Transfer-Encoding:\tchunked|Transfer-Encoding: gzip, chunked|Transfer-Encoding : chunked"
    .split("|"),
  ..."Transfer-Encoding: chunked\r\nTransfer-Encoding: identity|Transfer-Encoding: chunked\r\nContent-Length: 20".split(
    "|",
  ),
  ..."Host: localhost|Host: evil|Host:|Host: localhost\r\nHost: evil|Host: [::1|Host: localhost:x|Host: \u00ff|Host: a b"
    .split("|"),
  ..."Upgrade: websocket|Upgrade: h2c|Upgrade: \u00ff|Connection: Upgrade|Connection: close|Connection: keep-alive, , x"
    .split("|"),
  ..."Sec-WebSocket-Version: 13|Sec-WebSocket-Version: x|Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==|Sec-WebSocket-Key: x"
    .split("|"),
  ...'Sec-WebSocket-Protocol: offstage.v1|Sec-WebSocket-Protocol: ,,|Sec-WebSocket-Extensions: permessage-deflate; x="'
    .split("|"),
  ..."Expect: 100-continue|Expect: nonsense|Content-Type: text/plain|Content-Type: application/json;;;=|Content-Type:"
    .split("|"),
  ..."Content-Encoding: gzip|Origin: null|Origin: http://evil|Origin: http://localhost|Origin: \u00ff|Cookie: a=b"
    .split("|"),
  ..."Authorization: Bearer x|Authorization: Basic \u00ff|Authorization: bearer|Authorization: Bearer a\r\nAuthorization: Bearer b"
    .split("|"),
  ..."Last-Event-ID: -1|Last-Event-ID: 1e99|Offstage-Scope: *|Offstage-Scope: \u00ff|Mcp-Session-Id: x|Accept: */*;q=x"
    .split("|"),
  ..."NoColon|: empty|X: a\0b|X: a\rb|X: a\n b|\tX: folded| X: folded|X\0: a|X\u00ff: a|(): a|X: \x7f|Trailer: Host"
    .split("|"),
  "X: " + "y".repeat(2 ** 20),
  Array.from({ length: 3_000 }, (_, index) => `X${index}: y`).join("\r\n"),
];

const COMMAND = '{"command": "false"}';
const SMUGGLED =
  `POST /v1/exec HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n${COMMAND}`;

const BODIES = [
  "",
  COMMAND,
  "{",
  `14\r\n${COMMAND}\r\n0\r\n\r\n`,
  `14;ext="x"\r\n${COMMAND}\r\n0\r\nHost: evil\r\n\r\n`,
  `FFFFFFFFFFFFFFFF\r\n${COMMAND}`,
  `-1\r\n${COMMAND}`,
  ` 14\r\n${COMMAND}\r\n0\r\n\r\n`,
  `0x14\r\n${COMMAND}\r\n0\r\n\r\n`,
  `14\n${COMMAND}\n0\n\n`,
  `1\r\n{\r\n`,
  `14\r\n${COMMAND}XX0\r\n\r\n`,
  "0\r\n\r\n",
  `0\r\n\r\n${SMUGGLED}`,
  `${COMMAND}${SMUGGLED}`,
  `14\r\n${COMMAND}\r\n0\r\n\r\n${SMUGGLED}`,
  "\u0000\u00ff\u0080",
  "\r\n\r\n\r\n",
  "x".repeat(100_000),
];

/** Requests; those with a token never ask for anything that would do harm. */
export const rawRequests: fc.Arbitrary<RawRequest> = fc.record({
  method: fc.oneof({ weight: 6, arbitrary: fc.constantFrom("GET", "POST") }, {
    weight: 4,
    arbitrary: fc.constantFrom(...METHODS),
  }),
  path: fc.oneof({ weight: 2, arbitrary: fc.constantFrom("/healthz", "/v1/exec", "/v1/sessions") }, {
    weight: 3,
    arbitrary: fc.constantFrom(...TARGETS),
  }),
  version: fc.constantFrom(...VERSIONS),
  host: fc.boolean(),
  authorized: fc.boolean(),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 }),
  body: fc.constantFrom(...BODIES),
  end: fc.constantFrom("\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\n\0"),
  cut: fc.option(fc.nat(3_000), { nil: undefined }),
  noise: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined, freq: 12 }),
}).map(({ method, path, version, host, authorized, headers, body, end, cut, noise }) => ({
  line: noise === undefined ? `${method} ${path} ${version}`.trimEnd() : String.fromCharCode(...noise),
  headers: [
    ...(host ? ["Host: localhost"] : []),
    ...(authorized ? [AUTHORIZATION] : []),
    ...headers,
    ...(end === "\r\n" ? [] : [end]),
  ],
  body,
  ...(authorized && { authorized }),
  cut,
}));

/** The bytes of a request. */
export function requestBytes({ line, headers, body }: RawRequest): Uint8Array {
  const text = [line, ...headers, "", body].join("\r\n");
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
}
