/**
 * The HTTP API inside a Hono app of your own: under `/offstage` are its routes, `/offstage/mcp` and the page.
 *
 * Serve `app.fetch` as you would any: `serve({ fetch: app.fetch })` of `@hono/node-server`, `Deno.serve(app.fetch)`,
 * `Bun.serve({ fetch: app.fetch })`. Terminals in the page take the runtime's WebSockets beside it: `offstage serve` has them.
 *
 * @module
 */
import { Hono } from "hono";
import { createOffstage } from "offstage/auto"; // or offstage/node, offstage/deno, offstage/bun
import { createHttpApp } from "offstage/http";

const TOKEN = "a-long-random-token"; // out of your secrets: whoever has it can run commands

const offstage = createOffstage({ endOnSignals: false }); // the app decides when it ends
const ours = createHttpApp(offstage, { tokens: new Map([[TOKEN, "agent-1"]]) });

const app = new Hono();
app.get("/", (c) => c.text(`commands running: ${offstage.activeCount()}`));
app.mount("/offstage", ours.fetch);

// Requests as they come from outside. The Host header must be the loopback's, or one of the option `allowedHosts`.
const response = await app.request("http://localhost/offstage/v1/exec", {
  method: "POST",
  headers: { "authorization": `Bearer ${TOKEN}`, "content-type": "application/json" },
  body: JSON.stringify({ command: "sleep 600", background: true }),
});
const { details } = await response.json();
console.log(`${details.status}, ${await (await app.request("/")).text()}`);
// running, commands running: 1

console.log((await app.request("http://localhost/offstage/v1/sessions")).status);
// 401

await offstage.close(); // when the app ends
