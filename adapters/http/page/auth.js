/**
 * The token: taken from the address or the form, kept for this tab.
 *
 * @module
 */
import { ApiError, createApi } from "./api.js";
import { byId } from "./dom.js";

/** @typedef {import("./api.js").Api} Api */

const KEPT_AS = "offstage-token";

/**
 * Takes a token out of the address (`#token=…`), so that it is not in the history and not copied along.
 */
export function takeTokenFromAddress() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token");
  if (token === null) return;
  fragment.delete("token");
  const rest = fragment.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest === "" ? "" : `#${rest}`));
  sessionStorage.setItem(KEPT_AS, token.trim());
}

/** Forgets the token. */
export function forgetToken() {
  sessionStorage.removeItem(KEPT_AS);
}

/**
 * The API once somebody has signed in: with the kept token, else with the form, which stays until a token is right.
 *
 * @param {string} [complaint] why the form is shown
 * @returns {Promise<Api>}
 */
export async function signIn(complaint = "") {
  const kept = sessionStorage.getItem(KEPT_AS);
  if (kept !== null) {
    const api = createApi(kept);
    const { status, text } = await troubleWith(api);
    // Of a server that does not answer just now, the list of sessions tells, and when it is back.
    if (status !== 401 && status !== 429) return api;
    complaint = text;
  }
  const view = byId("login");
  const input = /** @type {HTMLInputElement} */ (byId("token"));
  const form = /** @type {HTMLFormElement} */ (view.querySelector("form"));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const error = byId("login-error");
  view.hidden = false;
  error.textContent = complaint;
  input.value = "";
  input.focus();
  return await new Promise((resolve) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      button.disabled = true;
      const api = createApi(input.value.trim());
      const { status, text } = await troubleWith(api);
      button.disabled = false;
      error.textContent = text;
      if (status !== 200) return input.select();
      sessionStorage.setItem(KEPT_AS, api.token);
      input.value = "";
      view.hidden = true;
      resolve(api);
    };
  });
}

/**
 * Whether a token does (status 200), and else why not.
 *
 * @param {Api} api
 */
async function troubleWith(api) {
  try {
    await api.sessions();
    return { status: 200, text: "" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message } = error;
    if (status === 429) return { status, text: "Too many wrong tokens. Wait a little and try again." };
    if (status !== 401) return { status, text: `${message}.` };
    forgetToken();
    return { status, text: "This token is not valid here. The server prints the right one when it starts." };
  }
}
