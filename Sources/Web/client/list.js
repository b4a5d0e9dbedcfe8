// A list of items. Lists never change: an edit makes another list, which shares the blocks that are the same.

import { ZERO, digestOf, digestText, joinedDigest } from "./digest.js";

/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./digest.js').Limbs} Limbs */

const MOST = 128;
const FEWEST = 32;

/** Some neighbouring items, and what is known of all of them. */
export class Block {
  /** @type {readonly Item[]} @readonly */
  items;
  /** @type {Limbs | undefined} */
  #digest;
  /** @type {number | undefined} */
  #cap;
  /** @type {Map<string, number> | undefined} */
  #places;

  /** @param {readonly Item[]} items */
  constructor(items) {
    this.items = items;
  }

  get count() {
    return this.items.length;
  }

  get digest() {
    return (this.#digest ??= digestOf(this.items));
  }

  /**
   * Where the item with an id is in the block, or -1.
   * @param {string} id
   */
  indexOf(id) {
    this.#places ??= new Map(this.items.map((item, place) => [item.id, place]));
    return this.#places.get(id) ?? -1;
  }

  /**
   * The shown level of the block's last item, if that of the item above the block is `above`.
   * @param {number} above
   */
  shownLevel(above) {
    this.#cap ??= this.items.reduce((cap, item) => Math.min(item.level, cap + 1), Infinity);
    return Math.min(this.#cap, above + this.count);
  }
}

/** In the comments, n is the number of items. */
export class List {
  /** @type {readonly Block[]} */
  #blocks;
  /** @type {Limbs | undefined} */
  #digest;
  /** @readonly */
  count;

  static empty = new List([]);

  /** @param {readonly Block[]} blocks */
  constructor(blocks) {
    this.#blocks = blocks;
    this.count = blocks.reduce((sum, block) => sum + block.count, 0);
  }

  /**
   * The list of these items. O(n)
   * @param {readonly Item[]} items
   */
  static of(items) {
    const builder = new ListBuilder(List.empty);
    for (const item of items) builder.append(item);
    return builder.finish();
  }

  /** What builders and rows are made of. */
  get blocks() {
    return this.#blocks;
  }

  /** 16 hexadecimal digits. O(128 + n / 128) after an edit, since only blocks that are new are hashed. */
  get digest() {
    this.#digest ??= this.#blocks.reduce((sum, block) => joinedDigest(sum, block.digest, block.count), ZERO);
    return digestText(this.#digest);
  }

  /**
   * The item at an index below the count. O(n / 128)
   * @param {number} index
   * @returns {Item}
   */
  at(index) {
    for (const block of this.#blocks) {
      if (index < block.count) return block.items[index];
      index -= block.count;
    }
    throw new RangeError("there is no such item");
  }

  /**
   * Some items, those that there are. O(n / 128 + items)
   * @param {number} from @param {number} to
   */
  slice(from, to) {
    /** @type {Item[]} */
    const items = [];
    let start = 0;
    for (const block of this.#blocks) {
      if (start >= to) break;
      if (start + block.count > from) {
        for (let i = Math.max(from - start, 0); i < Math.min(to - start, block.count); i++) items.push(block.items[i]);
      }
      start += block.count;
    }
    return items;
  }

  /**
   * All items. O(n)
   * @returns {Generator<Item>}
   */
  *[Symbol.iterator]() {
    for (const block of this.#blocks) yield* block.items;
  }

  /**
   * Where the item with an id is, or -1. O(n / 128), once the ids of all blocks are known
   * @param {string} id
   */
  indexOf(id) {
    let start = 0;
    for (const block of this.#blocks) {
      const place = block.indexOf(id);
      if (place >= 0) return start + place;
      start += block.count;
    }
    return -1;
  }

  /**
   * The items that an earlier form of the list does not have as they are here. O(n / 128), and the blocks that differ
   * @param {List} before
   */
  unlike(before) {
    const [old, now] = [new Set(before.#blocks), new Set(this.#blocks)];
    const former = new Set(before.#blocks.flatMap(block => (now.has(block) ? [] : block.items)));
    const present = new Set(this.#blocks.flatMap(block => (old.has(block) ? [] : block.items)));
    // In a snapshot, items are other objects, also if nothing has changed.
    const gone = new Map([...former].flatMap(item => (present.has(item) ? [] : [[item.id, item]])));
    return [...present].filter(item => !former.has(item) && !gone.get(item.id)?.isSame(item));
  }

  /**
   * How many neighbours at the start both lists have in common, whole blocks only.
   * @param {List} other
   */
  sharedStart(other) {
    let count = 0;
    for (const [i, block] of this.#blocks.entries()) {
      if (block !== other.#blocks[i]) break;
      count += block.count;
    }
    return count;
  }

  // Levels

  /**
   * The shown level of an item. O(128 + n / 128)
   * @param {number} index
   */
  shownLevel(index) {
    let shown = -1;
    for (const block of this.#blocks) {
      if (index < block.count) return levelAfter(block.items.slice(0, index + 1), shown);
      shown = block.shownLevel(shown);
      index -= block.count;
    }
    throw new RangeError("there is no such item");
  }

  /**
   * How many items below an item are its sub-items. O(128 + n / 128 + sub-items)
   * @param {number} index
   */
  subItems(index) {
    const level = this.shownLevel(index);
    let shown = level;
    for (let count = 0, from = index + 1; ; ) {
      const items = this.slice(from, from + MOST);
      for (const item of items) {
        shown = Math.min(item.level, shown + 1);
        if (shown <= level) return count;
        count++;
      }
      if (items.length < MOST) return count;
      from += items.length;
    }
  }
}

/** Builds a list from left to right, out of items and of parts of an old list. */
export class ListBuilder {
  #old;
  /** @type {Block[]} */
  #blocks = [];
  /** @type {Item[]} */
  #items = [];
  /** The next block of the old list, and where it begins. */
  #next = 0;
  #start = 0;

  /** @param {List} old */
  constructor(old) {
    this.#old = old;
  }

  /** @param {Item} item */
  append(item) {
    this.#items.push(item);
    if (this.#items.length >= 2 * MOST) this.#cut(MOST);
  }

  /**
   * Appends a part of the old list, which is not on the left of an earlier part.
   * @param {number} from @param {number} to
   */
  appendOld(from, to) {
    while (from < to) {
      const block = this.#blockAt(from);
      const end = Math.min(to, this.#start + block.count);
      // A whole block is shared, unless it is small or follows few items: then they become one block.
      const isWhole = from === this.#start && end === this.#start + block.count;
      const isFew = this.#items.length > 0 && this.#items.length < FEWEST;
      if (isWhole && !isFew && block.count >= FEWEST) {
        this.#flush();
        this.#blocks.push(block);
      } else {
        for (let i = from; i < end; i++) this.append(block.items[i - this.#start]);
      }
      from = end;
    }
  }

  finish() {
    this.#flush();
    return new List(this.#blocks);
  }

  /** @param {number} index */
  #blockAt(index) {
    while (index >= this.#start + this.#old.blocks[this.#next].count) {
      this.#start += this.#old.blocks[this.#next].count;
      this.#next++;
    }
    return this.#old.blocks[this.#next];
  }

  #flush() {
    if (this.#items.length > MOST) this.#cut(this.#items.length >> 1);
    if (this.#items.length > 0) this.#cut(this.#items.length);
  }

  /** @param {number} count */
  #cut(count) {
    this.#blocks.push(new Block(this.#items.slice(0, count)));
    this.#items = this.#items.slice(count);
  }
}

/** @param {readonly Item[]} items @param {number} above the shown level of the item above them */
function levelAfter(items, above) {
  return items.reduce((shown, item) => Math.min(item.level, shown + 1), above);
}
