/**
 * A real browser for the tests of the page: what it asks for and complains about is taken down.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { runtimeName, skipUnless } from "../skip.ts";

const CHROMIUM = "/usr/bin/chromium";

/** It starts for this test only, without a sandbox of its own, and asks nobody else's servers for anything. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long something may take to show up, ms, on a machine that does a lot else. */
const PATIENCE_MS = 30_000;

/** `skip` of a test in a browser: one runtime drives it, servers on the others are its children. */
export const browser: string | false = skipUnless(
  runtimeName === "node" && process.versions.node.startsWith("24."),
  "the browser is driven by Node 24 alone",
) || skipUnless(existsSync(CHROMIUM), `there is no ${CHROMIUM}`);

let launched: Promise<Browser> | undefined;

/** Closes the browser, if one was needed. */
export async function closeBrowser(): Promise<void> {
  await (await launched)?.close();
}

/** A tab of its own, with nothing in its storage. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** The text of the terminal that is shown. */
  readonly terminal: Locator;
  /** Waits until the terminal shows a text. */
  shows(text: string | RegExp): Promise<void>;
  /** Types a line and Enter. */
  enter(line: string): Promise<void>;
  /** Closes it; fails if it asked another host for something, or anything was against the page's policy, or threw. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens an address in a fresh tab; `friend` is an address beside its own that it may ask for something. */
export async function openTab(url: string, options: BrowserContextOptions = {}, friend: string = url): Promise<Tab> {
  const { chromium } = await import("playwright-core");
  launched ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const context = await (await launched).newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const hosts = [url, friend].map((known) => new URL(known).host);
  const foreign: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => {
    if (!hosts.includes(new URL(request.url()).host)) foreign.push(request.url());
  });
  page.on("websocket", (socket) => {
    if (!hosts.includes(new URL(socket.url()).host)) foreign.push(socket.url());
    if (/token/i.test(socket.url())) complaints.push(`a token in ${socket.url()}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const isNetwork = /Failed to load resource|WebSocket connection|net::ERR|blocked by CORS policy/.test(
      message.text(),
    ); // of a test's own making
    if (["error", "warning"].includes(message.type()) && !isNetwork) complaints.push(message.text());
  });
  await page.goto(url);
  const terminal = page.locator(".xterm-rows");
  return {
    page,
    terminal,
    shows: (text) => terminal.filter({ hasText: text }).waitFor(),
    enter: async (line) => {
      await page.keyboard.type(line);
      await page.keyboard.press("Enter");
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      assertEquals({ foreign, complaints }, { foreign: [], complaints: [] });
    },
  };
}

/** A style that is in effect, such as `background-color`. */
export function styleOf(locator: Locator, property: string): Promise<string> {
  return locator.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
}
