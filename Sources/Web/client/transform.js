// What remains of a delta after another one on the same list, section 6, "Merging".

import { transformChange } from "./change.js";
import { DeltaBuilder } from "./components.js";
import { SlotMap, rowsOf } from "./segments.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./components.js').Component} Component */
/** @typedef {import('./components.js').Content} Content */
/** @typedef {import('./components.js').Side} Side */
/** @typedef {import('./segments.js').Row} Row */

/**
 * What remains of x after y; `isLater` says whether x is the later one. The law, for a earlier than b: `apply(apply(l,
 * a), transform(b, a, true))` is `apply(apply(l, b), transform(a, b, false))`. Its cost is linear in the components of
 * both, but for a search for each drop.
 * @param {Delta} x @param {Delta} y @param {boolean} isLater
 * @returns {Delta}
 */
export function transform(x, y, isLater) {
  if (x.length === 0 || y.length === 0) return x;
  const rows = rowsOf(x, y);
  const rest = new Rest(rows, isLater);
  for (const row of rows) {
    rest.gap(row.xGap, row.yGap);
    if (row.y.op === "keep") rest.items(row);
  }
  return rest.finish();
}

/** Walks over the list that y leaves, and does what x does. */
class Rest {
  #isLater;
  /** @type {SlotMap<Row>} */
  #movedByX = new SlotMap();
  /** @type {SlotMap<Row>} */
  #movedByY = new SlotMap();
  /**
   * The slots of the moves that remain.
   * @type {Map<Row, number>}
   */
  #slots = new Map();
  #picked = 0;
  /**
   * Their drops still have the slots of x.
   * @type {Component[]}
   */
  #components = [];

  /** @param {Row[]} rows @param {boolean} isLater */
  constructor(rows, isLater) {
    this.#isLater = isLater;
    for (const row of rows) {
      if (row.x.op === "pick") this.#movedByX.add(row.x.slot, row);
      if (row.y.op === "pick") this.#movedByY.add(row.y.slot, row);
    }
  }

  /**
   * A gap holds `later.after + earlier.after + earlier.before + later.before`.
   * @param {readonly Content[]} x @param {readonly Content[]} y
   */
  gap(x, y) {
    if (this.#isLater) {
      this.#place(x, "after");
      for (const content of y) this.#pass(content);
      this.#place(x, "before");
    } else {
      for (const content of y) if (content.side === "after") this.#pass(content);
      this.#place(x, "after");
      this.#place(x, "before");
      for (const content of y) if (content.side === "before") this.#pass(content);
    }
  }

  /**
   * Items that y has left or moved.
   * @param {Row} row
   */
  items(row) {
    const { x, y, count } = row;
    const change = transformChange(x.change, y.change, this.#isLater);
    if (x.op === "delete") {
      this.#components.push({ op: "delete", count });
    } else if (x.op === "pick" && (this.#isLater || y.op !== "pick")) {
      this.#slots.set(row, this.#picked);
      this.#picked += count;
      this.#components.push({ op: "pick", count });
    } else {
      this.#components.push(change ? { op: "edit", change } : { op: "keep", count });
    }
  }

  /** @returns {Delta} */
  finish() {
    const builder = new DeltaBuilder();
    for (const component of this.#components) {
      if (component.op !== "drop") {
        builder.add(component);
        continue;
      }
      const { from, to, side } = component;
      for (const row of this.#movedByX.find(from, to)) this.#drop(builder, row, side);
    }
    return builder.finish();
  }

  /** @param {readonly Content[]} contents of x @param {Side} side */
  #place(contents, side) {
    for (const content of contents) if (content.side === side) this.#components.push(content);
  }

  /** @param {Content} content of y */
  #pass(content) {
    if (content.op === "insert") this.#components.push({ op: "keep", count: content.items.length });
    else for (const row of this.#movedByY.find(content.from, content.to)) this.items(row);
  }

  /** @param {DeltaBuilder} builder @param {Row} row @param {Side} side */
  #drop(builder, row, side) {
    const slot = this.#slots.get(row);
    if (slot === undefined) return;
    builder.drop(slot, slot + row.count, side, transformChange(row.x.change, row.y.change, this.#isLater));
  }
}
