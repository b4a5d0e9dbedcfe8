// Edits by index, as people make them: of one item, or of several runs at once, such as a selection. It is pure.

import { changed } from "../client/change.js";
import { DeltaBuilder, oldCount } from "../client/components.js";
import { mapIndexes, newCount } from "../client/delta.js";
import { diff } from "../client/diff.js";
import { CARD, HEADING, TASK } from "../client/item.js";
import { List } from "../client/list.js";
import { shownLevels } from "./rows.js";
import { compareKeys, orderKey } from "./texts.js";

/** @typedef {import('../client/change.js').Change} Change */
/** @typedef {import('../client/components.js').Delta} Delta */
/** @typedef {import('../client/components.js').Side} Side */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {readonly [from: number, to: number]} Run some neighbours; runs are sorted, and do not overlap */

/** @param {readonly Item[]} items @param {number} gap @param {Side} side */
export function inserting(items, gap, side) {
  const builder = new DeltaBuilder();
  builder.keep(gap);
  builder.insert(items, side);
  return builder.finish();
}

/**
 * Deletes some runs. Their sub-items that stay become sub-items of what is left above them; siblings stay siblings.
 * @param {List} list @param {readonly Run[]} runs none of them empty
 */
export function removing(list, runs) {
  const builder = new DeltaBuilder();
  for (let next = 0, end = 0; next < runs.length; ) {
    let index = runs[next][0];
    let shown = list.shownLevel(index);
    /** @type {{ shown: number, goes: boolean }[]} what the item belongs to, from the left, and whether that goes */
    const above = [];
    for (;;) {
      while (above.length > 0 && above[above.length - 1].shown >= shown) above.pop();
      const goes = next < runs.length && runs[next][0] <= index;
      const level = shown - above.filter(({ goes }) => goes).length;
      if (!goes && level === shown) break;
      builder.keep(index - end);
      if (goes) builder.delete(1);
      else builder.edit(list.at(index).level === level ? undefined : { level });
      above.push({ shown, goes });
      end = ++index;
      if (next < runs.length && runs[next][1] === index) next++;
      if (index === list.count) break;
      shown = Math.min(list.at(index).level, shown + 1);
    }
  }
  return builder.finish();
}

/**
 * Changes each item of some runs.
 * @param {List} list @param {readonly Run[]} runs @param {(item: Item, index: number) => Change | undefined} change
 */
export function changing(list, runs, change) {
  return walking(runs, (builder, [from, to]) => {
    for (const [i, item] of list.slice(from, to).entries()) builder.edit(change(item, from + i));
  });
}

/**
 * Moves the items of some runs, in their order, to the gap in front of the item at `gap`, counted before the move.
 * @param {readonly Run[]} runs @param {number} gap @param {Side} side
 */
export function moving(runs, gap, side) {
  // A run around the gap is two runs.
  const parts = runs.flatMap(([from, to]) => {
    const split = Math.min(Math.max(gap, from), to);
    return /** @type {Run[]} */ ([[from, split], [split, to]]).filter(([start, end]) => start < end);
  });
  const builder = new DeltaBuilder();
  const total = parts.reduce((sum, [from, to]) => sum + to - from, 0);
  let at = 0;
  const pick = (/** @type {Run} */ [from, to]) => {
    builder.keep(from - at);
    builder.pick(to - from);
    at = to;
  };
  for (const part of parts) if (part[1] <= gap) pick(part);
  builder.keep(gap - at);
  at = gap;
  builder.drop(0, total, side);
  for (const part of parts) if (part[0] >= gap) pick(part);
  return builder.finish();
}

/**
 * The runs of some indexes.
 * @param {Iterable<number>} indexes
 * @returns {Run[]}
 */
export function runsOf(indexes) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const index of [...new Set(indexes)].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last?.[1] === index) last[1]++;
    else runs.push([index, index + 1]);
  }
  return runs;
}

/**
 * The runs with all sub-items of their items.
 * @param {List} list @param {readonly Run[]} runs
 */
