// The dialogs of the page: keys, people, sharing, what was overridden, the menu of a list, the connection.

import { bytesOf } from "../client/bytes.js";
import { amount, nameOf } from "./content.js";
import { ask, openDialog, openMenu } from "./dialogs.js";
import { button, fill, h } from "./dom.js";
import { ACTIONS, NO_LETTERS, keysOf } from "./keys.js";
import { fragmentOf, routeOf } from "./route.js";
import { agoText, errorText } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./keys.js').ActionName} ActionName */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/client.js').OpenList} OpenList */

/** @param {App} app */
export function showHelp(app) {
  const letters = h("input", { type: "checkbox", checked: app.client.settings.get(NO_LETTERS) !== true });
  letters.addEventListener("change", () => app.client.settings.set(NO_LETTERS, letters.checked ? undefined : true));
  openDialog("Keys", () => [
    h(
      "p",
      { class: "note" },
      "While a row has the focus. Everything is in the menus, too. Left and right go through a row's parts.",
    ),
    h("label", { class: "choice" }, letters, "Letters and signs are keys, too"),
    h("dl", { class: "keys" }, ...Object.entries(ACTIONS).flatMap(([name, [words]]) => [
      h("dt", {}, ...keysOf(/** @type {ActionName} */ (name)).map(key => h("kbd", {}, key))), h("dd", {}, words),
    ])),
  ]);
}

/** @param {App} app @param {OpenList} open */
export function showPeople(app, open) {
  const { people, author } = open.subscription;
  openDialog("People", close => [
    h("ul", { class: "menu" }, ...[...people.here.values()].map(entry => {
      const item = entry.item === undefined ? -1 : open.replica.view.indexOf(entry.item);
      const place = item < 0 ? "" : ` ${item + 1}: ${nameOf(open.replica.view.at(item))}`;
      const words = entry.place === 4 ? "away"
        : place === "" ? "here"
        : `${entry.place === 3 ? "editing" : "at"}${place}`;
      const who = button("", () => {
        close();
        if (entry.item !== undefined) app.goToItem(entry.item);
      });
      const person = h("bdi", { class: "who" }, entry.person ?? "");
      fill(who, h("span", { dir: "auto" }, person, `${entry.author === author ? " (you)" : ""}, `, words));
      return h("li", {}, who);
    })),
    people.here.size === 0 ? h("p", { class: "note" }, "Nobody else is here.") : undefined,
  ]);
}

/** @param {App} app @param {string} list */
export function showShare(app, list) {
  const address = `${location.origin}${location.pathname}${fragmentOf({ list })}`;
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  openDialog(`Share ${list}`, close => [
    h("p", { class: "whole", dir: "ltr" }, address),
    isLocal
      ? h("p", { class: "note" }, `${location.host} is this machine. Others need its name or address in their network.`)
      : undefined,
    h(
      "p",
      { class: "note" },
      `The address holds no token. Whoever runs the server makes a link for somebody with: hand share ${list}`,
    ),
    h("p", { class: "buttons" }, button("Copy", () => {
      close();
      navigator.clipboard?.writeText(address)
        .then(() => app.toast("Copied."), () => app.toast("The browser does not let pages copy."));
    })),
  ]);
}

/** @param {{ text: string, lost: string }[]} notices @param {(lost: string) => void} retrieve */
export function showNotices(notices, retrieve) {
  openDialog("What was overridden or not taken", close => [
    notices.length === 0 ? h("p", { class: "note" }, "Nothing, since the page was opened.") : undefined,
    h("ul", { class: "past" }, ...notices.map(({ text, lost }) =>
      h("li", { dir: "auto" }, text, " ", lost ? button("Get it back", () => (close(), retrieve(lost))) : undefined))),
  ]);
}

/** @param {ListScreen} screen */
export function showListMenu(screen) {
  /** @type {[string, ActionName][]} */
  const entries = [
    ["Find in the list", "filter"], ["Hide ticked, or show them", "hideTicked"],
    ["Ticked last, or in their places", "tickedLast"],
    ["Only tasks that name me", "mine"], ["Untick all", "untickAll"], ["Delete what is ticked", "clearTicked"],
    ["Sort", "sort"],
    ["Fold or unfold everything", "foldAll"], ["Select several", "pick"], ["Select everything", "selectAll"],
    ["Paste", "paste"], ["Next new item", "nextNew"],
    ["History", "history"], ["People", "people"], ["Overridden or not taken", "notices"], ["Share", "share"],
    ["Keys", "help"],
  ];
  openMenu(screen.name, entries.map(([name, action]) => [name, () => screen.perform(action), keysOf(action)[0]]));
}

/**
 * Asks for a link, since an installed page does not share what the browser's page knows.
 * @param {App} app
 */
export function askLink(app) {
  ask("Open a link", {
    label: "The link that you were given", ok: "Open", note: "It begins with https:// and has a token behind the #.",
  }, text => {
    const { list, token } = routeOf(text.slice(text.indexOf("#")));
    if (!text.includes("#") || !list) return app.toast("That is no link to a list.");
    location.hash = `#list=${encodeURIComponent(list)}${token ? `&token=${encodeURIComponent(token)}` : ""}`;
  });
}

/**
 * The connection, what waits for it, and what the device keeps.
 * @param {App} app
 */
export function showConnection(app) {
  const { connection, storage, waiting } = app.client;
  const { elsewhere } = app;
  const lost = "They are lost if you close the page before the server has them.";
  const kept = {
    kept: "Edits are kept on this device until the server has them.",
    opening: "The storage of the device is being opened.",
    failed: `This browser does not keep edits: ${storage.reason} ${lost}`,
    none: `This browser does not keep edits. ${lost}`,
  }[storage.state];
  const promise = storage.isPersisted
    ? "The browser has promised not to delete them by itself."
    : "The browser may delete them when space is short, or after some days without a visit.";
  const since = waiting.since ? `, the oldest from ${agoText(waiting.since, Date.now())}` : "";
  const why = elsewhere.reason ? errorText(elsewhere.reason) : "";
  const note = (/** @type {string} */ text) => h("p", { class: "note" }, text);
  openDialog("Connection", close => [
    h("p", {}, `${app.badgeText}, ${agoText(connection.since, Date.now())}.`),
    note(`${app.host}, as ${app.me || "a guest"}`),
    h("p", {}, kept),
    storage.isPersisted !== undefined && storage.state === "kept" ? note(promise) : undefined,
    app.offlineProblem ? note(app.offlineProblem) : undefined,
    waiting.count > 0 ? h("p", {}, `${amount(waiting.count, "edit")} only on this device${since}.`) : undefined,
    elsewhere.count > 0 ? h("p", {}, `${amount(elsewhere.count, "edit")} with another link wait. ${why}`) : undefined,
    h("p", { class: "buttons" },
      waiting.count + elsewhere.count > 0 ? button("Save them as a text", () => save(app.exportWaiting())) : undefined,
      app.hasName ? button("Change my name", () => (close(), askName(app))) : undefined,
      button("Open a link", () => (close(), askLink(app)))),
  ]);
}

/**
 * Saves a text as a file.
 * @param {string} text
 */
export function save(text) {
  const file = URL.createObjectURL(new Blob([bytesOf(text)], { type: "text/plain" }));
  h("a", { href: file, download: "edits.txt" }).click();
  URL.revokeObjectURL(file);
}

/** @param {App} app */
function askName(app) {
  ask("Your name", { label: "As others will see it", value: app.me, ok: "Change" }, name => app.rename(name));
}
