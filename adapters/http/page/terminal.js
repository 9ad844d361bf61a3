/**
 * The terminal of one session on the page.
 *
 * @module
 */
import { DARK, LEAST_CONTRAST, LIGHT } from "./terminal_theme.js";
import { isDark } from "./theme.js";

/** Lines that have scrolled off the top and can be looked at. */
const SCROLLBACK_LINES = 10_000;

/** Output that is waiting to be drawn; past it some is left out, and said so: xterm.js gives up at 50 MB. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

const FONT =
  'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

const FONT_PX = 13;
/** A terminal that is wider than the page is drawn smaller, down to this; what still does not fit can be scrolled to. */
const SMALLEST_FONT_PX = 9;

/** How matches of a search look. */
const DARK_MATCHES = { match: "#6d5312", active: "#a06f00", ruler: "#c9a227" };
const LIGHT_MATCHES = { match: "#ffe9a8", active: "#ffc94d", ruler: "#b88700" };

/**
 * @typedef {object} Screen
 * @property {(bytes: Uint8Array) => void} write
 * @property {(text: string) => void} note writes a line of the page's own, dim
 * @property {() => { cols: number, rows: number } | undefined} room the cells there is room for
 * @property {(cols: number, rows: number) => void} resize once what was written before is drawn
 * @property {(isReadOnly: boolean) => void} setReadOnly
 * @property {(pattern: RegExp | string, back?: boolean) => boolean} find
 * @property {() => void} endFind
 * @property {() => void} retheme
 * @property {() => void} focus
 * @property {() => void} dispose
 */

/**
 * @param {import("./xterm_loader.js").Xterm} xterm
 * @param {HTMLElement} host
 * @param {{ name: string, pty: boolean, typed: (bytes: Uint8Array<ArrayBuffer>) => void, titled: (title: string) => void, focused: () => void, skipped: (bytes: number) => void }} options
 * @returns {Screen}
 */
