// Which items of a list are shown, and in which order: without those that are folded or filtered out, ticked tasks last
// if the person wants that. It is pure, and moves nothing in the list.

import { TASK } from "../client/item.js";

/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/**
 * How a person looks at a list.
 * @typedef {object} Look
 * @property {ReadonlySet<string>} folded the ids of items whose sub-items are hidden
 * @property {(item: Item) => boolean} [isWanted]
 * @property {boolean} [isTickedLast]
 * @property {ReadonlySet<string>} [held] ids of tasks that stay where they are for a moment after they were ticked
 */

/** What is shown, row by row. */
export class Rows {
  /**
   * @param {Item[]} items @param {number[]} levels @param {boolean[]} parents whether an item has sub-items
   */
  constructor(items, levels, parents) {
    this.items = items;
    this.levels = levels;
    this.parents = parents;
  }

  get count() {
    return this.items.length;
  }

  /**
   * The row of an item, or -1. O(rows)
   * @param {string | undefined} id
   */
  rowOf(id) {
    return id === undefined ? -1 : this.items.findIndex(item => item.id === id);
  }
}

/**
 * The rows of a list. O(n)
 * @param {List} list @param {Look} look
 */
export function rowsOf(list, look) {
  const items = [...list];
  const levels = shownLevels(items);
  const order = look.isTickedLast ? tickedLast(items, levels, look.held) : undefined;
  const rows = new Rows([], [], []);
  let hidden = Infinity;
  for (let i = 0; i < items.length; i++) {
    const index = order ? order[i] : i;
    const [item, level] = [items[index], levels[index]];
    if (look.isWanted) {
      if (!look.isWanted(item)) continue;
    } else {
      if (level > hidden) continue;
      hidden = look.folded.size > 0 && look.folded.has(item.id) ? level : Infinity;
    }
    rows.items.push(item);
    rows.levels.push(level);
    rows.parents.push(index + 1 < items.length && levels[index + 1] > level);
  }
  return rows;
}

/** @param {Item[]} items */
function shownLevels(items) {
  let above = -1;
  return items.map(item => (above = Math.min(item.level, above + 1)));
}

/**
 * The indexes in an order with ticked tasks, and all beneath them, behind their siblings.
 * @param {Item[]} items @param {number[]} levels @param {ReadonlySet<string>} [held]
 */
function tickedLast(items, levels, held) {
  /** @type {number[]} */
  const order = [];
  const isLast = (/** @type {Item} */ item) => item.kind === TASK && item.fields().done === true && !held?.has(item.id);
  const emit = (/** @type {number} */ from, /** @type {number} */ to) => {
    /** @type {[number, number][]} */
    const last = [];
    for (let i = from; i < to; ) {
      let end = i + 1;
      while (end < to && levels[end] > levels[i]) end++;
      if (isLast(items[i])) last.push([i, end]);
      else add(i, end);
      i = end;
    }
    for (const [i, end] of last) add(i, end);
  };
  const add = (/** @type {number} */ i, /** @type {number} */ end) => {
    order.push(i);
    emit(i + 1, end);
  };
  emit(0, items.length);
  return order;
}
