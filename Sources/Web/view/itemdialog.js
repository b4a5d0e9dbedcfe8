// One item: its text as a whole, who has done what to it, and all that one can do with it.

import { LINK, TASK } from "../client/item.js";
import { textOf } from "../client/bytes.js";
import { kindName, lineOf } from "./content.js";
import { openMenu } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { keysOf, roleFor } from "./keys.js";
import { pastOf } from "./past.js";
import { agoText, errorText } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('./keys.js').ActionName} ActionName */

/** The most steps of an item's past that are shown. */
const MOST_STEPS = 20;

/**
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
    ["Edit", "edit"], [done ? "Untick" : "Tick", "tick"], ["Add below", "addBelow"], ["Add above", "addAbove"],
    ["Move up", "moveUp"], ["Move down", "moveDown"], ["Move to the top", "moveTop"], ["Move to the end", "moveEnd"],
    ["Move to…", "moveTo"], ["Further in", "indent"], ["Further out", "outdent"], ["Move to another list…", "toList"],
    ["Copy to another list…", "copyToList"], ["Copy", "copy"], ["Select several", "pick"],
    ["Delete", "delete"],
  ];
  const hasLevels = (open.subscription.rules?.maximumLevel ?? 0) > 0;
  const fits = (/** @type {string} */ action) =>
    (action !== "tick" || item.kind === TASK) && (action !== "edit" || text !== undefined) &&
    (hasLevels || (action !== "indent" && action !== "outdent")) && !app.refusal(open.name, roleFor(action));
  const past = h("ul", { class: "past", "aria-live": "polite" }, h("li", {}, "Reading its history…"));
  const above = [
    h("p", { class: "whole", dir: "auto" }, text ? item.text : lineOf(item)),
    item.kind === LINK ? h("p", { class: "address", dir: "ltr" }, textOf(url ?? new Uint8Array(0))) : undefined,
    h("p", { class: "note" }, `${kindName(item.kind)}, number ${index + 1} of ${view.count}`),
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
    fill(past, ...steps, h("li", {}, errorText(error instanceof Error ? error.name : "")));
  }
}
