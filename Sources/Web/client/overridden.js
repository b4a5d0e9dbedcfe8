// One's own work that others have overridden without having seen it, section 6, "What others have overridden".

import { FIELDS, TEXTS, isSameValue, isText } from "./change.js";
import { insertedItems } from "./components.js";
import { diff } from "./diff.js";
import { carriedInverse, lostTo } from "./regrets.js";
import { segmentsOf } from "./segments.js";
import { invertSplices } from "./splices.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./change.js').Field} Field */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./splices.js').Splice} Splice */
/** @typedef {import('./superseded.js').Lost} Lost */
/** @typedef {{ item: string, lost: Lost }} LostOfItem what somebody has taken of one's own work on an item */
/** @typedef {{ text?: readonly Splice[], url?: readonly Splice[] }} Inverses those of one's own splices */
/** @typedef {{ item: Item, fate: "stays" | "moves" | "goes", change: Change }} Touched what becomes of an item */
/**
 * One's own work on an item, in one commit.
 * @typedef {object} Work
 * @property {number} revision
 * @property {boolean} isMove
 * @property {Field[]} fields
 * @property {Change} change with the values that one has set
 * @property {Inverses} inverses of one's splices, on the present texts
 */

/** Work on more items than these is forgotten, the oldest first, and so are more commits of one item. */
const MOST_ITEMS = 2000;
const MOST_COMMITS = 16;

/** What one's own commits did to items, to tell when somebody who had not seen them overrides them. */
export class OwnWork {
  /** @type {Map<string, Work[]>} */
  #items = new Map();

  /**
   * One's own commit. O(components + items that it touches)
   * @param {{ revision: number, delta: Delta }} commit @param {List} base the list before it
   */
  record({ revision, delta }, base) {
    for (const { item, fate, change } of touched(delta, base)) {
      const fields = FIELDS.filter(field => change[field] !== undefined);
      const work = { revision, isMove: fate === "moves", fields, change, inverses: inversesOf(change) };
      const before = this.#carried(item.id, change);
      // The items that were touched last are the last ones. One that is gone may come back with another text.
      this.#items.delete(item.id);
      if (fate !== "goes") this.#items.set(item.id, [...before, work].slice(-MOST_COMMITS));
    }
    for (const id of this.#items.keys()) {
      if (this.#items.size <= MOST_ITEMS) break;
      this.#items.delete(id);
    }
  }

