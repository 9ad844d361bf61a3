/**
 * Keys that work anywhere on the page, and those that also work while the terminal has the keyboard.
 *
 * @module
 */

/**
 * @typedef {object} Actions
 * @property {() => void} start
 * @property {() => void} filter
 * @property {() => void} list
 * @property {(by: number) => void} step
 * @property {() => void} search
 * @property {() => void} end
 * @property {() => void} theme
 * @property {() => void} help
 */

/** What the help lists. */
export const SHORTCUTS = [
  { keys: ["n"], what: "New command" },
  { keys: ["/"], what: "Filter sessions" },
  { keys: ["↑", "↓"], what: "In the list: previous, next session" },
  { keys: ["Enter"], what: "In the list: type into the session" },
  { keys: ["j", "k"], what: "Next, previous session" },
  { keys: ["f"], what: "Search the output" },
  { keys: ["x"], what: "End the command, or clear it from the list once it has ended" },
  { keys: ["t"], what: "Light, dark, as the system" },
  { keys: ["?"], what: "This list" },
  { keys: ["Ctrl", "Shift", "←"], what: "Also in the terminal: back to the list" },
  { keys: ["Ctrl", "Shift", "↑ ↓"], what: "Also in the terminal: previous, next session" },
  { keys: ["Ctrl", "Shift", "F"], what: "Also in the terminal: search the output" },
  { keys: ["Ctrl", "Shift", "C"], what: "In the terminal: copy what is selected" },
  { keys: ["Ctrl", "Shift", "V"], what: "In the terminal: paste" },
];

/**
 * @param {Actions} actions
 */
export function startShortcuts(actions) {
  /** @type {Record<string, () => void>} */
  const plain = {
    n: actions.start,
    "/": actions.filter,
    j: () => actions.step(1),
    k: () => actions.step(-1),
    f: actions.search,
    x: actions.end,
    t: actions.theme,
    "?": actions.help,
  };
  /** @type {Record<string, () => void>} */
  const everywhere = {
    ArrowLeft: actions.list,
    ArrowUp: () => actions.step(-1),
    ArrowDown: () => actions.step(1),
    KeyF: actions.search,
  };
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") !== null || event.defaultPrevented) return;
    const { ctrlKey, shiftKey, altKey, metaKey, key, code, target } = event;
    if (altKey || metaKey) return;
    const isTyping = target instanceof HTMLElement &&
      (target.matches("input, select, textarea:not([readonly])") || target.closest("[data-typing]") !== null);
    const action = ctrlKey ? (shiftKey ? everywhere[code] : undefined) : isTyping ? undefined : plain[key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
