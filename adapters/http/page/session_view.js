/**
 * One session: who it is, what can be done with it, its terminal, its input.
 *
 * @module
 */
import { attach } from "./attachment.js";
import { make, setText } from "./dom.js";
import { bytes, stateOf } from "./format.js";
import { createSearchPanel } from "./search_panel.js";
import { createScreen } from "./terminal.js";
import { onTheme } from "./theme.js";
import { toast, toastError } from "./toasts.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./api.js").Entry} Entry */

/** What the line to the session is doing, in words. */
const LINE_WORDS = {
  connecting: "connecting …",
  live: "live",
  lost: "connection lost, trying again …",
  ended: "ended",
  gone: "not kept any more",
  unauthorized: "the token is not valid any more",
};

/**
 * @typedef {object} SessionView
 * @property {string} id
 * @property {(entry: Entry) => void} update
 * @property {() => void} focus
 * @property {() => void} search
 * @property {() => { cols: number, rows: number } | undefined} room
 * @property {() => void} close
 */

/**
 * @param {HTMLElement} host
 * @param {Api} api
 * @param {import("./xterm_loader.js").Xterm} xterm
 * @param {Entry} first
 * @param {{ end: () => void, back: () => void, look: () => void }} on
 * @returns {SessionView}
 */
export function showSession(host, api, xterm, first, on) {
  const { sessionId: id, pty } = first;
  let entry = first;
  /** @type {import("./attachment.js").LineState} */
  let line = "connecting";
  /** Whether the size of the terminal follows the window: once somebody has put the keyboard there. */
  let isOurs = false;
  let missing = 0;

  const title = make("span", { class: "title muted" });
  const state = make("span", { class: "badge" });
  const facts = make("p", { class: "facts muted" });
  const searchButton = make("button", {
    class: "quiet",
    type: "button",
    text: "Search",
    "aria-keyshortcuts": "f",
    on: { click: () => search.open() },
  });
  const endButton = make("button", { type: "button", "aria-keyshortcuts": "x", on: { click: on.end } });
  const head = make(
    "header",
    { class: "head" },
    make("button", {
      class: "quiet back",
      type: "button",
      "aria-label": "Back to the list",
      text: "‹",
      on: { click: on.back },
    }),
    make("div", { class: "who" }, make("h2", {}, make("span", { class: "mono", text: first.name }), title), facts),
    state,
    make("div", { class: "actions" }, searchButton, endButton),
  );

  const place = make("div", { class: "screen" });
  const input = make("input", {
    type: "text",
    placeholder: "A line for its stdin",
    "aria-label": "A line for its stdin",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  const inputRow = make(
    "form",
    { class: "stdin", hidden: true },
    input,
    make("button", { class: "primary", type: "submit", text: "Send" }),
    make("button", { type: "button", text: "Close stdin", on: { click: () => send({ eof: true }) } }),
  );
  const status = make("span", { role: "status" });
  const dimensions = make("span", { class: "muted" });
  const gaps = make("span", { class: "muted", title: "It came too fast, or is not kept any more" });
  const foot = make(
    "footer",
    { class: "foot" },
    status,
    dimensions,
    gaps,
    make("span", { class: "muted hint", text: pty ? "Ctrl+Shift+← leaves the terminal" : "" }),
  );

  const search = createSearchPanel(api, id, {
    find: (pattern) => screen.find(pattern, true),
    closed: () => {
      screen.endFind();
      screen.focus();
    },
  });
  host.replaceChildren(head, search.element, place, inputRow, foot);

  const screen = createScreen(xterm, place, {
    name: first.name,
    pty,
    typed: (keys) => lineToIt.type(keys),
    titled: (text) => setText(title, text),
    focused: () => {
      isOurs = pty;
      fitRoom();
    },
    skipped: tellGap,
  });

  /** @type {{ cols: number, rows: number } | undefined} the size of its terminal, as far as it is known here */
  let size;

  /**
   * The size has changed, whoever wished that. It is told between the bytes that were printed before and after.
   *
   * @param {number} cols
   * @param {number} rows
   */
  function adopt(cols, rows) {
    size = { cols, rows };
    screen.resize(cols, rows);
    setText(dimensions, `${cols} × ${rows}`);
  }

  /** Pipes have no width. A terminal's program knows its own, so it is asked for another. */
  function fitRoom() {
    const room = screen.room();
    if (room === undefined) return;
    if (!pty) return screen.resize(room.cols, room.rows);
    if (size === undefined) return;
    screen.resize(size.cols, size.rows); // the size of the font may have to be another
    const isWrong = size.cols !== room.cols || size.rows !== room.rows;
    if (isWrong && isOurs && line === "live" && entry.status === "running") lineToIt.resize(room.cols, room.rows);
  }

  const lineToIt = attach(api.token, id, {
    hello: ({ cols, rows }) => {
      if (cols !== undefined && rows !== undefined) adopt(cols, rows);
      fitRoom();
    },
    output: (chunk) => screen.write(chunk),
    gap: (from, to) => tellGap(to - from),
    resized: adopt,
    ended: on.look,
    refused: (message) => toast(message, "error"),
    state: (now) => {
      line = now;
      showState();
      if (now === "gone" || now === "unauthorized") on.look();
    },
  });

  /**
   * Says that output is not shown: among it, unless it is a terminal's, where the program draws.
   *
   * @param {number} count bytes
   */
  function tellGap(count) {
    missing += count;
    if (!pty) screen.note(`[${bytes(count)} are not shown here; the search looks at all that is kept]`);
    setText(gaps, `${bytes(missing)} not shown`);
  }

  function showState() {
    const { tone, words } = stateOf(entry);
    state.dataset["tone"] = tone;
    setText(state, words);
    const isRunning = entry.status === "running";
    setText(endButton, isRunning ? "End …" : "Clear");
    endButton.className = isRunning ? "danger" : "";
    const canType = isRunning && entry.stdin === "open";
    const wasTyping = inputRow.contains(document.activeElement);
    inputRow.hidden = pty || !canType;
    screen.setReadOnly(!pty || !canType);
    if (wasTyping && inputRow.hidden) {
      screen.focus();
      place.dataset["typing"] = ""; // what is typed on is not meant for the page
    }
    setText(status, LINE_WORDS[line]);
    status.dataset["line"] = line;
    const { pid, cwd, host: where, survivors } = entry;
    setText(
      facts,
      [
        id,
        ...(pid === null ? [] : [`pid ${pid}`]),
        cwd,
        ...(where === "gateway" ? [] : [`on ${where}`]),
        ...(survivors.length === 0
          ? []
          : [`${survivors.length} left behind: ${survivors.map(({ name }) => name).join(", ")}`]),
      ].join(" · "),
    );
  }

  /** @param {{ data?: string, eof?: boolean }} what */
  async function send(what) {
    try {
      await api.act(id, "write", what);
      on.look();
    } catch (error) {
      toastError(error);
    }
  }
  inputRow.addEventListener("submit", (event) => {
    event.preventDefault();
    void send({ data: `${input.value}\n` });
    input.value = "";
  });

  const sizes = new ResizeObserver(() => fitRoom());
  sizes.observe(place);
  const forgetTheme = onTheme(screen.retheme);
  showState();

  return {
    id,
    update: (now) => {
      entry = now;
      showState();
    },
    focus: () => inputRow.hidden ? screen.focus() : input.focus(),
    search: search.open,
    room: screen.room,
    close: () => {
      lineToIt.close();
      sizes.disconnect();
      forgetTheme();
      screen.dispose();
    },
  };
}
