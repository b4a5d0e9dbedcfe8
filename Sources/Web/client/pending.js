// The edits of one list that are not committed, in their order: at most one is in flight, the others wait.

import { isSameDelta } from "./codec.js";
import { compose } from "./compose.js";
import { insertedItems, weightOf } from "./components.js";
import { CARD } from "./item.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {"" | "undo" | "redo"} Step whether an edit is an undo or a redo */
/**
 * An edit that is pending.
 * @typedef {object} Edit
 * @property {Delta} delta made on the result of the edit before it, the first one on `confirmed`
 * @property {number} seen the revision of `confirmed` when it was made
 * @property {number} [exact] the base that it insists on
 * @property {number} [sequence] once it is in flight
 * @property {number} [sender] the author number under which it was sent: another one before the person's name was
 *   changed
 * @property {boolean} crossed whether it was carried over a snapshot since it got its sequence
 * @property {boolean} [isWritten] whether a row of it has been begun: until it is in flight, no edit is joined to it,
 *   so that an edit is stored either whole or not at all
 * @property {boolean} [isStored] whether that row has reached the storage
 * @property {boolean} [isAssumed] whether somebody else commits it: it is kept for those that were made upon it
 * @property {readonly Delta[]} [parts] the edits that are joined in it, each made on the result of the one before
 * @property {boolean} [isWhole] whether it is not joined with others
 * @property {Step} [step] what it is, if that is known
 * @property {Delta} [inverse] what leads back to the list before it, while it is as the person made it and nobody else
 *   can have sent it
 */

/** Edits are joined up to about this many bytes, so that a submission fits into a frame. */
const MOST_JOINED = 65_536;

export class Pending {
  /** @type {Edit | undefined} */
  #inFlight;
  /** @type {Edit[]} */
  #buffer;
  #used;

  /** @param {readonly Edit[]} edits as they were kept @param {number} used the last sequence that is used */
  constructor(edits = [], used = 0) {
    const isInFlight = edits[0]?.sequence !== undefined;
    this.#inFlight = isInFlight ? edits[0] : undefined;
    this.#buffer = edits.slice(isInFlight ? 1 : 0);
    this.#used = used;
  }

  get inFlight() {
    return this.#inFlight;
  }

  /** @returns {readonly Edit[]} */
  get all() {
    return this.#inFlight ? [this.#inFlight, ...this.#buffer] : this.#buffer;
  }

  /** The last sequence that is used. */
  get used() {
    return this.#used;
  }

  /**
   * A new edit waits: joined with the one before it, if neither is exact or whole.
   * @param {Delta} delta @param {Delta} inverse @param {number} revision of the confirmed list
   * @param {"exact" | "whole" | undefined} how @param {Step} step
   */
  add(delta, inverse, revision, how, step) {
    const last = this.#buffer[this.#buffer.length - 1];
    const isExact = how === "exact";
    const exact = isExact ? revision : undefined;
    const edit = { delta, inverse, seen: revision, exact, crossed: false, step, isWhole: how === "whole" };
    if (last && !last.isWritten && mayJoin(last, edit)) {
      last.delta = compose(last.delta, delta);
      last.step = last.step || step ? undefined : "";
      last.inverse = undefined;
    } else if (delta.length > 0 || isExact) this.#buffer.push(edit);
  }

  /**
   * The last edit, if it waits and is reversed exactly, will not be submitted.
   * @param {Delta} inverse
   * @returns {Edit | undefined} the edit
   */
  dropLast(inverse) {
    const last = this.#buffer[this.#buffer.length - 1];
    if (!last?.inverse || !isSameDelta(last.inverse, inverse)) return undefined;
    return this.#buffer.pop();
  }

