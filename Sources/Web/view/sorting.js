// Putting a list in order, as one edit that moves as few items as possible. It is pure.

import { TASK } from "../client/item.js";
import { diff } from "../client/diff.js";
import { List } from "../client/list.js";

/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {{ item: Item, below: Item[] }} Branch an item of the first level, and all beneath it */

const texts = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * The delta that sorts a list: items of the first level, each with all beneath it. Equal ones keep their order.
 * @param {List} list @param {"text" | "done"} order
 */
export function sortedBy(list, order) {
  /** @type {Branch[]} */
  const branches = [];
  for (const item of list) {
    const last = branches[branches.length - 1];
    if (last && item.level > 0) last.below.push(item);
    else branches.push({ item, below: [] });
  }
  const isDone = (/** @type {Branch} */ { item }) => Number(item.kind === TASK && item.fields().done === true);
  branches.sort((a, b) => (order === "done" ? isDone(a) - isDone(b) : texts.compare(a.item.text, b.item.text)));
  return diff(list, List.of(branches.flatMap(({ item, below }) => [item, ...below])));
}
