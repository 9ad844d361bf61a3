/**
 * Short notes in a corner that go away by themselves.
 *
 * @module
 */
import { byId, make } from "./dom.js";

/** How long a note stays, ms: enough to read two lines twice. It stays longer under the pointer or the focus. */
const SHOWN_MS = 7_000;

/** More at a time would cover what they are about. */
const SHOWN_AT_ONCE = 4;

/**
 * @param {string} text
 * @param {"note" | "error"} [kind]
 */
export function toast(text, kind = "note") {
  const host = byId("toasts");
  const item = make(
    "div",
    { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" },
    make("p", { text }),
  );
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const dismiss = () => {
    clearTimeout(timer);
    item.remove();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(dismiss, SHOWN_MS);
  };
  for (const type of ["pointerenter", "focusin"]) item.addEventListener(type, () => clearTimeout(timer));
  for (const type of ["pointerleave", "focusout"]) item.addEventListener(type, wait);
  item.append(
    make("button", { class: "quiet", type: "button", "aria-label": "Dismiss", text: "×", on: { click: dismiss } }),
  );
  while (host.childElementCount >= SHOWN_AT_ONCE) host.firstElementChild?.remove();
  host.append(item);
  wait();
}

/**
 * Tells of something that went wrong.
 *
 * @param {unknown} error
 */
export function toastError(error) {
  toast(error instanceof Error ? error.message : String(error), "error");
}
