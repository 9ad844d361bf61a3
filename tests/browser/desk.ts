/**
 * What most tests of the page begin with: a server, the page signed in, and sessions to look at.
 *
 * @module
 */
import { assert } from "@std/assert";
import type { ExecAnswer, ExecParams } from "../../mod.ts";
import { closing } from "../closing.ts";
import { type Served, serveHttp, TOKENS } from "../conformance/http_server.ts";
import { openTab, type Tab } from "./chromium.ts";

/** A server and the page, signed in. */
export async function setUp(
  options: Parameters<typeof openTab>[1] = {},
): Promise<{ readonly served: Served; readonly tab: Tab; start(params: ExecParams): Promise<string> }> {
  const served = await serveHttp({ tools: { exec: { killGraceMs: 500 } } });
  closing({ [Symbol.asyncDispose]: served.close });
  const tab = closing(await openTab(`${served.url}/#token=${TOKENS.one}`, options));
  await tab.page.locator("#app").waitFor();
  const start = async (params: ExecParams): Promise<string> => {
    const { details, text } = await served.post("/v1/exec", { background: true, ...params }) as ExecAnswer;
    assert("sessionId" in details && typeof details.sessionId === "string", text);
    await tab.page.locator(`#session-${details.sessionId}`).waitFor();
    return details.sessionId;
  };
  return { served, tab, start };
}

/** Opens a session with the keyboard in it. */
export async function enterSession({ page }: Tab, id: string): Promise<void> {
  await page.locator(`#session-${id}`).click();
  await page.keyboard.press("Tab"); // a click on a row leaves the focus there: the terminal is entered by Enter
  await page.locator(`#session-${id}`).press("Enter");
  await page.locator(".xterm.focus, .stdin input:focus").first().waitFor();
}

/** A shell with a plain prompt. */
export const SHELL: string = "PS1='> ' exec bash --norc --noprofile";