export function createScreen(
  { Terminal, FitAddon, SearchAddon },
  host,
  { name, pty, typed, titled, focused, skipped },
) {
  const terminal = new Terminal({
    allowProposedApi: true,
    convertEol: !pty,
    cursorBlink: pty,
    disableStdin: !pty,
    fontFamily: FONT,
    fontSize: FONT_PX,
    lineHeight: 1.15,
    macOptionIsMeta: true,
    minimumContrastRatio: LEAST_CONTRAST,
    scrollback: SCROLLBACK_LINES,
    theme: isDark() ? DARK : LIGHT,
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  leaveQuestionsToTheServer(terminal.parser);
  terminal.attachCustomKeyEventHandler((event) => {
    if (terminal.options.disableStdin) {
      if (event.type === "keydown") scroll(event.key);
      return false; // all keys are the page's
    }
    if (isCopyKey(event) && terminal.hasSelection()) {
      event.preventDefault();
      if (event.type === "keydown") void navigator.clipboard?.writeText(terminal.getSelection());
      return false;
    }
    return !isPageKey(event);
  });
  terminal.open(host);
  terminal.textarea?.setAttribute("aria-label", `Terminal of ${name}. Control Shift Left leaves it.`);
  terminal.textarea?.addEventListener("focus", () => {
    // Who types into a program that ends goes on for a while: that is not meant for the page.
    if (!terminal.options.disableStdin) host.dataset["typing"] = "";
    focused();
  });
  terminal.textarea?.addEventListener("blur", () => delete host.dataset["typing"]);

  const encoder = new TextEncoder();
  terminal.onData((text) => typed(encoder.encode(text)));
  terminal.onBinary((text) => typed(Uint8Array.from(text, (character) => character.charCodeAt(0))));
  terminal.onTitleChange(titled);

  /** @param {string} key */
  function scroll(key) {
    if (key === "PageUp") terminal.scrollPages(-1);
    if (key === "PageDown") terminal.scrollPages(1);
    if (key === "Home") terminal.scrollToTop();
    if (key === "End") terminal.scrollToBottom();
  }

  /** At the usual size of the font, whatever it is just now. */
  function room() {
    const { fontSize = FONT_PX } = terminal.options;
    terminal.options.fontSize = FONT_PX;
    const cells = fit.proposeDimensions();
    terminal.options.fontSize = fontSize;
    return cells === undefined || Number.isNaN(cells.cols) ? undefined : cells;
  }

  let waiting = 0;
  let left = 0;
  return {
    write: (bytes) => {
      if (waiting > MOST_WAITING_BYTES || (left > 0 && waiting > MOST_WAITING_BYTES / 8)) {
        left += bytes.length;
        return;
      }
      if (left > 0) skipped(left);
      left = 0;
      waiting += bytes.length;
      terminal.write(bytes, () => waiting -= bytes.length);
    },
    note: (text) => terminal.write(`\x1b[0;2m${text}\x1b[0m\r\n`),
    room,
    resize: (cols, rows) =>
      terminal.write("", () => {
        const fitting = Math.min(1, (room()?.cols ?? cols) / cols);
        terminal.options.fontSize = Math.max(SMALLEST_FONT_PX, Math.floor(FONT_PX * fitting * 2) / 2);
        if (cols !== terminal.cols || rows !== terminal.rows) terminal.resize(cols, rows);
      }),
    setReadOnly: (isReadOnly) => {
      terminal.options.disableStdin = isReadOnly;
      terminal.options.cursorBlink = !isReadOnly;
      terminal.options.cursorInactiveStyle = isReadOnly ? "none" : "outline";
    },
    find: (pattern, back = false) => {
      const [text, regex] = typeof pattern === "string" ? [pattern, false] : [pattern.source, true];
      const { match, active, ruler } = isDark() ? DARK_MATCHES : LIGHT_MATCHES;
      const options = {
        regex,
        caseSensitive: typeof pattern === "string" || !pattern.ignoreCase,
        decorations: {
          matchBackground: match,
          activeMatchBackground: active,
          matchOverviewRuler: ruler,
          activeMatchColorOverviewRuler: ruler,
        },
      };
      return back ? search.findPrevious(text, options) : search.findNext(text, options);
    },
    endFind: () => search.clearDecorations(),
    retheme: () => terminal.options.theme = isDark() ? DARK : LIGHT,
    focus: () => terminal.focus(),
    dispose: () => terminal.dispose(),
  };
}

/**
 * The server answers what programs ask their terminal, once and also when nobody looks. An answer from here would be a
 * second one, typed into whatever runs by then.
 *
 * @param {import("@xterm/xterm").IParser} parser
 */
function leaveQuestionsToTheServer(parser) {
  const swallow = () => true;
  /** @type {readonly import("@xterm/xterm").IFunctionIdentifier[]} */
  const questions = [
    { final: "c" },
    { prefix: ">", final: "c" },
    { prefix: "=", final: "c" },
    { final: "n" },
    { prefix: "?", final: "n" },
    { intermediates: "$", final: "p" },
    { prefix: "?", intermediates: "$", final: "p" },
    { prefix: ">", final: "q" },
    { prefix: "?", final: "u" },
    { final: "t" },
  ];
  for (const question of questions) parser.registerCsiHandler(question, swallow);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, swallow);
  for (const colour of [4, 10, 11, 12]) parser.registerOscHandler(colour, (data) => data.includes("?"));
}

/**
 * Ctrl+C is the program's.
 *
 * @param {KeyboardEvent} event
 */
function isCopyKey({ ctrlKey, shiftKey, code }) {
  return ctrlKey && shiftKey && code === "KeyC";
}

/**
 * Keys that are the page's also while somebody types into the terminal.
 *
 * @param {KeyboardEvent} event
 */
function isPageKey({ ctrlKey, shiftKey, altKey, metaKey, code }) {
  if (!ctrlKey || !shiftKey || altKey || metaKey) return false;
  return ["ArrowLeft", "ArrowUp", "ArrowDown", "KeyF"].includes(code);
}
