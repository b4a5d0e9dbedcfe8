// What a person can take back and make again, section 6, "Undo and redo".

import { DeltaBuilder, NOTHING, insertedItems } from "./components.js";
import { compose } from "./compose.js";
import { apply, invert, newCount } from "./delta.js";
import { keepingWords } from "./keeping.js";
import { transform } from "./transform.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./keeping.js').Kept} Kept */
/** @typedef {{ delta: Delta, rank: number }} Link the rank grows with the number of deltas that it is made of */
/**
 * The inverse of an edit, and what others have done between it and the level above. A redo of an edit that was
 * withdrawn before it was submitted is an edit like any other: in the commits, there is no step that it reverses.
 * @typedef {{ inverse: Delta, others: Chain, isWithdrawn: boolean, edit?: Delta }} Level
 */

/** The oldest levels are forgotten. */
const MOST = 1000;
/** Up to this many components, a delta is small. */
const SMALL = 128;

/**
 * Many deltas, each made after the one before it, as one. Composing each with all before it would cost more with each;
 * here it costs little, since large ones are composed with others of their size, as in counting with binary digits. Up
 * to some size all are composed from the left, which is what the page says: compositions in another order have the same
 * effect, but not always the same form. A chain never changes.
 */
export class Chain {
  /**
   * With falling ranks.
   * @type {readonly Link[]}
   */
  #links;

  static empty = new Chain([]);

  /** @param {readonly Link[]} links */
  constructor(links) {
    this.#links = links;
  }

  /**
   * All of them as one delta.
   * @returns {Delta}
   */
  get delta() {
    return this.#links.reduce((/** @type {Delta} */ all, { delta }) => compose(all, delta), NOTHING);
  }

  /** @param {Delta} delta made after all others */
  with(delta) {
    const links = [...this.#links];
    let link = { delta, rank: 0 };
    for (let last = links.pop(); last; last = links.pop()) {
      if (last.rank > link.rank) {
        links.push(last);
        break;
      }
      const both = compose(last.delta, link.delta);
      link = { delta: both, rank: both.length > SMALL ? last.rank + 1 : 0 };
    }
    return new Chain([...links, link]);
  }
}

/** Levels that never change: each method gives others. The newest level is the last one. */
export class Undos {
  /** @type {readonly Level[]} */
  #levels;

  static none = new Undos([]);

  /** @param {readonly Level[]} levels */
  constructor(levels) {
    this.#levels = levels;
  }

  get isEmpty() {
    return this.#levels.length === 0;
  }

  /**
   * With a new level.
   * @param {Delta} inverse of an edit that was made now @param {boolean} [isWithdrawn]
   * @param {Delta} [edit] if it was found in a commit
   */
  with(inverse, isWithdrawn = false, edit = undefined) {
    return new Undos([...this.#levels.slice(1 - MOST), { inverse, others: Chain.empty, isWithdrawn, edit }]);
  }

  /**
   * After somebody's edit of the view.
   * @param {Delta} delta
   */
  following(delta) {
    return delta.length === 0 ? this : this.#withOthers(delta);
  }

  /**
   * Takes the newest level off: the edit that takes back what it is about, and which words it leaves alone. Nothing if
   * there is no level.
   * @param {List} view
   * @returns {{ delta: Delta, kept: Kept[], rest: Undos, isWithdrawn: boolean } | undefined}
   */
  newest(view) {
    const level = this.#levels[this.#levels.length - 1];
    if (!level) return undefined;
    const others = level.others.delta;
    const { inverse, stayed, kept } = keepingWords(level.inverse, others, view);
    const { delta, twice } = withoutTwice(transform(inverse, others, true), others);
    // The level below follows what others did where the list has neither the edit nor its undo.
    let rest = new Undos(this.#levels.slice(0, -1));
    for (const step of [stayed, transform(others, inverse, false), twice]) rest = rest.following(step);
    return { delta, kept, rest, isWithdrawn: level.isWithdrawn };
  }

  /**
   * Without the older level whose edit an undo has taken back, although newer levels were in effect. For the other
   * levels, the edit and its undo are like others' edits. Nothing if there is no such level.
   * @param {Delta} undo @param {List} view before it
   * @returns {Undos | undefined}
   */
  without(undo, view) {
    const { digest } = apply(view, undo);
    let later = NOTHING;
    for (let i = this.#levels.length - 1; i >= 0; i--) {
      const { edit, others, ...level } = this.#levels[i];
      if (!edit) return undefined;
      later = compose(others.delta, later);
      const alone = new Undos([{ ...level, others: Chain.empty.with(later) }]).newest(view);
      later = compose(edit, later);
      if (!alone || apply(view, alone.delta).digest !== digest) continue;
      const below = new Undos(this.#levels.slice(0, i)).following(compose(edit, others.delta));
      return new Undos([...below.#levels, ...this.#levels.slice(i + 1)]).following(undo);
    }
    return undefined;
  }

  /**
   * Without the newest levels of which nothing is left.
   * @param {List} view
   * @returns {Undos}
   */
  left(view) {
    const level = this.newest(view);
    return level?.delta.length === 0 ? level.rest.left(view) : this;
  }

  /** @param {Delta} delta */
  #withOthers(delta) {
    const last = this.#levels[this.#levels.length - 1];
    if (!last) return this;
    return new Undos([...this.#levels.slice(0, -1), { ...last, others: last.others.with(delta) }]);
  }
}

/**
 * An undo without the items that others have brought back, and the deletion of those items after the whole undo.
 * @param {Delta} undo @param {Delta} others
 */
function withoutTwice(undo, others) {
  const known = new Set(insertedItems(others).map(item => item.id));
  const delta = new DeltaBuilder();
  const twice = new DeltaBuilder();
  for (const component of undo) {
    if (component.op !== "insert") {
      delta.add(component);
      twice.keep(newCount(component));
      continue;
    }
    delta.insert(component.items.filter(item => !known.has(item.id)), component.side);
    for (const item of component.items) twice.add({ op: known.has(item.id) ? "delete" : "keep", count: 1 });
  }
  return { delta: delta.finish(), twice: twice.finish() };
}