  /** @param {Edit} edit that is committed, or will not be */
  remove(edit) {
    if (edit === this.#inFlight) this.#inFlight = undefined;
    else this.#buffer = this.#buffer.filter(other => other !== edit);
  }

  /**
   * The next edit goes into flight, with those after it that only the storage kept apart from it.
   * @param {boolean} [joins] whether it may be joined with any
   * @returns {Edit | undefined}
   */
  launch(joins = true) {
    if (this.#inFlight) return undefined;
    const edit = this.#buffer.shift();
    if (!edit) return undefined;
    while (joins && edit.isStored && this.#buffer.length > 0) {
      const [next] = this.#buffer;
      // What is not stored may have to be told apart, if somebody else sends what is.
      // Nor are steps joined, so that their commits are known as such.
      if (!next.isStored || edit.step || next.step || !mayJoin(edit, next)) break;
      joinTo(edit, next);
      this.#buffer.shift();
      // So the server's last sequence tells another program how many of them were sent, whatever the storage has.
      this.#used++;
    }
    edit.sequence = ++this.#used;
    return (this.#inFlight = edit);
  }

  /**
   * Another program may have sent the first edits: as one, or under another name than the one in flight was. If the
   * commit is what became of them, they are in flight as that program sent them. Gives whether that is so.
   * @param {import('./codec.js').Commit} commit of one's own author
   */
  recognize({ author, sequence, delta: committed }) {
    const sent = this.#inFlight?.sequence ?? this.#used + 1;
    if (sequence < sent) return false;
    this.#used = Math.max(this.#used, sequence);
    /** @type {Delta} */
    let delta = [];
    // Each edit has used a sequence, also if several were joined.
    const edits = this.all.slice(0, sequence - sent + 1);
    const count = edits.findIndex(edit => became((delta = compose(delta, edit.delta)), committed)) + 1;
    if (count === 0) return false;
    this.recall();
    const [edit, ...joined] = this.#buffer.splice(0, count);
    for (const next of joined) joinTo(edit, next);
    this.#inFlight = Object.assign(edit, { sequence, sender: author });
    return true;
  }

  /** What is in flight waits again, because it was never sent. */
  recall() {
    if (!this.#inFlight) return;
    this.#inFlight.sequence = undefined;
    this.#buffer.unshift(this.#inFlight);
    this.#inFlight = undefined;
  }

  /** The edits that were joined in flight wait again, and go out one by one. */
  divide() {
    const edit = this.#inFlight;
    if (!edit) return;
    const { seen, step } = edit;
    this.#inFlight = undefined;
    const parts = partsOf(edit).map(delta => ({ delta, seen, exact: undefined, crossed: false, step, isWhole: true }));
    this.#buffer.unshift(...parts);
  }

  /**
   * Every sequence up to this one is used.
   * @param {number} last
   */
  renumber(last) {
    this.#used = Math.max(this.#used, last);
    if (!this.#inFlight || (this.#inFlight.sequence ?? 0) > last) return;
    this.#inFlight.sequence = ++this.#used;
    this.#inFlight.crossed = false;
  }

  /** The client has another id, of which no sequence is used. Nothing may be in flight. */
  startAgain() {
    this.#used = 0;
  }
}

/** @param {Edit} edit which goes out as one with the next @param {Edit} next */
function joinTo(edit, next) {
  edit.parts = [...partsOf(edit), ...partsOf(next)];
  edit.delta = compose(edit.delta, next.delta);
}

/** @param {Edit} edit */
function partsOf({ parts, delta }) {
  return parts ?? [delta];
}

/** @param {Edit} edit @param {Edit} next the one after it */
function mayJoin(edit, next) {
  const isFree = (/** @type {Edit} */ one) => one.exact === undefined && !one.isWhole;
  return isFree(edit) && isFree(next) && weightOf(edit.delta) + weightOf(next.delta) <= MOST_JOINED;
}

/**
 * Whether a commit is what was submitted, but for the faces of cards that were dealt.
 * @param {Delta} submitted @param {Delta} committed
 */
export function became(submitted, committed) {
  const cards = new Set(insertedItems(submitted).filter(isFaceDown).map(item => item.id));
  if (cards.size === 0) return isSameDelta(submitted, committed);
  /** @param {Item} item */
  const turned = item =>
    item.kind === CARD && cards.has(item.id) ? item.with({ ...item.fields(), card: 0 }) : item;
  const faceDown = committed.map(component =>
    component.op === "insert" ? { ...component, items: component.items.map(turned) } : component,
  );
  return isSameDelta(submitted, faceDown);
}

/**
 * Whether an item that a delta inserts is among some items.
 * @param {Delta} delta @param {Iterable<Item>} items
 */
export function hasItemsOf(delta, items) {
  const ids = new Set(insertedItems(delta).map(item => item.id));
  if (ids.size > 0) for (const item of items) if (ids.has(item.id)) return true;
  return false;
}

/** @param {Item} item */
function isFaceDown(item) {
  return item.kind === CARD && item.fields().card === 0;
}
