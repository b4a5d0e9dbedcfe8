// A delta as what it does to the old items, run by run, with what stands in the gaps between the runs. Two deltas on
// one list are walked at once, by the smaller count, so that the cost is that of the components, not of the items.

import { isContent, oldCount } from "./components.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./components.js').Drop} Drop */
/** @typedef {import('./components.js').Content} Content */
/** @typedef {import('./change.js').Change} Change */
/**
 * What a delta does to some neighbouring old items. A change goes with a single item.
 * @typedef {object} Fate
 * @property {"keep" | "delete" | "pick"} op
 * @property {number} slot the first one, of a pick
 * @property {Drop} [drop] the one of these slots, of a pick
 * @property {Change} [change] of an item that stays or moves
 */
/** @typedef {Fate & { count: number, gap: Content[] }} Segment the gap is on the left of its items */
/** @typedef {{ count: number, x: Fate, y: Fate, xGap: readonly Content[], yGap: readonly Content[] }} Row */

/** @type {readonly Content[]} */
const EMPTY = [];

/**
 * The runs of a delta, each pick cut where its drops are; the last run is endless.
 * @param {Delta} delta
 * @returns {Segment[]}
 */
export function segmentsOf(delta) {
  const drops = delta.filter(component => component.op === "drop").sort((a, b) => slotOf(a) - slotOf(b));
  /** @type {Segment[]} */
  const segments = [];
  /** @type {Content[]} */
  let gap = [];
  let slot = 0;
  let next = 0;
  /** @param {Fate} fate @param {number} count */
  const push = (fate, count) => {
    segments.push({ ...fate, count, gap });
    gap = [];
  };
  for (const component of delta) {
    if (isContent(component)) gap.push(component);
    else if (component.op === "edit") push({ op: "keep", slot: 0, change: component.change }, 1);
    else if (component.op !== "pick") push({ op: component.op, slot: 0 }, oldCount(component));
    else {
      for (const end = slot + component.count; slot < end; ) {
        const drop = /** @type {Drop} */ (drops[next]);
        const to = Math.min(drop.to, end);
        push({ op: "pick", slot, drop, change: drop.change }, to - slot);
        if (to === drop.to) next++;
        slot = to;
      }
    }
  }
  push({ op: "keep", slot: 0 }, Infinity);
  return segments;
}

/**
 * Two deltas on one list, side by side. A row is about one drop of each delta at most; the last row is endless.
 * @param {Delta} x @param {Delta} y
 * @returns {Row[]}
 */
export function rowsOf(x, y) {
  const [xs, ys] = [segmentsOf(x), segmentsOf(y)];
  /** @type {Row[]} */
  const rows = [];
  let [i, j, doneX, doneY] = [0, 0, 0, 0];
  for (;;) {
    const [a, b] = [xs[i], ys[j]];
    const count = Math.min(a.count - doneX, b.count - doneY);
    const [xGap, yGap] = [doneX > 0 ? EMPTY : a.gap, doneY > 0 ? EMPTY : b.gap];
    rows.push({ count, x: later(a, doneX), y: later(b, doneY), xGap, yGap });
    if (count === Infinity) return rows;
    doneX += count;
    doneY += count;
    if (doneX === a.count) [i, doneX] = [i + 1, 0];
    if (doneY === b.count) [j, doneY] = [j + 1, 0];
  }
}

/**
 * Values for runs of slots, which are added with rising slots.
 * @template T
 */
export class SlotMap {
  /** @type {number[]} */
  #slots = [];
  /** @type {T[]} */
  #values = [];

  /** @param {number} slot the first one @param {T} value */
  add(slot, value) {
    this.#slots.push(slot);
    this.#values.push(value);
  }

  /**
   * The values of the runs that begin at these slots.
   * @param {number} from @param {number} to
   * @returns {T[]}
   */
  find(from, to) {
    return this.#values.slice(this.#indexOf(from), this.#indexOf(to));
  }

  /**
   * The first run that does not begin before a slot.
   * @param {number} slot
   */
  #indexOf(slot) {
    let low = 0;
    let high = this.#slots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#slots[middle] < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * What happens to the items of a segment behind the first ones.
 * @param {Segment} segment @param {number} done
 */
function later(segment, done) {
  return done === 0 || segment.op !== "pick" ? segment : { ...segment, slot: segment.slot + done };
}

/** @param {import('./components.js').Component} component */
function slotOf(component) {
  return component.op === "drop" ? component.from : 0;
}
