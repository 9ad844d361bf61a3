/**
 * The page in a real browser: who gets in, what is text, keys, looks, many sessions, and servers on other runtimes.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after } from "node:test";
import { closing, test } from "../closing.ts";
import { serveHttp, TOKENS } from "../conformance/http_server.ts";
import { browser as skip, closeBrowser, openTab, styleOf } from "./chromium.ts";
import { setUp, SHELL } from "./desk.ts";
import { serverOn } from "./server_on.ts";

after(closeBrowser);

test("a server that does not answer is told of, and forgotten once it does", { skip }, async () => {
  const { tab: { page } } = await setUp();
  const told = page.locator("#connection", { hasText: "The server does not answer" });
  await page.getByText("Nothing runs here yet").waitFor();
  await page.context().setOffline(true);
  await told.waitFor();
  await page.context().setOffline(false);
  await told.waitFor({ state: "detached" });
});

test(
  "a wrong token gets the form again and why; the right one gets in, and signing out forgets it",
  { skip },
  async () => {
    const served = await serveHttp();
    closing({ [Symbol.asyncDispose]: served.close });
    const { page } = closing(await openTab(`${served.url}/#token=wrong`));
    await page.getByRole("alert").filter({ hasText: "not valid" }).waitFor();
    assertEquals(new URL(page.url()).hash, "", "a token does not stay in the address");
    for (const wrong of ["also wrong", "grüße", "<img src=x>"]) {
      await page.getByLabel("Token").fill(wrong);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "not valid" }).waitFor();
    }
    await page.getByLabel("Token").fill(TOKENS.one);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Nothing runs here yet").waitFor();
    await page.reload();
    await page.getByText("Nothing runs here yet").waitFor();
    const kept = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie, location.href].join());
    assert(!kept.includes(TOKENS.one), "the token is kept for the tab only");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    assertEquals(await page.evaluate(() => JSON.stringify(sessionStorage)), "{}");
  },
);

const MARKUP = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>`;

test("names, output, titles, answers and searches are text, whatever they look like", { skip }, async () => {
  const { tab, start } = await setUp();
  const { page } = tab;
  const quoted = `'${MARKUP}'`;
  const id = await start({
    command: `${quoted} 2>&1; printf '\\33]2;%s\\7%s\\n' ${quoted} ${quoted}; read x`,
    pty: true,
  });
  await page.locator(`#session-${id}`).click();
  await tab.shows("onerror");
  await page.locator(".who .title", { hasText: "onerror" }).waitFor();
  await page.keyboard.press("f");
  await page.getByLabel("Search the output, a regular expression").fill("<img.*");
  await page.keyboard.press("Enter");
  await page.locator(".results mark", { hasText: "<img src=x" }).first().waitFor();
  await page.getByLabel("Search the output, a regular expression").fill("(<img");
  await page.keyboard.press("Enter");
  await page.locator(".search [role=status]", { hasText: "(<img" }).waitFor();
  await page.getByLabel("Filter sessions").last().fill(MARKUP);
  await page.locator("#sessions li, #no-sessions").first().waitFor();
  assertEquals(await page.evaluate(() => "broken" in window), false);
  assertEquals(await page.locator("img:not([src$='icon.svg']), script:not([src$='main.js'])").count(), 0);
});

test("the page is all reached by keys, and the terminal is left by one", { skip }, async () => {
  const { tab, start } = await setUp();
  const { page } = tab;
  const older = await start({ command: "echo older; sleep 1000", pty: true });
  const newer = await start({ command: SHELL, pty: true });
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.id ?? "";
    });
  await page.keyboard.press("/");
  assertEquals(await focused(), "Filter sessions");
  await page.keyboard.press("ArrowDown");
  assertEquals(await focused(), `session-${newer}`);
  await page.keyboard.press("ArrowDown");
  await tab.shows("older");
  assertEquals(await focused(), `session-${older}`);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
  assertEquals(outline, "solid", "the focus is seen");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.locator(".xterm.focus").waitFor();
  assertMatch(await focused(), /Control Shift Left leaves it/);
  await tab.shows(">");
  await tab.enter("n=7; echo n?$n"); // the page's own keys are not taken from it
  await tab.shows("n?7");
  await page.keyboard.press("Control+Shift+ArrowLeft");
  assertEquals(await focused(), `session-${newer}`);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("x");
  await page.getByRole("dialog", { name: "End this command?" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".badge", { hasText: "killed" }).waitFor();
  await page.locator("#announcer", { hasText: "killed" }).waitFor({ state: "attached" });
  await page.locator("#new").focus();
  for (const next of ["theme", "help", "sign-out", "filter"]) {
    await page.keyboard.press("Tab");
    assertEquals(await page.evaluate(() => document.activeElement?.id), next);
  }
});

test("two hundred sessions are listed, filtered, and kept as they are between two looks", { skip }, async () => {
  const { served, tab, start } = await setUp();
  const id = await start({ command: "sleep 1000" });
  const { sessions: [entry] } = await (await served.request("/v1/sessions")).json();
  let looks = 0;
  await tab.page.route("**/v1/sessions", (route) => {
    looks++;
    const sessions = Array.from({ length: 200 }, (_, index) => ({
      ...entry,
      sessionId: index === 0 ? id : `made-up-${index}`,
      name: `job ${index}`,
      tail: `look ${looks}`,
    }));
    return route.fulfill({ json: { sessions } });
  });
  const rows = tab.page.getByRole("option");
  await tab.page.locator("#session-made-up-199").waitFor({ state: "attached" });
  assertEquals(await rows.count(), 200);
  await tab.page.locator("#session-made-up-150").evaluate((element) => element.dataset["mark"] = "kept");
  const seen = looks;
  while (looks < seen + 2) await tab.page.waitForTimeout(50);
  assertEquals(await tab.page.locator("#session-made-up-150").getAttribute("data-mark"), "kept");
  await tab.page.getByLabel("Filter sessions").last().fill("job 19");
  await tab.page.locator("#session-made-up-20").waitFor({ state: "detached" });
  assertEquals(await rows.count(), 12);
  await tab.page.getByText("200 running, 0 ended").waitFor();
});

