/**
 * Light and dark: as the system has it, or as somebody has chosen.
 *
 * @module
 */
import { byId } from "./dom.js";

/** @typedef {"system" | "light" | "dark"} Choice */

const KEPT_AS = "offstage-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** @type {readonly Choice[]} */
const CHOICES = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {Choice} */
function choice() {
  const kept = localStorage.getItem(KEPT_AS);
  return CHOICES.find((each) => each === kept) ?? "system";
}

/** Whether it is dark now. */
export function isDark() {
  const chosen = choice();
  return chosen === "system" ? system.matches : chosen === "dark";
}

/**
 * @param {() => void} listener called after each change
 * @returns {() => void} ends it
 */
export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show() {
  const chosen = choice();
  const button = byId("theme");
  document.documentElement.dataset["theme"] = chosen;
  button.textContent = SIGNS[chosen];
  button.title = `Theme: ${chosen} (t)`;
  button.setAttribute("aria-label", `Theme: ${chosen}`);
  for (const listener of listeners) listener();
}

/** Goes on to the next choice. */
export function nextTheme() {
  const next = CHOICES[(CHOICES.indexOf(choice()) + 1) % CHOICES.length] ?? "system";
  localStorage.setItem(KEPT_AS, next);
  show();
}

/** Shows the theme now and follows the system. */
export function startTheme() {
  byId("theme").addEventListener("click", nextTheme);
  system.addEventListener("change", show);
  show();
}
