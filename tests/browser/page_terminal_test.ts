/**
 * Sessions on the page, in a real browser: started, typed into, resized, searched, ended, and there again after a reload.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { after } from "node:test";
import type { ScreenDetails } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { test } from "../closing.ts";
import { browser as skip, closeBrowser, type Tab } from "./chromium.ts";
import { enterSession, setUp, SHELL } from "./desk.ts";

after(closeBrowser);

test("a command is started on the page, typed into and seen", { skip }, async () => {
  const { tab } = await setUp();
  const { page } = tab;
  await page.getByText("Nothing runs here yet").waitFor();
  await page.getByRole("button", { name: "New command" }).first().click();
  await page.getByLabel("Command", { exact: true }).fill(SHELL);
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".xterm.focus").waitFor();
  await tab.shows(">");
  await tab.enter("echo it is $((6 * 7)), grüße");
  await tab.shows("it is 42, grüße");
  const row = page.getByRole("option");
  assertEquals([await row.count(), await row.getAttribute("aria-selected")], [1, "true"]);
  await row.filter({ hasText: "waits for input" }).waitFor();
});

test("a command that cannot be started says why where it was typed", { skip }, async () => {
  const { page } = (await setUp()).tab;
  await page.keyboard.press("n");
  await page.getByLabel("Command", { exact: true }).fill("true");
  await page.getByLabel("Directory").fill("/nowhere<b>");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "/nowhere<b>" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
});

test("the terminal takes the size of the page once it has the keyboard, and follows it", { skip }, async () => {
  const { tab, start } = await setUp({ viewport: { width: 1200, height: 700 } });
  const id = await start({ command: SHELL, pty: true, cols: 40, rows: 10 });
  await tab.page.locator(`#session-${id}`).click();
  await tab.page.getByText("40 × 10").waitFor();
  await enterSession(tab, id);
  const before = await sizeThatIsSaid(tab);
  await tab.shows(">");
  await tab.enter("stty size");
  await tab.shows(`${before.rows} ${before.cols}`);
  await tab.page.setViewportSize({ width: 900, height: 500 });
  await tab.page.getByText(`${before.cols} × ${before.rows}`).waitFor({ state: "hidden" });
  const now = await sizeThatIsSaid(tab);
  assert(now.cols < before.cols && now.rows < before.rows);
  await tab.enter("clear; stty size");
  await tab.shows(`${now.rows} ${now.cols}`);
});

/** The size in the line below the terminal, once it is that of the page. */
async function sizeThatIsSaid({ page }: Tab): Promise<{ readonly cols: number; readonly rows: number }> {
  const text = await page.locator(".foot").getByText(/^(?!40 )\d+ × \d+$/).textContent();
  const [, cols, rows] = /(\d+) × (\d+)/.exec(text ?? "") ?? [];
  return { cols: Number(cols), rows: Number(rows) };
}