test("the admin's page shows whose session is whose", { skip }, async () => {
  const { served, start } = await setUp();
  await start({ command: "sleep 1000" });
  await served.post("/v1/exec", { command: "sleep 1000", background: true }, TOKENS.two);
  const { page } = closing(await openTab(`${served.url}/#token=${TOKENS.admin}`));
  await page.getByRole("option").filter({ hasText: "two · running" }).waitFor();
  await page.getByRole("option").filter({ hasText: "one · running" }).waitFor();
});

test("without xterm.js on the server the sessions are listed, and what to install is said", { skip }, async () => {
  const { tab: { page }, start } = await setUp();
  const id = await start({ command: "sleep 1000" });
  const error = { code: "not-found", message: "@xterm/xterm is not installed here", hint: "npm install @xterm/xterm" };
  await page.route("**/xterm.mjs", (route) => route.fulfill({ status: 404, json: { error } }));
  await page.locator(`#session-${id}`).click();
  await page.locator("#session", { hasText: "npm install @xterm/xterm" }).waitFor();
});

test("the page is light or dark as the system is, or as somebody has chosen", { skip }, async () => {
  const { served, tab: { page }, start } = await setUp({ colorScheme: "dark" });
  await page.locator(`#session-${await start({ command: "echo hi; sleep 1000" })}`).click();
  const looks = async (): Promise<readonly string[]> => {
    const parts = ["body", ".xterm-scrollable-element", ".head"].map((part) => page.locator(part));
    return await Promise.all(parts.map((part) => styleOf(part, "background-color")));
  };
  await page.locator(".xterm-rows", { hasText: "hi" }).waitFor();
  const dark = await looks();
  assert(dark.every(isDark), dark.join());
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => matchMedia("(prefers-color-scheme: light)").matches);
  const light = await looks();
  assert(!light.some(isDark), light.join());
  const button = page.getByRole("button", { name: "Theme" });
  for (const [choice, expected] of [["light", light], ["dark", dark]] as const) {
    await button.click();
    assertEquals([await button.getAttribute("aria-label"), ...await looks()], [`Theme: ${choice}`, ...expected]);
  }
  await page.goto(served.url);
  await page.locator(".head").waitFor({ state: "detached" });
  assert(isDark(await styleOf(page.locator("body"), "background-color")), "the choice is kept");
});

/** @param colour `rgb(…)` */
function isDark(colour: string): boolean {
  return (/\d+/g.exec(colour)?.[0] ?? 255) as number < 128;
}

test("on a phone there is the list, or the session with a way back", { skip }, async () => {
  const { tab: { page }, start } = await setUp({ viewport: { width: 390, height: 780 }, hasTouch: true });
  const id = await start({ command: SHELL, pty: true });
  assertEquals(await page.locator("#session").isVisible(), false);
  await page.locator(`#session-${id}`).tap();
  await page.locator(".xterm-rows", { hasText: ">" }).waitFor();
  assertEquals(await page.locator("#sessions").isVisible(), false);
  assertEquals(await page.evaluate(() => document.documentElement.scrollWidth), 390, "nothing sticks out");
  await page.getByRole("button", { name: "Back to the list" }).tap();
  await page.locator(`#session-${id}`).waitFor();
});

for (const runtime of ["Deno", "Bun"] as const) {
  test(`the page works on a server that runs on ${runtime}`, { skip }, async () => {
    const url = await serverOn(runtime);
    const tab = closing(await openTab(`${url}/#token=${TOKENS.one}`));
    await tab.page.getByText("Nothing runs here yet").waitFor();
    await tab.page.keyboard.press("n");
    await tab.enter(SHELL);
    await tab.page.locator(".xterm.focus").waitFor();
    await tab.shows(">");
    await tab.enter("echo it is $((6 * 7))");
    await tab.shows("it is 42");
    await tab.page.reload();
    await tab.shows("it is 42");
  });
}
