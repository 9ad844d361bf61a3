/**
 * Search in the whole output a session has kept: the lines that match, and where they are on the terminal.
 *
 * @module
 */
import { make } from "./dom.js";

/** @typedef {import("./api.js").Api} Api */

/** Lines a search shows at a time. */
const LINES = "200";

/**
 * @typedef {object} SearchPanel
 * @property {HTMLElement} element
 * @property {() => void} open
 * @property {() => void} close
 */

/**
 * @param {Api} api
 * @param {string} id of the session
 * @param {{ find: (pattern: RegExp | string, back?: boolean) => void, closed: () => void }} on
 * @returns {SearchPanel}
 */
export function createSearchPanel(api, id, on) {
  const input = make("input", {
    type: "search",
    placeholder: "Search the output (regular expression)",
    "aria-label": "Search the output, a regular expression",
    autocomplete: "off",
    spellcheck: "false",
  });
  const ignoreCase = make("input", { type: "checkbox", checked: true });
  const status = make("p", { class: "muted", role: "status" });
  const results = make("ol", { class: "results", "aria-label": "Lines that match" });
  const older = make("button", { class: "quiet", type: "button", text: "Older matches", hidden: true });
  const close = make("button", { class: "quiet", type: "button", text: "×", "aria-label": "Close the search" });
  const form = make(
    "form",
    { role: "search" },
    input,
    make("label", { class: "check" }, ignoreCase, "Ignore case"),
    close,
  );
  const element = make(
    "section",
    { class: "search", "aria-label": "Search the output", hidden: true },
    form,
    status,
    older,
    results,
  );

  /** @returns {RegExp | undefined} */
  function pattern() {
    try {
      return new RegExp(input.value, ignoreCase.checked ? "gi" : "g");
    } catch (error) {
      status.textContent = /** @type {Error} */ (error).message;
      return undefined;
    }
  }

  const grep = () => (ignoreCase.checked ? "(?i)" : "") + input.value;

  async function run() {
    const marks = input.value === "" ? undefined : pattern();
    if (marks === undefined) return;
    on.find(marks);
    try {
      const { lines, matches, olderOffset, firstHeld } = await api.log(id, { grep: grep(), limit: LINES });
      results.replaceChildren(...lines.map(({ number, text }) => result(number, text, marks)));
      results.scrollTop = results.scrollHeight;
      offerOlder(olderOffset, lines[0]?.number ?? 0, marks);
      const found = matches === 1 ? "1 line matches" : `${matches} lines match`;
      status.textContent = found + (firstHeld > 0 ? `; the first ${firstHeld} lines are not kept any more` : "");
    } catch (error) {
      status.textContent = /** @type {Error} */ (error).message;
    }
  }

  /**
   * @param {number | null} offset where older matches begin
   * @param {number} before number of the oldest match that is shown
   * @param {RegExp} marks
   */
  function offerOlder(offset, before, marks) {
    older.hidden = offset === null;
    older.onclick = async () => {
      try {
        const found = [];
        /** @type {import("./api.js").LogDetails} */
        let page;
        /** @type {number | null} */
        let olderStill = null;
        // A page ends early where its lines are long.
        for (let from = offset; from !== null && from < before; from = page.nextOffset) {
          page = await api.log(id, { grep: grep(), limit: LINES, offset: String(from) });
          if (from === offset) olderStill = page.olderOffset;
          found.push(...page.lines.filter(({ number }) => number < before));
        }
        offerOlder(olderStill, found[0]?.number ?? before, marks);
        results.prepend(...found.map(({ number, text }) => result(number, text, marks)));
      } catch (error) {
        status.textContent = /** @type {Error} */ (error).message;
      }
    };
  }

  /**
   * @param {number} number
   * @param {string} text
   * @param {RegExp} marks
   */
  function result(number, text, marks) {
    const button = make("button", { type: "button", title: "Show it on the terminal" });
    button.append(make("span", { class: "number", text: String(number + 1) }), ...marked(text, marks));
    button.addEventListener("click", () => on.find(text.trim().slice(0, 80)));
    return make("li", {}, button);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  ignoreCase.addEventListener("change", () => run());
  const hide = () => {
    if (element.hidden) return;
    element.hidden = true;
    on.closed();
  };
  close.addEventListener("click", hide);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  return {
    element,
    open: () => {
      element.hidden = false;
      input.focus();
      input.select();
    },
    close: hide,
  };
}

/**
 * A line with what matches marked.
 *
 * @param {string} text
 * @param {RegExp} marks global
 * @returns {readonly (Node | string)[]}
 */
function marked(text, marks) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(marks)) {
    if (match[0] === "") continue;
    parts.push(text.slice(from, match.index), make("mark", { text: match[0] }));
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)];
}
