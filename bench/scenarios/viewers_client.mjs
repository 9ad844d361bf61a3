/**
 * Many viewers of one stream of output, in a process of their own: `node viewers_client.mjs URL TOKEN COUNT [stall]`.
 *
 * Says `ready` once all have their first byte; at the end prints as JSON what they got. Each must get every byte, or be told
 * which ones it does not get. With `stall` they read nothing more and stay until stdin ends.
 *
 * @module
 */
import { get } from "node:http";
import process from "node:process";

const [url = "", token = "", count = "1", stall] = process.argv.slice(2);
const viewers = Array.from({ length: Number(count) }, () => ({ at: 0, bytes: 0, skipped: 0, gaps: 0, ended: false }));
const lags = [];
let wrong = 0;

await Promise.all(viewers.map(connect)).then((ends) => {
  console.log("ready");
  return Promise.all(ends.map(({ ended }) => ended));
});
lags.sort((one, other) => one - other);
const sum = (of) => viewers.reduce((total, viewer) => total + of(viewer), 0);
console.log(JSON.stringify({
  viewers: viewers.length,
  wrong: wrong + viewers.filter(({ ended }) => !ended).length,
  bytes: sum(({ bytes }) => bytes),
  skipped: sum(({ skipped }) => skipped),
  p50Ms: lags[Math.floor(lags.length * 0.5)] ?? 0,
  p99Ms: lags[Math.floor(lags.length * 0.99)] ?? 0,
}));
process.exit(0);

/** Resolves with the first byte. */
function connect(viewer) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (stall !== undefined) {
        response.once("readable", () => resolve({ ended: new Promise(() => {}) }));
        return;
      }
      let rest = Buffer.alloc(0);
      const ended = new Promise((end) => response.on("close", end));
      response.on("data", (chunk) => {
        resolve({ ended });
        rest = take(viewer, rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
      });
    });
    request.on("error", reject);
  });
}

/** Takes whole events; what is left of the last one is given back. */
function take(viewer, buffer) {
  let from = 0;
  for (let end = buffer.indexOf("\n\n", from); end >= 0; end = buffer.indexOf("\n\n", from)) {
    see(viewer, buffer, from, end);
    from = end + 2;
  }
  return buffer.subarray(from);
}

function see(viewer, buffer, from, end) {
  const head = buffer.latin1Slice(from, Math.min(end, from + 90));
  const [, event, id, first] = /^event: (\w+)\nid: (\d+)\ndata: \{"(?:offset|from|exit)":(\d*)/.exec(head) ?? [];
  if (event === undefined) return;
  if (event === "end") return void (viewer.ended = true);
  if (Number(first) !== viewer.at) wrong += 1;
  const bytes = Number(id) - Number(first);
  viewer.at = Number(id);
  if (event === "gap") return void (viewer.skipped += bytes);
  viewer.bytes += bytes;
  const stamp = buffer.indexOf("T", from + 60);
  if (stamp >= 0 && stamp + 15 < end) lags.push(Date.now() - Number(buffer.latin1Slice(stamp + 1, stamp + 14)));
}

process.stdin.on("end", () => process.exit(0)).resume();
