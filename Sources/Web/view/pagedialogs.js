// The dialogs of the page: keys, people, sharing, the menu of a list, one item and who has done what to it, the
// connection.

import { bytesOf, textOf } from "../client/bytes.js";
import { insertedItems } from "../client/components.js";
import { newCount } from "../client/delta.js";
import { LINK, TASK } from "../client/item.js";
import { commitsOf } from "../client/requests.js";
import { amount, kindName, lineOf, nameOf } from "./content.js";
import { ask, confirmThat, openDialog, openMenu } from "./dialogs.js";
import { button, fill, h } from "./dom.js";
import { originOf } from "./edits.js";
import { nameProblem } from "./identity.js";
import { ACTIONS, NO_LETTERS, keysOf, roleFor } from "./keys.js";
import { fragmentOf, linkOf } from "./route.js";
import { agoText, errorText, wordsOfChange } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./keys.js').ActionName} ActionName */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/codec.js').Commit} Commit */

/** The most steps of an item's past that are shown. */
const MOST_STEPS = 20;
/** How many commits are read at once. */
const AT_ONCE = 200;

/** @param {App} app */
export function showHelp(app) {
  const letters = h("input", { type: "checkbox", checked: app.client.settings.get(NO_LETTERS) !== true });
  letters.addEventListener("change", () => app.client.settings.set(NO_LETTERS, letters.checked ? undefined : true));
  openDialog("Keys", () => [
    note("While a row has the focus. Left and right go through its parts. Everything is in the menus, too."),
    note("A click with Shift or Ctrl selects rows. Ctrl with C, X or V copies, cuts or pastes."),
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
        if (entry.item !== undefined) app.goToItem(entry.item, open.name);
      });
      const person = h("bdi", { class: "who" }, entry.person ?? "");
      fill(who, h("span", { dir: "auto" }, person, `${entry.author === author ? " (you)" : ""}, `, words));
      return h("li", {}, who);
    })),
    people.here.size === 0 && note("Nobody else is here."),
  ]);
}

/** @param {App} app @param {string} list */
export function showShare(app, list) {
  const address = `${location.origin}${location.pathname}${fragmentOf({ list })}`;
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  openDialog(`Share ${list}`, close => [
    h("p", { class: "whole", dir: "ltr" }, address),
    isLocal && note(`${location.host} is this machine. Others need its name or address in their network.`),
    note(`The address holds no token. Whoever runs the server makes a link for somebody with: hand share ${list}`),
    // Pages without TLS may not copy.
    navigator.clipboard && h("p", { class: "buttons" }, button("Copy", () => {
      close();
      navigator.clipboard.writeText(address)
        .then(() => app.toast("Copied."), () => app.toast("The browser does not let pages copy."));
    })),
  ]);
}

/** @param {App} app @param {ListScreen} screen */
export function showListMenu(app, screen) {
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
  const allowed = entries.filter(([, action]) => !app.refusal(screen.open, roleFor(action)));
  // This menu is about no item.
  const act = (/** @type {ActionName} */ action) =>
    action === "pick" ? screen.actions.pickAny() : screen.perform(action);
  openMenu(screen.name, allowed.map(([name, action]) => [name, () => act(action), keysOf(action)[0]]));
}

/**
 * Asks for a link, since an installed page does not share what the browser's page knows.
 * @param {App} app
 */
export function askLink(app) {
  ask("Open a link", {
    label: "The link that you were given", ok: "Open", note: "It begins with https:// and has a token behind the #.",
  }, text => {
    const route = linkOf(text, location.host);
    if (typeof route === "string") return app.toast(route);
    const token = route.token ? `&token=${encodeURIComponent(route.token)}` : "";
    location.hash = `${fragmentOf({ list: route.list })}${token}`;
  });
}

/**
 * The connection, what waits for it, and what the device keeps.
 * @param {App} app
 */
