/**
 * What an example says that it prints.
 *
 * @module
 */

/** The comments after or below each `console.log`, as lines; empty unless each has one. */
export function saidOutput(code: string): readonly string[] {
  const lines = code.split("\n");
  const said = lines.flatMap((line, index) => {
    if (!/^\s*console\.log\(/.test(line)) return [];
    const beside = /;\s*\/\/ (.*)$/.exec(line)?.[1];
    if (beside !== undefined) return [[beside]];
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((other) => !/^\s*\/\/ /.test(other));
    return [rest.slice(0, Math.max(0, end)).map((comment) => comment.replace(/^\s*\/\/ /, ""))];
  });
  return said.every((words) => words.length > 0) ? said.flat() : [];
}
