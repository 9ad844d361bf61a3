/**
 * No text leads nowhere: links within the repository, and to headings, have their ends.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { posix } from "node:path";
import { test } from "node:test";
import { exists, listFiles, readText } from "./project.ts";

const texts = [
  ...["README.md", "SECURITY.md", "CHANGELOG.md"],
  ...listFiles("examples", ".md"),
  ...listFiles("skills", ".md"),
];

test("every link in the texts has its end", () => {
  const links = texts.flatMap((file) =>
    [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => ({ file, link }))
  ).filter(({ link }) => !/^https:/.test(link));
  assert(links.length > 20);
  const broken = links.filter(({ file, link }) => {
    const [path = "", heading] = link.split("#");
    const target = path === "" ? file : posix.join(posix.dirname(file), path);
    return !exists(target) || (heading !== undefined && !headings(target).includes(heading));
  });
  assertEquals(broken, []);
});

/** The text without its blocks of code. */
function prose(file: string): string {
  return readText(file).replaceAll(/^```[^]*?^```$/gm, "");
}

/** Names by which a text's headings are linked to. */
function headings(file: string): readonly string[] {
  const titles = [...prose(file).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title);
  return titles.map((title) => title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));
}
