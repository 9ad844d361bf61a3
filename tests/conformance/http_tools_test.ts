/**
 * The two tools over HTTP, really served on this runtime.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { ExecAnswer } from "../../mod.ts";
import { serveHttp } from "./http_server.ts";

test("R14 POST /v1/exec answers what the library answers", async () => {
  const served = await serveHttp();
  try {
    const { text, details } = await served.post("/v1/exec", { command: "echo hi" }) as ExecAnswer;
    assertEquals([text, details.status], ["hi", "completed"]);
    assertEquals((await served.request("/v1/exec", { method: "POST", headers: { authorization: "" } })).status, 401);
  } finally {
    await served.close();
  }
});