export function branchesOf(list, runs) {
  const indexes = [];
  for (const [from, to] of runs) {
    let [end, least] = [to, Infinity];
    // Only items that are shown further left than all below them can have sub-items beyond the run.
    for (let i = to - 1; i >= from && least > 0; i--) {
      const shown = list.shownLevel(i);
      if (shown < least) [least, end] = [shown, Math.max(end, i + 1 + list.subItems(i))];
    }
    for (let i = from; i < end; i++) indexes.push(i);
  }
  return runsOf(indexes);
}

/**
 * Where an item of the new list was before a delta: its index, or nothing if the delta has inserted it; and whether the
 * delta names it.
 * @param {Delta} delta @param {number} index
 * @returns {{ old: number | undefined, does: "inserted" | "edited" | "moved" | undefined }}
 */
export function originOf(delta, index) {
  /** @type {number[]} */
  const picked = [];
  let at = 0;
  for (const component of delta) {
    if (component.op === "pick") for (let i = 0; i < component.count; i++) picked.push(at + i);
    at += oldCount(component);
  }
  let within = index;
  at = 0;
  for (const component of delta) {
    const count = newCount(component);
    if (within < count) {
      if (component.op === "insert") return { old: undefined, does: "inserted" };
      if (component.op === "drop") return { old: picked[component.from + within], does: "moved" };
      return { old: at + within, does: component.op === "edit" ? "edited" : undefined };
    }
    within -= count;
    at += oldCount(component);
  }
  return { old: at + within, does: undefined };
}

/**
 * The ids of the items that are left of what some deltas, one after the other, have added, changed or moved.
 * O(components and touched items, sorted, of each delta)
 * @param {readonly Delta[]} deltas @param {List} list after them
 */
export function touchedBy(deltas, list) {
  /** @type {ReadonlySet<number>} */
  let touched = new Set();
  for (const delta of deltas) {
    const now = new Set(mapIndexes(delta, [...touched].sort((a, b) => a - b)));
    let at = 0;
    for (const component of delta) {
      const end = at + newCount(component);
      const isTouched = ["insert", "edit", "drop"].includes(component.op);
      for (; at < end; at++) if (isTouched) now.add(at);
    }
    touched = now;
  }
  return new Set([...touched].map(index => list.at(index).id));
}

/**
 * Sorts a list, moving as few items as possible: siblings, each with all beneath it. Headings keep their places, and
 * equal ones their order.
 * @param {List} list @param {"text" | "done"} order
 */
export function sortedBy(list, order) {
  const items = [...list];
  const levels = shownLevels(items, -1);
  const keys = items.map(item => {
    if (order === "done") return item.kind === TASK && item.fields().done === true ? "1" : "0";
    return orderKey(item.kind === CARD ? `${item.fields().card}` : item.text);
  });
  /** @type {(from: number, to: number) => number[]} */
  const sorted = (from, to) => {
    /** @type {number[][][]} branches between headings */
    const sections = [[]];
    for (let at = from; at < to; ) {
      let end = at + 1;
      while (end < to && levels[end] > levels[at]) end++;
      const branch = [at, ...sorted(at + 1, end)];
      if (items[at].kind === HEADING) sections.push([branch], []);
      else sections[sections.length - 1].push(branch);
      at = end;
    }
    return sections.flatMap(section => section.sort(([a], [b]) => compareKeys(keys[a], keys[b]))).flat();
  };
  let above = -1;
  return diff(list, List.of(sorted(0, items.length).map(i => {
    const level = levels[i];
    const isRight = Math.min(items[i].level, above + 1) === level;
    above = level;
    return isRight ? items[i] : changed(items[i], { level });
  })));
}

/** @param {readonly Run[]} runs @param {(builder: DeltaBuilder, run: Run) => void} body */
function walking(runs, body) {
  const builder = new DeltaBuilder();
  let at = 0;
  for (const run of runs) {
    builder.keep(run[0] - at);
    body(builder, run);
    at = run[1];
  }
  return builder.finish();
}
