/**
 * The list of sessions: one row each, kept and changed rather than made anew, so that two hundred of them cost nothing.
 *
 * @module
 */
import { byId, make, setText } from "./dom.js";
import { matches, span, stateOf } from "./format.js";

/** @typedef {import("./api.js").Entry} Entry */

/**
 * @typedef {object} Row
 * @property {HTMLLIElement} element
 * @property {Element} name
 * @property {Element} time
 * @property {Element} state
 * @property {Element} tail
 * @property {Entry} entry
 */

/** Runtimes are counted on between two looks, ms. */
const TICK_MS = 1_000;

/**
 * @typedef {object} List
 * @property {(entries: readonly Entry[], at: number) => void} show
 * @property {(id: string | undefined) => void} select marks the selected one
 * @property {(by: number) => void} step selects the next or previous one
 * @property {() => void} focus
 */

/**
 * @param {{ select: (id: string) => void, open: (id: string) => void }} listener `select`: it is to be shown; `open`: it
 * is to be typed into
 * @returns {List}
 */
export function createList(listener) {
  const list = byId("sessions");
  const filter = /** @type {HTMLInputElement} */ (byId("filter"));
  const none = byId("no-sessions");
  const count = byId("count");
  /** @type {Map<string, Row>} */
  const rows = new Map();
  /** @type {readonly Entry[]} */
  let entries = [];
  let at = performance.now();
  /** @type {string | undefined} */
  let selected;

  /**
   * @param {Entry} entry
   * @returns {Row}
   */
  function rowOf(entry) {
    const id = entry.sessionId;
    const known = rows.get(id);
    if (known !== undefined) return Object.assign(known, { entry });
    const name = make("span", { class: "name" });
    const time = make("span", { class: "time" });
    const state = make("span", { class: "state" });
    const tail = make("span", { class: "tail" });
    const element = make(
      "li",
      { role: "option", id: `session-${id}`, "aria-selected": "false", tabindex: "-1" },
      make("span", { class: "dot", "aria-hidden": "true" }),
      name,
      time,
      make("span", { class: "detail" }, state, tail),
    );
    element.addEventListener("click", () => listener.select(id));
    element.addEventListener("dblclick", () => listener.open(id));
    const row = { element, name, time, state, tail, entry };
    rows.set(id, row);
    return row;
  }

  /** @param {Row} row */
  function showTime({ time, entry }) {
    const passed = entry.status === "running" ? performance.now() - at : 0;
    setText(time, span(entry.runtimeMs + passed));
  }

  function render() {
    const typed = filter.value.trim();
    const shown = typed === "" ? entries : entries.filter((entry) => matches(entry, typed));
    const severalScopes = new Set(entries.map(({ scope }) => scope)).size > 1;
    /** @type {Element | null} */
    let place = list.firstElementChild;
    for (const entry of shown) {
      const row = rowOf(entry);
      const { tone, words } = stateOf(entry);
      if (row.element.dataset["tone"] !== tone) row.element.dataset["tone"] = tone;
      setText(row.name, entry.name);
      row.element.title = entry.name;
      setText(row.state, severalScopes ? `${entry.scope} · ${words}` : words);
      setText(row.tail, entry.tail);
      showTime(row);
      if (row.element === place) place = place.nextElementSibling;
      else list.insertBefore(row.element, place);
    }
    while (place !== null) {
      const next = place.nextElementSibling;
      place.remove();
      place = next;
    }
    const known = new Set(entries.map(({ sessionId }) => sessionId));
    for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
    none.hidden = shown.length > 0;
    setText(none, entries.length === 0 ? "No sessions yet." : `None of ${entries.length} matches.`);
    const running = entries.filter(({ status }) => status === "running").length;
    setText(count, `${running} running, ${entries.length - running} ended`);
    mark();
  }

  /** One row is in the tab order: the selected one, else the first. */
  function mark() {
    const first = list.firstElementChild;
    const current = selected === undefined ? undefined : rows.get(selected)?.element;
    const stop = current?.parentElement === list ? current : first;
    for (const element of list.children) {
      const isSelected = element === current;
      if ((element.getAttribute("aria-selected") === "true") !== isSelected) {
        element.setAttribute("aria-selected", String(isSelected));
      }
      const tabIndex = element === stop ? 0 : -1;
      const item = /** @type {HTMLElement} */ (element);
      if (item.tabIndex !== tabIndex) item.tabIndex = tabIndex;
    }
  }

  /** @param {number} by */
  function step(by) {
    const all = [...list.children];
    const focused = all.findIndex((element) => element === document.activeElement);
    const from = focused >= 0 ? focused : all.findIndex((element) => element.getAttribute("aria-selected") === "true");
    const to = Math.min(all.length - 1, Math.max(0, from < 0 ? 0 : from + by));
    const element = /** @type {HTMLElement | undefined} */ (all[to]);
    if (element === undefined) return;
    const hadFocus = list.contains(document.activeElement);
    listener.select(element.id.slice("session-".length));
    element.scrollIntoView({ block: "nearest" });
    if (hadFocus) element.focus();
  }

  function focus() {
    const stop = /** @type {HTMLElement | null} */ (list.querySelector('[tabindex="0"]'));
    (stop ?? filter).focus();
  }

  filter.addEventListener("input", render);
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && filter.value !== "") {
      filter.value = "";
      render();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      focus();
      if (event.key === "Enter") step(0);
    }
  });
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    const by = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (by !== undefined) {
      event.preventDefault();
      step(by);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const id = /** @type {Element | null} */ (event.target)?.closest("li")?.id;
      if (id !== undefined) listener.open(id.slice("session-".length));
    }
  });
  setInterval(() => {
    if (document.hidden) return;
    for (const row of rows.values()) if (row.entry.status === "running" && row.element.isConnected) showTime(row);
  }, TICK_MS);

  return {
    show: (now, when) => {
      entries = now;
      at = when;
      render();
    },
    select: (id) => {
      selected = id;
      mark();
    },
    step,
    focus,
  };
}