  /**
   * Somebody else's commit: what of one's own work, which its author had not seen, it has overridden.
   * @param {{ base: number, delta: Delta }} commit @param {List} base the list before it
   * @returns {LostOfItem[]}
   */
  overridden({ base: seen, delta }, base) {
    /** @type {LostOfItem[]} */
    const all = [];
    if (this.#items.size === 0) return all;
    const known = [...touched(delta, base)].filter(({ item }) => this.#items.has(item.id));
    const [gone, here] = [known.filter(({ fate }) => fate === "goes"), known.filter(({ fate }) => fate !== "goes")];
    for (const { item, fate, change } of [...gone, ...here]) {
      const { id } = item;
      const unseen = (this.#items.get(id) ?? []).filter(({ revision }) => seen < revision);
      for (const lost of lossesOf(unseen, fate, change)) all.push({ item: id, lost });
      if (fate === "goes") this.#items.delete(id);
      else this.#items.set(id, this.#carried(id, change));
    }
    return all;
  }

  /**
   * The work on an item after another change of its texts.
   * @param {string} id @param {Change} change
   * @returns {Work[]}
   */
  #carried(id, change) {
    return (this.#items.get(id) ?? []).map(work => {
      const inverses = { ...work.inverses };
      for (const field of TEXTS) {
        const [mine, theirs] = [inverses[field], change[field]];
        if (mine && theirs) inverses[field] = carriedInverse(mine, theirs);
      }
      return { ...work, inverses };
    });
  }
}

/**
 * What of one's own committed edit a snapshot does not show.
 * @param {Delta} delta made on `before` @param {List} before @param {List} after with the edit
 * @param {List} now the snapshot
 * @returns {LostOfItem[]}
 */
export function missing(delta, before, after, now) {
  /** @type {LostOfItem[]} */
  const all = [];
  /** @type {(item: Item, losses: Lost[]) => void} */
  const add = ({ id }, losses) => {
    for (const lost of losses) all.push({ item: id, lost });
  };
  const theirs = new Map([...touched(diff(after, now), after)].map(one => [one.item.id, one]));
  const here = new Set([...now].map(({ id }) => id));
  const mine = [...touched(delta, before)];
  const gone = mine.filter(({ fate }) => fate === "goes").map(({ item }) => item);
  const old = new Set(gone.map(({ id }) => id));
  for (const item of insertedItems(delta)) {
    if (old.has(item.id)) continue;
    if (!here.has(item.id)) add(item, [{ lost: "edit", fields: [...FIELDS] }]);
    else add(item, lostWords(wholly(item), theirs.get(item.id)?.change ?? {}));
  }
  for (const item of gone) if (here.has(item.id)) add(item, [{ lost: "edit", fields: [...FIELDS] }]);
  for (const { item, fate, change } of mine) {
    if (fate === "goes") continue;
    const { fate: other, change: others } = theirs.get(item.id) ?? { fate: "stays", change: {} };
    /** @param {Field} field */
    const isTaken = field => other === "goes" || (others[field] !== undefined && !isText(field));
    const fields = FIELDS.filter(field => change[field] !== undefined && isTaken(field));
    if (fate === "moves" && other !== "stays") add(item, [{ lost: "move" }]);
    if (fields.length > 0) add(item, [{ lost: "edit", fields }]);
    if (other !== "goes") add(item, lostWords(inversesOf(change), others));
  }
  return all;
}

/**
 * The items that a delta changes, deletes, or moves to another place.
 * @param {Delta} delta @param {List} list
 * @returns {Generator<Touched>}
 */
function* touched(delta, list) {
  const segments = segmentsOf(delta);
  /** For each drop, how many of the items before it stay. */
  const places = new Map();
  let stays = 0;
  for (const segment of segments) {
    for (const content of segment.gap) places.set(content, stays);
    if (segment.op === "keep") stays += segment.count;
  }
  let at = 0;
  stays = 0;
  for (const { op, count, change = {}, drop } of segments) {
    const fate = op === "delete" ? "goes" : drop && places.get(drop) !== stays ? "moves" : "stays";
    const isTouched = fate !== "stays" || FIELDS.some(field => change[field] !== undefined);
    if (isTouched) for (const item of list.slice(at, at + count)) yield { item, fate, change };
    if (op === "keep") stays += count;
    at += count;
  }
}

/**
 * What somebody's commit overrides of one's own works on an item, which its author had not seen.
 * @param {Work[]} works @param {Touched["fate"]} fate @param {Change} change
 * @returns {Lost[]}
 */
function lossesOf(works, fate, change) {
  /** @type {Lost[]} */
  const lost = [];
  const values = Object.assign({}, ...works.map(work => work.change));
  const fields = FIELDS.filter(field => {
    if (fate === "goes") return works.some(work => work.fields.includes(field));
    return !isText(field) && isOther(values[field], change[field]);
  });
  if (fate !== "stays" && works.some(({ isMove }) => isMove)) lost.push({ lost: "move" });
  if (fields.length > 0) lost.push({ lost: "edit", fields });
  if (fate !== "goes") for (const { inverses } of works) lost.push(...lostWords(inverses, change));
  return lost;
}

/**
 * The words of one's own that a change replaces.
 * @param {Inverses} inverses @param {Change} change
 * @returns {Lost[]}
 */
function lostWords(inverses, change) {
  return TEXTS.flatMap(field => {
    const [mine, theirs] = [inverses[field], change[field]];
    if (!mine || !theirs) return [];
    return lostTo(mine, theirs).map(words => /** @type {Lost} */ ({ lost: "words", field, ...words }));
  });
}

/** @param {Change} change @returns {Inverses} */
function inversesOf({ text, url }) {
  return { text: text && invertSplices(text), url: url && invertSplices(url) };
}

/**
 * What takes all texts of a new item back.
 * @param {Item} item
 * @returns {Inverses}
 */
function wholly(item) {
  const { text, url } = item.fields();
  /** @param {Uint8Array | undefined} removed */
  const all = removed =>
    removed && [{ at: 0, removed, inserted: removed.subarray(0, 0) }];
  return { text: all(text), url: all(url) };
}

/**
 * Whether both are given, and differ.
 * @param {unknown} mine @param {unknown} theirs
 */
function isOther(mine, theirs) {
  return mine !== undefined && theirs !== undefined && !isSameValue(mine, theirs);
}