export function showConnection(app) {
  const { connection, storage, waiting } = app.client;
  const { clients } = app;
  const { elsewhere } = clients;
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
  const verb = elsewhere.count === 1 ? "waits" : "wait";
  const isOnline = connection.state === "online";
  const how = isOnline ? app.badgeText : connection.reason ? errorText(connection.reason) : connection.state;
  openDialog("Connection", close => [
    h("p", {}, how.replace(/[^.…]$/, "$&.")),
    note(`${isOnline ? "Connected" : "That began"} ${agoText(connection.since, Date.now())}.`),
    note(`${clients.host}, as ${clients.me || "a guest"}`),
    h("p", {}, kept),
    storage.isPersisted !== undefined && storage.state === "kept" && note(promise),
    app.offlineProblem !== undefined && note(app.offlineProblem),
    waiting.count > 0 && h("p", {}, `${amount(waiting.count, "edit")} only on this device${since}.`),
    elsewhere.count > 0 && h("p", {}, `${amount(elsewhere.count, "edit")} ${verb} under another link. ${why}`),
    h("p", { class: "buttons" },
      !isOnline && connection.state !== "stopped" && button("Try again now", () => (close(), app.client.retry())),
      waiting.count + elsewhere.count > 0 && button("Save them as a text", () => save(clients.exportWaiting())),
      elsewhere.reason === "notAuthenticated" && connection.state !== "stopped"
        && button("Send them with this link", () => (close(), clients.bequeath())),
      ...clients.stuck.map(one => {
        const what = one.name ? `the edits of “${one.name}”` : "what cannot be read";
        const words = `${errorText(one.reason)} What you did in it, and nobody else has, is forgotten.`;
        return button(`Discard ${what}`, () => {
          close();
          confirmThat(`Discard ${amount(one.count, "edit")}?`, words, "Discard", () => app.discard(one));
        }, { class: "grave" });
      }),
      clients.hasName && button("Change my name", () => (close(), askName(clients))),
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

/** @param {import('./clients.js').Clients} clients */
function askName(clients) {
  const question = { label: "As others will see it", value: clients.said, ok: "Change", problem: nameProblem };
  ask("Your name", question, name => clients.rename(name));
}

/** @param {string} text */
function note(text) {
  return h("p", { class: "note" }, text);
}

/**
 * One item: its text as a whole, its past, and all that one can do with it.
 * @param {App} app @param {OpenList} open @param {string} id @param {(action: ActionName) => void} perform
 */
export function openItem(app, open, id, perform) {
  const { view, confirmed, revision } = open.replica;
  const index = view.indexOf(id);
  if (index < 0) return;
  const item = view.at(index);
  const { text, url, done } = item.fields();
  /** @type {[string, ActionName][]} */
  const all = [
    ["Edit", "edit"], ["Edit the address…", "editAddress"], [done ? "Untick" : "Tick", "tick"],
    ["Add below", "addBelow"], ["Add above", "addAbove"], ["Move up", "moveUp"], ["Move down", "moveDown"],
    ["Move to the top", "moveTop"], ["Move to the end", "moveEnd"], ["Move to…", "moveTo"], ["Further in", "indent"],
    ["Further out", "outdent"], ["Move to another list…", "toList"], ["Copy to another list…", "copyToList"],
    ["Cut", "cut"], ["Copy", "copy"], ["Paste below", "paste"], ["Select several", "pick"], ["Delete", "delete"],
    ["Delete with sub-items", "deleteBranch"],
  ];
  const fits = (/** @type {string} */ action) => (action !== "deleteBranch" || view.subItems(index) > 0) &&
    (action !== "tick" || item.kind === TASK) && (action !== "edit" || text !== undefined) &&
    (action !== "editAddress" || url !== undefined) &&
    (!open.takesOnlyCards || !action.startsWith("add")) &&
    (open.most > 0 || (action !== "indent" && action !== "outdent")) &&
    !app.refusal(open, roleFor(action));
  const past = h("ul", { class: "past", "aria-live": "polite" }, h("li", {}, "Reading its history…"));
  const above = [
    h("p", { class: "whole", dir: "auto" }, text ? item.text : lineOf(item)),
    item.kind === LINK && h("p", { class: "address", dir: "ltr" }, textOf(url ?? new Uint8Array(0))),
    note(`${kindName(item.kind)}, number ${index + 1} of ${view.count}`),
    past,
  ];
  openMenu(
    "Item",
    all.filter(([, action]) => fits(action)).map(([name, action]) => [name, () => perform(action), keysOf(action)[0]]),
    above,
  );
  showPast(app, open, past, revision, confirmed.indexOf(id));
}

/**
 * @param {App} app @param {OpenList} open @param {HTMLElement} past @param {number} revision @param {number} index
 */
async function showPast(app, open, past, revision, index) {
  if (index < 0) return fill(past, h("li", {}, "Only this device has it so far."));
  const steps = [];
  try {
    for await (const { time, who, what } of pastOf(app.client, open.name, revision, index)) {
      if (!past.isConnected) return;
      const when = h(
        "time",
        { dateTime: new Date(time).toISOString(), title: new Date(time).toLocaleString() },
        agoText(time, Date.now()),
      );
      steps.push(h("li", {}, h("bdi", {}, who), ` ${what}, `, when));
      if (steps.length === MOST_STEPS) break;
    }
    fill(past, ...(steps.length > 0 ? steps : [h("li", {}, "Its history is not kept.")]));
  } catch (error) {
    fill(past, ...steps, h("li", {}, errorText(error)));
  }
}

/**
 * The steps of an item that is at an index in a revision, newest first. It ends when the item was added, when nothing
 * is kept of it, or when the reader stops. Fails as requests do.
 * @param {Client} client @param {string} name @param {number} revision @param {number} index
 */
async function* pastOf(client, name, revision, index) {
  let at = index;
  for (let last = revision; last > 0; last -= AT_ONCE) {
    const from = Math.max(1, last - AT_ONCE + 1);
    const commits = await commitsOf(client, name, from, last);
    for (const { commit, who } of commits.reverse()) {
      const { old, does } = originOf(commit.delta, at);
      const { revision, time } = commit;
      if (does !== undefined) yield { revision, time, who, what: wordsOf(commit, at, does) };
      if (old === undefined) return;
      at = old;
    }
    // Earlier commits are not kept.
    if (commits.length < last - from + 1) return;
  }
}

/** @param {Commit} commit @param {number} index @param {"inserted" | "edited" | "moved"} does */
function wordsOf({ delta }, index, does) {
  if (does === "inserted") return insertedItems(delta).length > 1 ? "added, with others" : "added";
  let now = 0;
  for (const component of delta) {
    now += newCount(component);
    if (now <= index) continue;
    const words = "change" in component && component.change ? wordsOfChange(component.change) : "";
    return does === "edited" ? words : words ? `moved, ${words}` : "moved";
  }
  return "moved";
}
