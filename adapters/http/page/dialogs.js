/**
 * Dialogs: start a command, end one, the keyboard shortcuts.
 *
 * @module
 */
import { make } from "./dom.js";
import { SHORTCUTS } from "./shortcuts.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./api.js").Entry} Entry */

/** Where the directory of the last command is kept, for the next one. */
const DIRECTORY_KEPT_AS = "offstage-directory";

/**
 * Shows a modal dialog, removed once it is closed.
 *
 * @param {string} title
 * @param {...(Node | string)} content
 */
function open(title, ...content) {
  const heading = make("h2", { id: "dialog-title", text: title });
  const dialog = make("dialog", { class: "card", "aria-labelledby": "dialog-title" }, heading, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop: the content covers all else
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @param {() => HTMLDialogElement} dialog */
function cancelButton(dialog) {
  return make("button", { type: "button", text: "Cancel", on: { click: () => dialog().close() } });
}

/**
 * Asks for a command and starts it in the background.
 *
 * @param {Api} api
 * @param {() => { cols: number, rows: number } | undefined} room how large a terminal there is room for
 * @param {(id: string) => void} started
 */
export function askForCommand(api, room, started) {
  const command = make("textarea", {
    id: "command",
    rows: 3,
    required: true,
    spellcheck: "false",
    autocapitalize: "off",
    placeholder: "npm test",
    "aria-describedby": "command-hint",
  });
  const workdir = make("input", {
    id: "workdir",
    type: "text",
    spellcheck: "false",
    placeholder: "the server's own",
    value: sessionStorage.getItem(DIRECTORY_KEPT_AS) ?? "",
  });
  const timeout = make("input", {
    id: "timeout",
    type: "number",
    min: 0,
    step: "any",
    placeholder: "the server's default",
  });
  const pty = make("input", { id: "pty", type: "checkbox", checked: true });
  const error = make("p", { class: "error", role: "alert" });
  const start = make("button", { class: "primary", type: "submit", text: "Start" });
  const form = make(
    "form",
    {},
    make("label", { for: "command", text: "Command" }),
    command,
    make("p", { id: "command-hint", class: "muted", text: "Enter starts it, Shift+Enter makes a new line." }),
    make(
      "div",
      { class: "fields" },
      make("div", {}, make("label", { for: "workdir", text: "Directory" }), workdir),
      make("div", {}, make("label", { for: "timeout", text: "Time limit, seconds" }), timeout),
    ),
    make("label", { class: "check" }, pty, "In a terminal, for programs that draw or ask"),
    error,
    make("div", { class: "buttons" }, cancelButton(() => dialog), start),
  );
  const dialog = open("New command", form);
  command.focus();
  command.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    start.disabled = true;
    error.textContent = "";
    try {
      const directory = workdir.value.trim();
      sessionStorage.setItem(DIRECTORY_KEPT_AS, directory);
      const { text, isError, details } = await api.exec({
        command: command.value,
        background: true,
        pty: pty.checked,
        ...(pty.checked && room()),
        ...(directory !== "" && { workdir: directory }),
        ...(timeout.value !== "" && { timeout: timeout.valueAsNumber }),
      });
      const id = details["sessionId"];
      if (isError || typeof id !== "string") throw new Error(text);
      dialog.close();
      started(id);
    } catch (trouble) {
      error.textContent = /** @type {Error} */ (trouble).message;
    } finally {
      start.disabled = false;
    }
  });
}

/** The ways to end a command, from polite to not. `undefined` = the whole ladder. */
const WAYS = [
  { label: "Interrupt", signal: "SIGINT", hint: "Sends SIGINT, as Ctrl+C does" },
  { label: "End it", signal: undefined, hint: "Asks it to end, and kills what is left after a few seconds" },
  { label: "Kill at once", signal: "SIGKILL", hint: "Sends SIGKILL: it cannot clean up" },
];

/**
 * Asks how to end a session.
 *
 * @param {Entry} entry
 * @param {(signal: string | undefined) => void} chosen
 */
export function askHowToEnd(entry, chosen) {
  const rows = WAYS.map(({ label, signal, hint }) => {
    const choose = () => {
      dialog.close();
      chosen(signal);
    };
    const kind = label === "End it" ? "danger" : "";
    return make(
      "div",
      { class: "way" },
      make("button", {
        class: kind,
        type: "button",
        text: label,
        autofocus: label === "End it",
        on: { click: choose },
      }),
      make("span", { class: "muted", text: hint }),
    );
  });
  const dialog = open(
    "End this command?",
    make("p", { class: "mono", text: entry.name }),
    ...rows,
    make("div", { class: "buttons" }, cancelButton(() => dialog)),
  );
}

/** Lists the keyboard shortcuts. */
export function showShortcuts() {
  const rows = SHORTCUTS.map(({ keys, what }) =>
    make("tr", {}, make("td", {}, ...keys.map((key) => make("kbd", { text: key }))), make("td", { text: what }))
  );
  const dialog = open(
    "Keyboard",
    make("table", { class: "keys" }, make("tbody", {}, ...rows)),
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "button", text: "Close", on: { click: () => dialog.close() } }),
    ),
  );
}
