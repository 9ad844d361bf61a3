/**
 * What a program of the repository says at `--help`: the comment it begins with.
 *
 * @module
 */
import { readFileSync } from "node:fs";

/**
 * Prints a file's first comment if that is asked for.
 *
 * @param {readonly string[]} words of the command line
 * @param {URL | string} file whose comment tells how to start it
 * @returns {boolean} whether it was
 */
export function toldHelp(words, file) {
  if (!words.includes("--help") && !words.includes("-h")) return false;
  const [, comment = ""] = /^\/\*\*\n(.*?)\n \*\n \* @module/s.exec(readFileSync(new URL(file), "utf8")) ?? [];
  console.log(comment.replaceAll(/^ \* ?/gm, ""));
  return true;
}