test("a paste arrives as one, between the marks a program asked for", { skip }, async () => {
  const { tab, start } = await setUp();
  await enterSession(tab, await start({ command: "printf '\\33[?2004hready\\n'; exec cat -v", pty: true }));
  await tab.shows("ready");
  await paste(tab, "first line\nsecond line");
  await tab.enter("");
  await tab.shows(/\^\[\[200~first line.*second line\^\[\[201~/s);
});

/** Pastes a text as the browser does at Ctrl+V. */
async function paste({ page }: Tab, text: string): Promise<void> {
  await page.locator(".xterm-helper-textarea").evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

test("a large paste arrives whole or not at all", { skip }, async () => {
  const { tab, start } = await setUp();
  const command = "stty raw -echo; echo ready; head -c 900000 | wc -c; read x";
  await enterSession(tab, await start({ command, pty: true }));
  await tab.shows("ready");
  await paste(tab, "y".repeat(1_500_000));
  await tab.page.getByRole("alert").filter({ hasText: "Nothing was typed" }).waitFor();
  await paste(tab, "x".repeat(900_000));
  await tab.shows("900000");
});

test("who types on when a program ends gives the page no orders", { skip }, async () => {
  const { tab, start } = await setUp();
  const { page } = tab;
  const terminal = await start({ command: "read x; echo over", pty: true });
  await enterSession(tab, terminal);
  await tab.enter("");
  await page.locator(".badge", { hasText: "exit 0" }).waitFor();
  await page.keyboard.type("xnt?");
  const pipes = await start({ command: "read x; echo over" });
  await enterSession(tab, pipes);
  await tab.enter("");
  await page.locator(".badge", { hasText: "exit 0" }).waitFor();
  await page.keyboard.type("xnt?");
  await page.locator("dialog").waitFor({ state: "detached" });
  assertEquals(await page.getByRole("option").count(), 2, "none is cleared");
  await page.locator(`#session-${pipes}`).click();
  await page.keyboard.press("x");
  await page.locator(`#session-${pipes}`).waitFor({ state: "detached" });
});

test("what has scrolled off the top can be looked at, also of a session that has ended", { skip }, async () => {
  const { tab, start } = await setUp();
  const id = await start({ command: "seq 1000 3000" });
  await tab.page.locator(`#session-${id}`).click();
  await tab.shows("3000");
  await tab.page.locator(".foot").getByText("ended").waitFor();
  await tab.page.locator(".xterm").click();
  await tab.page.keyboard.press("Home");
  await tab.shows("1000");
  assertEquals(await tab.page.locator(".xterm-helper-textarea").getAttribute("readonly"), "");
});

test("a command is ended and then cleared from the list", { skip }, async () => {
  const { tab: { page }, start } = await setUp();
  const id = await start({ command: "sleep 1000", pty: true });
  await page.locator(`#session-${id}`).click();
  await page.getByRole("button", { name: "End …" }).click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.locator(".badge", { hasText: "killed" }).waitFor();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByText("No sessions yet").waitFor();
  await page.getByText("Nothing runs here yet").waitFor();
});

test("after a reload the same session is there, with its output, and can be typed into", { skip }, async () => {
  const { tab, start } = await setUp();
  await start({ command: "sleep 1000" });
  const id = await start({ command: SHELL, pty: true });
  await enterSession(tab, id);
  await tab.shows(">");
  await tab.enter("echo before-$((1 + 1))");
  await tab.shows("before-2");
  await tab.page.reload();
  await tab.shows("before-2");
  assertEquals(await tab.page.getByRole("option", { selected: true }).getAttribute("id"), `session-${id}`);
  await enterSession(tab, id);
  await tab.enter("echo after-$((2 + 1))");
  await tab.shows("after-3");
});

const vi = skip || skipUnless(existsSync("/usr/bin/vi"), "there is no vi");

test(
  "what an editor draws is the same here as on its own screen, at any size and after a reload",
  { skip: vi },
  async () => {
    const { served, tab, start } = await setUp({ viewport: { width: 1000, height: 700 } });
    const id = await start({ command: "seq -f 'line %g of the file' 1 500 | vi -n -", pty: true });
    const sameOnBoth = async (): Promise<void> => {
      const rows = async (): Promise<readonly (readonly string[])[]> => {
        const screen = await (await served.request(`/v1/sessions/${id}/screen`)).json() as ScreenDetails;
        const shown = await tab.terminal.locator("> div").evaluateAll((all) => all.map((row) => row.textContent ?? ""));
        return [shown, screen.rows].map((each) => each.map((row) => row.trimEnd()));
      };
      const deadline = performance.now() + 20_000;
      let [here, there] = await rows();
      while (String(here) !== String(there) && performance.now() < deadline) {
        await tab.page.waitForTimeout(100);
        [here, there] = await rows();
      }
      assertEquals(here, there);
    };
    await enterSession(tab, id);
    await tab.shows("line 1 of");
    await tab.page.locator(".foot").getByText("120 × 30").waitFor({ state: "hidden" });
    await tab.page.keyboard.type("ihello");
    await tab.shows("helloline 1 of");
    await sameOnBoth();
    await tab.page.reload();
    await tab.shows("helloline 1 of");
    await sameOnBoth();
  },
);

test("a line that was cut comes back by itself and goes on where it was", { skip }, async () => {
  const { tab, start } = await setUp();
  let cut = (): Promise<void> => Promise.resolve();
  const auths: string[] = [];
  await tab.page.routeWebSocket(/attach/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      if (typeof message === "string" && message.includes('"auth"')) auths.push(message);
      server.send(message);
    });
    cut = () => socket.close({ code: 4000 });
  });
  await tab.page.reload(); // a route is only for the pages after it
  const id = await start({ command: "echo first; read x; echo second", pty: true });
  await enterSession(tab, id);
  await tab.shows("first");
  await cut();
  await tab.page.waitForFunction(() => document.querySelector(".foot [data-line=live]") !== null);
  while (auths.length < 2) await tab.page.waitForTimeout(50);
  await tab.page.locator(".foot [data-line=live]").waitFor();
  await tab.enter("");
  await tab.shows("second");
  assertEquals((await tab.terminal.innerText()).split("first").length, 2, "it is there once");
  assertEquals(JSON.parse(auths[1] ?? "{}").since, "first\r\n".length);
});

test("what a program asks its terminal is not answered by who looks at it", { skip }, async () => {
  const { tab, start } = await setUp();
  const questions = "\\33P$qm\\33\\\\\\33]4;1;?\\7"; // settings and a colour: xterm.js knows both, the server neither
  const id = await start({ command: `stty raw -echo; printf '${questions}asked\\r\\n'; exec od -An -c`, pty: true });
  await enterSession(tab, id);
  await tab.shows("asked");
  await tab.page.keyboard.type("only this, and nothing before it");
  await tab.shows(/asked\s*o\s+n\s+l\s+y/);
});

test("the output is searched as a whole, and a match is shown on the terminal", { skip }, async () => {
  const { tab, start } = await setUp();
  const { page } = tab;
  const id = await start({ command: 'for i in $(seq 1 2000); do echo "Number $i."; done; read x' });
  await page.locator(`#session-${id}`).click();
  await tab.shows("Number 2000.");
  await page.keyboard.press("f");
  await page.getByLabel("Search the output, a regular expression").fill("number \\d*77\\.");
  await page.keyboard.press("Enter");
  await page.getByText("20 lines match").waitFor();
  await page.locator(".results button", { hasText: "Number 277." }).click();
  await tab.shows("Number 277.");
  await page.getByLabel("Search the output, a regular expression").fill("number");
  await page.keyboard.press("Enter");
  await page.getByText("2000 lines match").waitFor();
  const numbers = (): Promise<readonly number[]> =>
    page.locator(".results .number").evaluateAll((all) => all.map(({ textContent }) => Number(textContent)));
  assertEquals(await numbers(), Array.from({ length: 200 }, (_, index) => 1801 + index));
  await page.getByRole("button", { name: "Older matches" }).click();
  await page.locator(".results .number", { hasText: /^1601$/ }).waitFor();
  assertEquals(await numbers(), Array.from({ length: 400 }, (_, index) => 1601 + index));
  await page.keyboard.press("Escape");
});

test(
  "a session on pipes takes lines as long as its stdin is open, and one without it takes none",
  { skip },
  async () => {
    const { tab, start } = await setUp();
    const { page } = tab;
    const open = await start({ command: "cat; echo over" });
    await page.locator(`#session-${open}`).click();
    await page.getByLabel("A line for its stdin").fill("one line");
    await page.keyboard.press("Enter");
    await tab.shows("one line");
    await page.getByRole("button", { name: "Close stdin" }).click();
    await tab.shows("over");
    await page.locator(".badge", { hasText: "exit 0" }).waitFor();
    const closed = await start({ command: "echo err >&2; sleep 1000", stdin: "closed" });
    await page.locator(`#session-${closed}`).click();
    await tab.shows("err");
    assertEquals(await page.getByLabel("A line for its stdin").isVisible(), false);
  },
);
