// The components of a delta, and its normal form, section 6, "Deltas". No other form exists here.

import { normalChange } from "./change.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {"after" | "before"} Side */
/** @typedef {{ op: "keep" | "delete" | "pick", count: number }} Run */
/** @typedef {{ op: "edit", change: Change }} Edit */
/** @typedef {{ op: "insert", items: readonly Item[], side: Side }} Insert */
/** @typedef {{ op: "drop", from: number, to: number, side: Side, change?: Change }} Drop */
/** @typedef {Insert | Drop} Content what stands in a gap */
/** @typedef {Run | Edit | Content} Component */
/** @typedef {readonly Component[]} Delta always in normal form */

/** @type {Delta} */
export const NOTHING = [];

/** Puts components together in normal form. Its cost is linear in the components. */
export class DeltaBuilder {
  /** @type {Component[]} */
  #done = [];
  /**
   * What stands in the present gap.
   * @type {Content[]}
   */
  #gap = [];

  /** @param {number} count */
  keep(count) {
    this.#run("keep", count);
  }

  /** @param {number} count */
  delete(count) {
    this.#run("delete", count);
  }

  /** @param {number} count */
  pick(count) {
    this.#run("pick", count);
  }

  /** @param {Change | undefined} change without one, the item stays as it is */
  edit(change) {
    const normal = change && normalChange(change);
    if (!normal) return this.keep(1);
    this.#closeGap();
    this.#done.push({ op: "edit", change: normal });
  }

  /** @param {readonly Item[]} items @param {Side} side */
  insert(items, side) {
    if (items.length > 0) this.content({ op: "insert", items, side });
  }

  /** @param {number} from @param {number} to the slot after the last @param {Side} side @param {Change} [change] */
  drop(from, to, side, change) {
    const normal = change && normalChange(change);
    if (to === from) return;
    this.content(normal ? { op: "drop", from, to, side, change: normal } : { op: "drop", from, to, side });
  }

  /** @param {Content} content */
  content(content) {
    // What stands on the left of `after` content is `after` content itself.
    if (content.side === "after") {
      for (let i = this.#gap.length - 1; i >= 0 && this.#gap[i].side === "before"; i--) {
        this.#gap[i] = { ...this.#gap[i], side: "after" };
      }
    }
    this.#gap.push(content);
  }

  /** @param {Component} component */
  add(component) {
    if (component.op === "edit") this.edit(component.change);
    else if (component.op === "insert") this.insert(component.items, component.side);
    else if (component.op === "drop") this.drop(component.from, component.to, component.side, component.change);
    else this.#run(component.op, component.count);
  }

  /** @returns {Component[]} */
  finish() {
    this.#closeGap();
    if (this.#done[this.#done.length - 1]?.op === "keep") this.#done.pop();
    return this.#done;
  }

  /** @param {Run["op"]} op @param {number} count */
  #run(op, count) {
    if (count === 0) return;
    this.#closeGap();
    const last = this.#done[this.#done.length - 1];
    if (last && last.op === op) this.#done[this.#done.length - 1] = { op, count: last.count + count };
    else this.#done.push({ op, count });
  }

  #closeGap() {
    for (let i = 0; i < this.#gap.length; ) {
      const start = i++;
      while (i < this.#gap.length && isOne(this.#gap[i - 1], this.#gap[i])) i++;
      this.#done.push(asOne(this.#gap.slice(start, i)));
    }
    this.#gap = [];
  }
}

/**
 * The normal form of components; slots are not looked at.
 * @param {Iterable<Component>} components
 */
export function normalForm(components) {
  const builder = new DeltaBuilder();
  for (const component of components) builder.add(component);
  return builder.finish();
}

/**
 * Whether each picked slot is dropped exactly once.
 * @param {Delta} delta
 */
export function dropsWhatItPicks(delta) {
  let picked = 0;
  const drops = [];
  for (const component of delta) {
    if (component.op === "pick") picked += component.count;
    if (component.op === "drop") drops.push(component);
  }
  let next = 0;
  for (const drop of drops.sort((a, b) => a.from - b.from)) {
    if (drop.from !== next) return false;
    next = drop.to;
  }
  return next === picked;
}

/**
 * How many items of the old list the delta walks over.
 * @param {Delta} delta
 */
export function reachOf(delta) {
  return delta.reduce((sum, component) => sum + oldCount(component), 0);
}

/**
 * How many items of the old list a component is about.
 * @param {Component} component
 */
export function oldCount(component) {
  return component.op === "edit" ? 1 : isContent(component) ? 0 : component.count;
}

/**
 * The items that components insert.
 * @param {readonly Component[]} components
 */
export function insertedItems(components) {
  return components.flatMap(component => (component.op === "insert" ? component.items : []));
}

/**
 * About how many bytes a delta has.
 * @param {Delta} delta
 */
export function weightOf(delta) {
  let weight = 0;
  for (const component of delta) {
    weight += 8;
    if (component.op === "insert") for (const item of component.items) weight += item.end - item.start;
    const change = component.op === "edit" || component.op === "drop" ? component.change : undefined;
    const splices = [...(change?.text ?? []), ...(change?.url ?? [])];
    for (const { removed, inserted } of splices) weight += 8 + removed.length + inserted.length;
    weight += change?.bytes?.length ?? 0;
  }
  return weight;
}

/** @param {Component} component @returns {component is Content} */
export function isContent(component) {
  return component.op === "insert" || component.op === "drop";
}

/**
 * Whether two neighbours in a gap are one component.
 * @param {Content} a @param {Content} b
 */
function isOne(a, b) {
  if (a.side !== b.side) return false;
  if (a.op === "insert" || b.op === "insert") return a.op === b.op;
  return a.to === b.from && !a.change && !b.change;
}

/** @param {Content[]} contents @returns {Content} */
function asOne(contents) {
  const [first] = contents;
  const last = contents[contents.length - 1];
  if (contents.length === 1) return first;
  if (first.op === "drop" && last.op === "drop") return { ...first, to: last.to };
  return { op: "insert", items: insertedItems(contents), side: first.side };
}
