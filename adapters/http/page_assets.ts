/**
 * The page's files: its own, beside this module, and those of xterm.js, from the packages that are installed.
 *
 * @module
 */
import { readFile } from "node:fs/promises";

/** One file as it is sent. */
export interface Asset {
  /** Its content type. */
  readonly type: string;
  /** Its bytes. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** All that the page consists of. */
export interface Assets {
  /** A hash of everything; part of the addresses, so that they can be kept forever. */
  readonly version: string;
  /** What `/` answers. */
  readonly index: Asset;
  /** The other files by their names. */
  readonly files: ReadonlyMap<string, Asset>;
  /** Files of packages that are not installed, and those packages' names. */
  readonly missing: ReadonlyMap<string, string>;
}

/** The page's own files, in `page/`. */
export const PAGE_FILES: readonly string[] = [
  "api.js",
  "attachment.js",
  "auth.js",
  "base.css",
  "dialogs.js",
  "dom.js",
  "format.js",
  "frame.css",
  "icon.svg",
  "list.js",
  "main.js",
  "narrow.css",
  "overlays.css",
  "search_panel.js",
  "session.css",
  "session_view.js",
  "sessions.js",
  "shortcuts.js",
  "terminal.js",
  "terminal_theme.js",
  "theme.js",
  "toasts.js",
  "xterm_loader.js",
];

/** What the page takes from packages: by which name it asks, whose file that is, and which versions are good. */
export const PACKAGE_FILES: readonly {
  readonly name: string;
  readonly package: string;
  readonly range: string;
  readonly path: string;
}[] = [
  { name: "xterm.mjs", package: "@xterm/xterm", range: "^6.0.0", path: "lib/xterm.mjs" },
  { name: "xterm.css", package: "@xterm/xterm", range: "^6.0.0", path: "css/xterm.css" },
  { name: "addon-fit.mjs", package: "@xterm/addon-fit", range: "^0.11.0", path: "lib/addon-fit.mjs" },
  { name: "addon-search.mjs", package: "@xterm/addon-search", range: "^0.16.0", path: "lib/addon-search.mjs" },
];

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** What `index.html` has where the version goes. */
const VERSION_MARK = "VERSION";

/** Reads everything once; about 0.5 MB, most of it xterm.js. */
export async function loadAssets(): Promise<Assets> {
  const html = new TextDecoder().decode(await read(new URL("./page/index.html", import.meta.url)));
  const files = new Map<string, Asset>();
  for (const name of PAGE_FILES) {
    files.set(name, { type: typeOf(name), body: await read(new URL(`./page/${name}`, import.meta.url)) });
  }
  const missing = new Map<string, string>();
  for (const { name, package: owner, range, path } of PACKAGE_FILES) {
    const url = await find(owner, range, path);
    if (url === undefined) missing.set(name, owner);
    else files.set(name, { type: typeOf(name), body: await read(url) });
  }
  const version = await hash([
    html,
    ...files.keys(),
    ...missing.keys(),
    ...[...files.values()].map(({ body }) => body),
  ]);
  const index = new TextEncoder().encode(html.replaceAll(VERSION_MARK, version));
  return { version, index: { type: typeOf("index.html"), body: index }, files, missing };
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/** Where a package's file is; `undefined` if it is not installed. */
async function find(owner: string, range: string, path: string): Promise<URL | undefined> {
  const installed = resolve(`${owner}/${path}`);
  if (installed !== undefined || !("Deno" in globalThis)) return installed;
  // A package from JSR has no node_modules: Deno has npm's packages in its cache once one of their files was imported.
  const inCache = `npm:${owner}@${range}`;
  try {
    await import(`${inCache}/package.json`, { with: { type: "json" } });
  } catch {
    return undefined;
  }
  return resolve(`${inCache}/${path}`);
}

function resolve(specifier: string): URL | undefined {
  try {
    const url = new URL(import.meta.resolve(specifier));
    return url.protocol === "file:" ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a file; the page's own ones come from where this module came from, which for a package of JSR is the web. */
async function read(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  if (url.protocol === "file:") return new Uint8Array(await readFile(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`Cannot load ${url.pathname} of the page: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** The first 16 hex digits of a SHA-256 over all parts. */
async function hash(parts: readonly (string | Uint8Array<ArrayBuffer>)[]): Promise<string> {
  const bytes = new Uint8Array(await new Blob([...parts]).arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
