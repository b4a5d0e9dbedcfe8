// What a delta does to a list, how it is taken back, and where it carries places. Section 6 of the protocol's page.

import { changed, invertChange } from "./change.js";
import { DeltaBuilder, dropsWhatItPicks, isContent, oldCount, reachOf } from "./components.js";
import { ListBuilder } from "./list.js";
import { DoesNotFit } from "./splices.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./components.js').Drop} Drop */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./item.js').Item} Item */

/**
 * The list after the delta. Throws `DoesNotFit`, and then nothing has happened. Its cost is that of the components, the
 * items that they name, and the blocks of the list.
 * @param {List} list @param {Delta} delta
 * @returns {List}
 */
export function apply(list, delta) {
  if (delta.length === 0) return list;
  check(list, delta);
  const picked = pickedItems(list, delta);
  const builder = new ListBuilder(list);
  let at = 0;
  for (const component of delta) {
    if (component.op === "keep") builder.appendOld(at, at + component.count);
    else if (component.op === "edit") builder.append(changed(list.at(at), component.change));
    else if (component.op === "insert") for (const item of component.items) builder.append(item);
    if (component.op === "drop") {
      const { from, to, change } = component;
      if (change) builder.append(changed(picked[from], change));
      else for (let slot = from; slot < to; slot++) builder.append(picked[slot]);
    }
    at += oldCount(component);
  }
  builder.appendOld(at, list.count);
  return builder.finish();
}

/**
 * The delta that takes this one back: `apply(apply(list, delta), invert(list, delta))` is the list. Throws
 * `DoesNotFit`.
 * @param {List} list @param {Delta} delta
 * @returns {Delta}
 */
export function invert(list, delta) {
  check(list, delta);
  const picked = pickedItems(list, delta);
  const drops = sortedDrops(delta);
  const builder = new DeltaBuilder();
  let at = 0;
  let slot = 0;
  let next = 0;
  for (const component of delta) {
    if (component.op === "keep") builder.keep(component.count);
    else if (component.op === "edit") builder.edit(invertChange(list.at(at), component.change));
    else if (component.op === "delete") builder.insert(list.slice(at, at + component.count), "after");
    else if (component.op === "insert") builder.delete(component.items.length);
    else if (component.op === "drop") builder.pick(component.to - component.from);
    else {
      for (const end = slot + component.count; slot < end; ) {
        const { drop, first } = drops[next];
        const to = Math.min(drop.to, end);
        const change = drop.change && invertChange(picked[drop.from], drop.change);
        builder.drop(first + slot - drop.from, first + to - drop.from, "after", change);
        if (to === drop.to) next++;
        slot = to;
      }
    }
    at += oldCount(component);
  }
  return builder.finish();
}

/**
 * The indexes afterwards of those items that are not gone. O(components · log components + indexes)
 * @param {Delta} delta @param {readonly number[]} indexes in order
 */
export function mapIndexes(delta, indexes) {
  /** @type {{ slot: number, old: number, count: number }[]} */
  const picks = [];
  let [at, now, slot] = [0, 0, 0];
  for (const component of delta) {
    const count = oldCount(component);
    if (component.op === "pick") picks.push({ slot, old: at, count });
    if (component.op === "pick") slot += count;
    at += count;
  }
  /** @type {{ old: number, count: number, now: number }[]} what stays, or goes elsewhere */
  const runs = [];
  at = 0;
  for (const component of delta) {
    const count = newCount(component);
    if (component.op === "keep" || component.op === "edit") runs.push({ old: at, count, now });
    if (component.op === "drop") {
      const { from, to } = component;
      let [low, high] = [0, picks.length];
      while (low + 1 < high) {
        const middle = (low + high) >> 1;
        if (picks[middle].slot <= from) low = middle;
        else high = middle;
      }
      for (const pick of picks.slice(low)) {
        if (pick.slot >= to) break;
        const start = Math.max(from, pick.slot);
        const end = Math.min(to, pick.slot + pick.count);
        runs.push({ old: pick.old + start - pick.slot, count: end - start, now: now + start - from });
      }
    }
    at += oldCount(component);
    now += count;
  }
  runs.push({ old: at, count: Infinity, now });
  runs.sort((a, b) => a.old - b.old);
  let next = 0;
  return indexes.flatMap(index => {
    while (runs[next].old + runs[next].count <= index) next++;
    const { old, now } = runs[next];
    return index < old ? [] : [now + index - old];
  });
}

/**
 * How many items of the new list a component is.
 * @param {import('./components.js').Component} component
 */
export function newCount(component) {
  switch (component.op) {
    case "keep":
      return component.count;
    case "edit":
      return 1;
    case "insert":
      return component.items.length;
    case "drop":
      return component.to - component.from;
    default:
      return 0;
  }
}

/** @param {List} list @param {Delta} delta */
function check(list, delta) {
  const reach = reachOf(delta);
  if (reach > list.count) throw new DoesNotFit(`the delta walks over ${reach} items of ${list.count}`);
  if (!dropsWhatItPicks(delta)) throw new DoesNotFit("the delta does not drop what it picks");
}

/** @param {List} list @param {Delta} delta */
function pickedItems(list, delta) {
  /** @type {Item[]} */
  const picked = [];
  let at = 0;
  for (const component of delta) {
    if (component.op === "pick") for (const item of list.slice(at, at + component.count)) picked.push(item);
    at += oldCount(component);
  }
  return picked;
}

/**
 * The drops by their slots; `first` is how many items were dropped to the left.
 * @param {Delta} delta
 */
function sortedDrops(delta) {
  /** @type {{ drop: Drop, first: number }[]} */
  const drops = [];
  let first = 0;
  for (const component of delta) {
    if (component.op !== "drop") continue;
    drops.push({ drop: component, first });
    first += component.to - component.from;
  }
  return drops.sort((a, b) => a.drop.from - b.drop.from);
}
