/**
 * The page: signs in, then shows the list and the selected session.
 *
 * @module
 */
import { forgetToken, signIn, takeTokenFromAddress } from "./auth.js";
import { askForCommand, askHowToEnd, showShortcuts } from "./dialogs.js";
import { announce, byId, make } from "./dom.js";
import { stateOf } from "./format.js";
import { createList } from "./list.js";
import { watchSessions } from "./sessions.js";
import { showSession } from "./session_view.js";
import { startShortcuts } from "./shortcuts.js";
import { nextTheme, startTheme } from "./theme.js";
import { toast, toastError } from "./toasts.js";
import { loadXterm } from "./xterm_loader.js";

/** @typedef {import("./api.js").Entry} Entry */

/** What a new command's terminal has when none is shown to measure by. */
const USUAL_SIZE = { cols: 100, rows: 30 };

takeTokenFromAddress();
addEventListener("hashchange", () => {
  // A token pasted into the address of the open page
  if (new URLSearchParams(location.hash.slice(1)).has("token")) {
    takeTokenFromAddress();
    location.reload();
  }
});
startTheme();
start(await signIn());

/** @param {import("./api.js").Api} api */
function start(api) {
  const app = byId("app");
  const place = byId("session");
  const connection = byId("connection");
  const clearEnded = byId("clear-ended");
  /** @type {import("./session_view.js").SessionView | undefined} */
  let view;
  /** @type {string | undefined} what the address says, whether it is there or not */
  let selected = new URLSearchParams(location.hash.slice(1)).get("session") ?? undefined;
  let isFirstLook = true;

  const list = createList({
    select,
    open: async (id) => {
      await select(id);
      view?.focus();
    },
  });

  const sessions = watchSessions(api, {
    changed: (entries, before) => {
      connection.textContent = "";
      announceChanges(before, entries);
      list.show(entries, sessions.at);
      const ended = entries.filter(({ status }) => status !== "running").length;
      clearEnded.hidden = ended === 0;
      clearEnded.textContent = `Clear ended (${ended})`;
      const entry = entries.find(({ sessionId }) => sessionId === selected);
      if (isFirstLook) {
        isFirstLook = false;
        if (entry === undefined) selected = undefined;
        if (entry === undefined) showNothing();
        else void select(entry.sessionId);
      } else if (entry === undefined) {
        if (selected !== undefined) leave();
        else if (view === undefined) showNothing();
      } else if (view?.id === entry.sessionId) view.update(entry);
      document.title = titleOf(entries);
    },
    lost: (error, retryMs) => {
      if (error.status === 401) return location.reload(); // the form then says why
      connection.textContent = `${error.message}. Next try in ${Math.round(retryMs / 1000)} s.`;
      if (isFirstLook) showNothing();
    },
    back: () => announce("The server answers again"),
  });

  /** @param {string} id */
  async function select(id) {
    selected = id;
    remember(id);
    list.select(id);
    document.body.dataset["view"] = "session";
    if (view?.id === id) return;
    const xterm = await loadXterm().catch((error) => {
      toastError(error);
      if (selected === id) place.replaceChildren(make("p", { class: "error none", text: error.message }));
      return undefined;
    });
    const entry = sessions.entries.find(({ sessionId }) => sessionId === id);
    if (xterm === undefined || entry === undefined || selected !== id || view?.id === id) return;
    view?.close();
    view = showSession(place, api, xterm, entry, { end: endSelected, back: leaveOnNarrow, look: sessions.look });
  }

  /** The selected session is not there any more. */
  function leave() {
    selected = undefined;
    remember(undefined);
    view?.close();
    view = undefined;
    list.select(undefined);
    delete document.body.dataset["view"];
    showNothing();
  }

  function leaveOnNarrow() {
    delete document.body.dataset["view"];
    list.focus();
  }

  function showNothing() {
    const isEmpty = sessions?.entries.length === 0;
    place.replaceChildren(make(
      "div",
      { class: "none" },
      make("h2", { text: isEmpty ? "Nothing runs here yet" : "No session selected" }),
      make("p", {
        class: "muted",
        text: isEmpty
          ? "Start a command here, or over the API with the same token. It shows up in the list at once."
          : "Select one in the list to see its output and type into it.",
      }),
      make("button", { class: "primary", type: "button", text: "New command", on: { click: startCommand } }),
      make("pre", { class: "example", text: curlLine() }),
    ));
  }

  function startCommand() {
    askForCommand(api, () => view?.room() ?? USUAL_SIZE, async (id) => {
      await sessions.look();
      await select(id);
      view?.focus();
    });
  }

  function endSelected() {
    const entry = sessions.entries.find(({ sessionId }) => sessionId === selected);
    if (entry === undefined) return;
    if (entry.status !== "running") return void act(entry, "clear");
    askHowToEnd(entry, (signal) => void act(entry, "kill", signal === undefined ? {} : { signal }));
  }

  /**
   * @param {Entry} entry
   * @param {"kill" | "clear"} action
   * @param {object} [parameters]
   */
  async function act(entry, action, parameters) {
    try {
      await api.act(entry.sessionId, action, parameters);
      if (action === "clear") announce(`${entry.name} cleared`);
    } catch (error) {
      toastError(error);
    }
    await sessions.look();
  }

  clearEnded.addEventListener("click", async () => {
    const ended = sessions.entries.filter(({ status }) => status !== "running");
    let cleared = 0;
    try {
      for (const { sessionId } of ended) {
        await api.act(sessionId, "clear");
        cleared++;
      }
    } catch (error) {
      toastError(error);
    }
    toast(cleared === 1 ? "1 session cleared" : `${cleared} sessions cleared`);
    await sessions.look();
  });

  byId("new").addEventListener("click", startCommand);
  byId("help").addEventListener("click", showShortcuts);
  byId("sign-out").addEventListener("click", signOut);
  startShortcuts({
    start: startCommand,
    filter: () => byId("filter").focus(),
    list: () => {
      delete document.body.dataset["view"];
      list.focus();
    },
    step: list.step,
    search: () => view?.search(),
    end: endSelected,
    theme: nextTheme,
    help: showShortcuts,
  });
  app.hidden = false;
}

function signOut() {
  forgetToken();
  location.hash = "";
  location.reload();
}

/**
 * Keeps the selected session in the address, for a reload.
 *
 * @param {string | undefined} id
 */
function remember(id) {
  const address = id === undefined ? location.pathname + location.search : `#${new URLSearchParams({ session: id })}`;
  history.replaceState(null, "", address);
}

/** @param {readonly Entry[]} entries */
function titleOf(entries) {
  const waiting = entries.filter((entry) => stateOf(entry).tone === "waiting").length;
  return waiting === 0 ? "Offstage" : `(${waiting}) Offstage`;
}

/**
 * Tells those who listen and do not look.
 *
 * @param {readonly Entry[]} before
 * @param {readonly Entry[]} after
 */
function announceChanges(before, after) {
  const known = new Map(before.map((entry) => [entry.sessionId, stateOf(entry).words]));
  const news = after.flatMap((entry) => {
    const was = known.get(entry.sessionId);
    const { tone, words } = stateOf(entry);
    return was === undefined || was === words || tone === "running" ? [] : [`${entry.name}: ${words}`];
  });
  if (news.length > 0) announce(news.join(". "));
}

/** A command line that starts a command over the API. */
function curlLine() {
  return [
    `curl ${new URL("../../v1/exec", import.meta.url)}`,
    '-H "Authorization: Bearer $TOKEN"',
    '-H "Content-Type: application/json"',
    `-d '{"command": "npm test", "background": true}'`,
  ].join(" \\\n  ");
}
