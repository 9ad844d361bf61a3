/**
 * What a person sees of some output: asked of a terminal that others have written.
 *
 * @module
 */

import headless from "@xterm/headless";

/** Size of a terminal. */
export interface OracleSize {
  readonly cols: number;
  readonly rows: number;
}

/**
 * The lines of the scrollback and the screen, without the screen of full-screen programs. Lines that were wrapped are
 * whole again; blanks at the end of a line and empty lines at the end are left out.
 *
 * @param convertEol whether a line feed also returns to the first column. Default yes
 */
export async function personSees(
  output: string | Uint8Array,
  { cols, rows }: OracleSize,
  convertEol = true,
): Promise<readonly string[]> {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 100_000, convertEol, allowProposedApi: true });
  await new Promise<void>((written) => terminal.write(output, written));
  const buffer = terminal.buffer.normal;
  const lines: string[] = [];
  for (let index = 0; index < buffer.length; index++) {
    const line = buffer.getLine(index);
    if (line === undefined) continue;
    if (line.isWrapped) lines.push((lines.pop() ?? "") + line.translateToString(false));
    else lines.push(line.translateToString(false));
  }
  terminal.dispose();
  return rowsOf(lines);
}

/** Lines without blanks at their ends and without empty ones at the end. */
export function rowsOf(lines: readonly string[]): readonly string[] {
  const rows = lines.map((line) => line.trimEnd());
  while (rows.at(-1) === "") rows.pop();
  return rows;
}
