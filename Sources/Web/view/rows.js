// Which items of a list are shown, and in which order: without those that are folded or filtered out, ticked tasks last
// if the person wants that. It is pure, and moves nothing in the list.

import { CARD, TASK } from "../client/item.js";
import { Block, List } from "../client/list.js";

/** @typedef {import('../client/item.js').Item} Item */
/**
 * How a person looks at a list. Another look is another object: rows are remembered by it.
 * @typedef {object} Look
 * @property {ReadonlySet<string>} [folded] the ids of items that hide their sub-items; without them, nothing folds
 * @property {(item: Item) => boolean} [isWanted]
 * @property {(item: Item) => boolean} [isKept] whether an item is shown in any case
 * @property {boolean} [isTickedLast]
 * @property {ReadonlySet<string>} [held] ids of tasks that stay where they are for a moment after they were ticked
 */
/**
 * What is around a block: the shown level above it, the level from which on items are hidden, the level below it.
 * @typedef {{ look: Look, above: number, hidden: number, below: number }} Around
 */

/** How many rows a part has whose items come from many blocks. */
const SIZE = 128;
/** So many items are looked up one by one. */
const FEW = 100;

/** Some neighbouring rows. */
export class Part extends Block {
  /**
   * @param {Item[]} items @param {number[]} levels @param {boolean[]} parents whether an item has sub-items
   * @param {number} hidden the level from which on the items behind these are hidden
   */
  constructor(items, levels, parents, hidden) {
    super(items);
    this.levels = levels;
    this.parents = parents;
    this.hidden = hidden;
    this.isDeep = levels.some(level => level > 0);
    this.isHand = items.every(({ kind }) => kind === CARD);
  }
}

/** What is shown, row by row. */
export class Rows extends List {
  /** @param {Part[]} parts */
  constructor(parts) {
    super(parts);
    this.parts = parts;
  }

  /**
   * The row of an item, or -1.
   * @param {string | undefined} id
   */
  rowOf(id) {
    return id === undefined ? -1 : this.indexOf(id);
  }

  /**
   * Those of some items that have a row, in their order. O(n), but for few items
   * @param {string[]} ids
   */
  those(ids) {
    if (ids.length < FEW) return ids.filter(id => this.indexOf(id) >= 0);
    const there = new Set(Array.from(this, ({ id }) => id));
    return ids.filter(id => there.has(id));
  }

  /**
   * Whether an item has sub-items.
   * @param {string} id
   */
  isParent(id) {
    return this.parts.some(part => part.parents[part.indexOf(id)]);
  }

  /** The items that have sub-items. */
  get parents() {
    return this.parts.flatMap(({ items, parents }) => items.filter((_, i) => parents[i]));
  }
}

/**
 * The rows of each block when it was shown last.
 * @type {WeakMap<Block, { around: Around, part: Part }>}
 */
const known = new WeakMap();

/**
 * The rows of a list. O(n / 128), and the blocks that are not as they were when the list was looked at so before; O(n)
 * with ticked tasks last.
 * @param {List} list @param {Look} look
 */
export function rowsOf(list, look) {
  const parts = look.isTickedLast ? partsInOrder(list, look) : partsOf(list, look);
  return new Rows(parts.filter(({ count }) => count > 0));
}

/** @param {List} list @param {Look} look */
function partsOf({ blocks }, look) {
  let [above, hidden] = [-1, Infinity];
  return blocks.map((block, b) => {
    const around = { look, above, hidden, below: blocks[b + 1]?.items[0].level ?? -1 };
    let found = known.get(block);
    if (!found || !isSame(found.around, around)) known.set(block, (found = { around, part: partOf(block, around) }));
    above = block.shownLevel(above);
    ({ hidden } = found.part);
    return found.part;
  });
}

/** @param {Around} a @param {Around} b */
function isSame(a, b) {
  return a.look === b.look && a.above === b.above && a.hidden === b.hidden && a.below === b.below;
}

/** @param {Block} block @param {Around} around */
function partOf({ items }, { look, above, hidden, below }) {
  const levels = shownLevels(items, above);
  return shownPart(items, levels, items.map((_, i) => (levels[i + 1] ?? below) > levels[i]), look, hidden);
}

/**
 * Those of some neighbours that are shown.
 * @param {readonly Item[]} items @param {number[]} levels @param {boolean[]} parents @param {Look} look
 * @param {number} hidden
 */
function shownPart(items, levels, parents, look, hidden) {
  const shown = items.flatMap((item, i) => {
    if (look.isKept?.(item)) return [i];
    if (levels[i] > hidden) return [];
    hidden = Infinity;
    if (look.isWanted?.(item) === false) return [];
    if (look.folded?.has(item.id)) hidden = levels[i];
    return [i];
  });
  const areParents = shown.map(i => look.folded !== undefined && parents[i]);
  return new Part(shown.map(i => items[i]), shown.map(i => levels[i]), areParents, hidden);
}

/** @param {readonly Item[]} items @param {number} above the shown level of the item above them */
export function shownLevels(items, above) {
  return items.map(item => (above = Math.min(item.level, above + 1)));
}

/** @param {List} list @param {Look} look */
function partsInOrder(list, look) {
  const items = [...list];
  const levels = shownLevels(items, -1);
  const order = tickedLast(items, levels, look.held);
  /** @type {Part[]} */
  const parts = [];
  for (let at = 0, hidden = Infinity; at < order.length; at += SIZE) {
    const some = order.slice(at, at + SIZE);
    const parents = some.map(i => levels[i + 1] > levels[i]);
    const part = shownPart(some.map(i => items[i]), some.map(i => levels[i]), parents, look, hidden);
    parts.push(part);
    ({ hidden } = part);
  }
  return parts;
}

/**
 * Whether an item is shown behind its siblings, where ticked tasks come last.
 * @param {Item} item @param {ReadonlySet<string>} [held]
 */
export function comesLast(item, held) {
  return item.kind === TASK && item.fields().done === true && !held?.has(item.id);
}

/**
 * The indexes in an order with ticked tasks, and all beneath them, behind their siblings.
 * @param {Item[]} items @param {number[]} levels @param {ReadonlySet<string>} [held]
 */
function tickedLast(items, levels, held) {
  /** @type {number[]} */
  const order = [];
  const emit = (/** @type {number} */ from, /** @type {number} */ to) => {
    /** @type {[number, number][]} */
    const last = [];
    for (let i = from; i < to; ) {
      let end = i + 1;
      while (end < to && levels[end] > levels[i]) end++;
      if (comesLast(items[i], held)) last.push([i, end]);
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
