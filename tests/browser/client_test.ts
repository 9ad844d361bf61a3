/**
 * The client in a real browser, in a page of another origin, against servers on each runtime.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import * as modules from "node:module";
import { join } from "node:path";
import { after } from "node:test";
import { closing, test } from "../closing.ts";
import { freshFolder } from "../conformance/machine.ts";
import { TOKENS } from "../conformance/http_server.ts";
import { readText } from "../project.ts";
import { browser as skip, closeBrowser, openTab } from "./chromium.ts";
import { serverOn } from "./server_on.ts";

type ClientModule = typeof import("../../adapters/client.ts");

/** Of Node 24, of which the types do not know yet. */
const { stripTypeScriptTypes } = modules as unknown as { readonly stripTypeScriptTypes: (source: string) => string };

/** Where the application has the client. */
const CLIENT = "/adapters/client.ts";

after(closeBrowser);

for (const runtime of ["Node", "Deno", "Bun"] as const) {
  test(`the client works in a page of a listed origin, with a server on ${runtime}`, { skip }, async () => {
    const application = await serveApplication();
    const url = await serverOn(runtime, [application]);
    const { page } = closing(await openTab(application, {}, url));
    const seen = await page.evaluate(async ({ url, tokens: [token, wrong], module }) => {
      const { ClientError, createClient }: ClientModule = await import(module);
      const client = createClient({ url, token });
      const quick = await client.exec({ command: "echo hello" });
      const command = "while read -r line; do echo got $line; done; exit 3";
      const { details } = await client.exec({ command, pty: true, background: true });
      const sessionId = "sessionId" in details ? String(details.sessionId) : "";
      const events = (async () => {
        for await (const event of client.events()) if (event.type === "exit") return event.exitCode;
        return undefined;
      })();
      const decoder = new TextDecoder();
      let attached = "";
      const line = await client.attach(sessionId, { onData: (bytes) => attached += decoder.decode(bytes) });
      line.resize(91, 31);
      line.write("grüße\r");
      while (!attached.includes("got grüße")) await new Promise((resolve) => setTimeout(resolve, 20));
      line.write("\u0004");
      const { why } = await line.ended;
      let output = "";
      for await (const event of client.output(sessionId)) if (event.type === "output") output += event.text;
      const exitCode = await events;
      const refusal = await createClient({ url, token: wrong }).sessions().catch((error: unknown) => error);
      const code = refusal instanceof ClientError ? refusal.code : String(refusal);
      await client.remove(sessionId);
      return { hello: quick.text, why, isWhole: output === attached, exitCode, code, left: await client.sessions() };
    }, { url, tokens: [TOKENS.one, "wrong"] as const, module: CLIENT });
    assertEquals<unknown>(seen, {
      ...{ hello: "hello", why: "exit", isWhole: true, exitCode: 3, code: "unauthorized", left: [] },
    });
  });

  test(`[137] a page of an origin that is not listed runs nothing, with a server on ${runtime}`, { skip }, async () => {
    const application = await serveApplication();
    const url = await serverOn(runtime);
    const { path } = closing(await freshFolder());
    const { page } = closing(await openTab(application, {}, url));
    const outcomes = await page.evaluate(async ({ url, token, module, command }) => {
      const { createClient }: ClientModule = await import(module);
      const client = createClient({ url, token });
      const outcomeOf = (call: Promise<unknown>): Promise<string> => call.then(() => "done", ({ code }) => code);
      // Sent without a preflight
      const post = { method: "POST", mode: "no-cors", body: JSON.stringify({ command }) } as const;
      return [
        await fetch(`${url}/v1/exec`, post).then(() => "answered", () => "its answer is for nobody"),
        await outcomeOf(client.exec({ command })),
        await outcomeOf(client.sessions()),
        await outcomeOf(client.attach("amber-otter-0000", { onData: () => {} })),
      ];
    }, { url, token: TOKENS.one, module: CLIENT, command: `touch ${join(path, "ran")}` });
    assertEquals(outcomes, ["its answer is for nobody", "unreachable", "unreachable", "unreachable"]);
    assertEquals(existsSync(join(path, "ran")), false);
  });
}

/** An application of somebody: an empty page, and the client as a browser reads it. Resolves with its origin. */
async function serveApplication(): Promise<string> {
  const server = createServer(({ url = "/" }, response) => {
    if (!url.startsWith("/adapters/")) return response.setHeader("content-type", "text/html").end("<!doctype html>");
    response.setHeader("content-type", "text/javascript").end(stripTypeScriptTypes(readText(url.slice(1))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing({
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}
