/**
 * The page's files, as they are served on this runtime.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createOffstage } from "../../adapters/auto.ts";
import { createHttpApp } from "../../adapters/http.ts";
import { PACKAGE_FILES, PAGE_FILES } from "../../adapters/http/page_assets.ts";
import { closing, test } from "../closing.ts";
import { listFiles, readJson, readText } from "../project.ts";

const FOLDER = "adapters/http/page/";

/** Asks the app, without a token. */
function page(): (path: string, headers?: HeadersInit) => Promise<Response> {
  const app = createHttpApp(closing(createOffstage()), { tokens: new Map() });
  return async (path, headers = {}) => await app.fetch(new Request(`http://127.0.0.1${path}`, { headers }));
}

test("the page is served without a token, under a policy that allows no inline script or style and no other host", async () => {
  const get = page();
  const response = await get("/");
  assertEquals([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  const policy = response.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]) {
    assertStringIncludes(policy, part);
  }
  assert(!policy.includes("unsafe"), policy);
  const html = await response.text();
  assertEquals(
    [...html.matchAll(/(?:src|href)="(?!page\/[0-9a-f]{16}\/)/g)].length,
    0,
    "an address without the version",
  );
});

test("what is unchanged is not sent again: the page is asked about, its files are kept forever", async () => {
  const get = page();
  const response = await get("/");
  const etag = response.headers.get("etag") ?? "";
  assertEquals([response.headers.get("cache-control"), (await get("/", { "if-none-match": etag })).status], [
    "no-cache",
    304,
  ]);
  const version = /page\/([0-9a-f]{16})\//.exec(await response.text())?.[1];
  const types = { css: "text/css", js: "text/javascript", mjs: "text/javascript", svg: "image/svg+xml" };
  for (const name of [...PAGE_FILES, ...PACKAGE_FILES.map(({ name }) => name)]) {
    const file = await get(`/page/${version}/${name}`);
    const type = types[name.slice(name.lastIndexOf(".") + 1) as keyof typeof types];
    assertEquals([name, file.status, file.headers.get("content-type")?.split(";")[0]], [name, 200, type]);
    assertMatch(file.headers.get("cache-control") ?? "", /immutable/);
    assert((await file.arrayBuffer()).byteLength > 100, name);
  }
  assertEquals((await get(`/page/0000000000000000/main.js`)).status, 404, "a version of before");
  assertEquals((await get(`/page/${version}/..%2fpage.ts`)).status, 404);
});

test("the page's list of files is what is there, and what the page names is in it", () => {
  const there = listFiles("adapters/http/page", "").map((file) => file.slice(FOLDER.length));
  assertEquals([...PAGE_FILES, "index.html"].sort(), [...there].sort());
  const served = [...there, ...PACKAGE_FILES.map(({ name }) => name)];
  const named = there.flatMap((file) => {
    const text = readText(FOLDER + file);
    const pattern = file === "index.html" ? /page\/VERSION\/([^"]+)"/g : /^import .* from "\.\/([^"]+)";$/gm;
    return [...text.matchAll(pattern)].map(([, name]) => name ?? "");
  });
  assertEquals(named.filter((name) => !served.includes(name)), []);
});

test("the page asks for the versions of xterm.js that the package asks for", () => {
  const { optionalDependencies } = readJson("package.json") as { optionalDependencies: Record<string, string> };
  for (const file of PACKAGE_FILES) assertEquals(file.range, optionalDependencies[file.package], file.package);
});

test("the page's files say what they are for, are short, and read no markup", () => {
  for (const file of listFiles("adapters/http/page", ".js")) {
    const text = readText(file);
    assertMatch(text, /^\/\*\*\n(?: \*.*\n)+? \* @module\n \*\/\n/, file);
    assert(text.split("\n").length <= 301, `${file} is longer than 300 lines`);
    assert(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/.test(text), file);
  }
});
