// Two deltas, one made after the other, as one. Section 6, "Composing, undoing, comparing".

import { changed, composeChange } from "./change.js";
import { DeltaBuilder } from "./components.js";
import { SlotMap, segmentsOf } from "./segments.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./components.js').Component} Component */
/** @typedef {import('./components.js').Content} Content */
/** @typedef {import('./components.js').Side} Side */
/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./segments.js').Segment} Segment */
/**
 * Neighbours of the list in between that share all of this.
 * @typedef {object} Piece
 * @property {number} count
 * @property {Side} [side] of the content that they are
 * @property {readonly Item[]} [items] what they are, if the first delta inserts them
 * @property {Segment} [pick] the pick of the first delta that moves them
 * @property {Change} [change] by both deltas
 * @property {boolean} isDeleted by the second delta
 * @property {number} slot in the result
 */
/**
 * What the result does: parts of it are known only when all of it has been walked over.
 * @typedef {Component | { op: "picks", segment: Segment } | { op: "move", piece: Piece } | { op: "place", piece: Piece,
 *   side: Side }} Token
 */

/**
 * Does what `first` and then `second` do: `apply(l, compose(a, b))` is `apply(apply(l, a), b)`. Content that is put
 * next to other content takes the side of that content. Its cost is linear in the components of both and the items that
 * they insert, but for a search for each drop.
 * @param {Delta} first @param {Delta} second
 * @returns {Delta}
 */
export function compose(first, second) {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  return new Both(segmentsOf(first), segmentsOf(second)).finish();
}

/** Walks over the old list, and in between over what the first delta leaves of it. */
class Both {
  #first;
  #second;
  /** Where the walk is in the second delta. */
  #at = 0;
  #done = 0;
  /** @type {Token[]} */
  #tokens = [];
  /**
   * What the first delta moves.
   * @type {Map<Segment, Piece[]>}
   */
  #pieces = new Map();
  /** @type {SlotMap<Segment>} */
  #picks = new SlotMap();
  /**
   * What the second delta moves.
   * @type {SlotMap<Piece>}
   */
  #moved = new SlotMap();

  /** @param {Segment[]} first @param {Segment[]} second */
  constructor(first, second) {
    this.#first = first;
    this.#second = second;
    for (const segment of first) {
      if (segment.op !== "pick") continue;
      this.#picks.add(segment.slot, segment);
      this.#pieces.set(segment, []);
    }
  }

  /** @returns {Delta} */
  finish() {
    this.#place("after", "after");
    for (const segment of this.#first) {
      for (const content of segment.gap) this.#content(content);
      if (segment.op === "keep") this.#items(segment.count, { change: segment.change });
      else if (segment.op === "delete") this.#tokens.push({ op: "delete", count: segment.count });
      else this.#tokens.push({ op: "picks", segment });
    }
    this.#number();
    const builder = new DeltaBuilder();
    for (const token of this.#tokens) this.#build(builder, token);
    return builder.finish();
  }

  // The walk

  /** @param {Content} content of the first delta */
  #content(content) {
    const { side } = content;
    if (content.op === "insert") {
      this.#items(content.items.length, { side, items: content.items });
    } else {
      const { from, to, change } = content;
      for (const pick of this.#picks.find(from, to)) this.#items(pick.count, { side, pick, change });
    }
  }

  /**
   * Neighbours of the list in between.
   * @param {number} count @param {{ side?: Side, items?: readonly Item[], pick?: Segment, change?: Change }} what
   */
  #items(count, what) {
    for (let start = 0; start < count; ) {
      const fate = this.#second[this.#at];
      if (this.#done === 0) this.#place("before", what.side ?? "before");
      const size = Math.min(count - start, fate.count - this.#done);
      this.#piece(fate, {
        ...what,
        count: size,
        items: what.items?.slice(start, start + size),
        change: composeChange(what.change, fate.change),
        isDeleted: fate.op === "delete",
        slot: -1,
      });
      start += size;
      this.#done += size;
      if (this.#done < fate.count || size === Infinity) continue;
      this.#at++;
      this.#done = 0;
      this.#place("after", what.side ?? "after");
    }
  }

  /**
   * What the second delta puts into the gap in which the walk is.
   * @param {Side} side @param {Side} newSide
   */
  #place(side, newSide) {
    for (const content of this.#second[this.#at].gap) {
      if (content.side === side) this.#tokens.push({ ...content, side: newSide });
    }
  }

  /** @param {Segment} fate @param {Piece} piece */
  #piece(fate, piece) {
    const { items, pick, count, change } = piece;
    if (items && change) piece = { ...piece, items: [changed(items[0], change)], change: undefined };
    if (pick) this.#pieces.get(pick)?.push(piece);
    if (fate.op === "pick") {
      this.#moved.add(fate.slot + this.#done, piece);
      if (!items && !pick) this.#tokens.push({ op: "move", piece });
    } else if (items || pick) {
      this.#tokens.push({ op: "place", piece, side: piece.side ?? "before" });
    } else if (fate.op === "delete") {
      this.#tokens.push({ op: "delete", count });
    } else {
      this.#tokens.push(change ? { op: "edit", change } : { op: "keep", count });
    }
  }

  // The result

  /** Numbers the slots in the order of picking. */
  #number() {
    let slots = 0;
    for (const token of this.#tokens) {
      for (const piece of this.#picked(token)) {
        if (piece.isDeleted) continue;
        piece.slot = slots;
        slots += piece.count;
      }
    }
  }

  /** @param {Token} token @returns {Piece[]} what it picks */
  #picked(token) {
    if (token.op === "move") return [token.piece];
    return token.op === "picks" ? this.#pieces.get(token.segment) ?? [] : [];
  }

  /** @param {DeltaBuilder} builder @param {Token} token */
  #build(builder, token) {
    if (token.op === "picks") {
      for (const { isDeleted, count } of this.#picked(token)) builder.add({ op: isDeleted ? "delete" : "pick", count });
    } else if (token.op === "move") {
      builder.pick(token.piece.count);
    } else if (token.op === "place") {
      this.#drop(builder, token.piece, token.side);
    } else if (token.op === "drop") {
      for (const piece of this.#moved.find(token.from, token.to)) this.#drop(builder, piece, token.side);
    } else {
      builder.add(token);
    }
  }

  /** @param {DeltaBuilder} builder @param {Piece} piece @param {Side} side */
  #drop(builder, piece, side) {
    if (piece.isDeleted) return;
    if (piece.items) builder.insert(piece.items, side);
    else builder.drop(piece.slot, piece.slot + piece.count, side, piece.change);
  }
}
