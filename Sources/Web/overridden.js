// One's own work that others have overridden without having seen it, section 6, "What others have overridden".

import { textOf } from "./bytes.js";
import { FIELDS, TEXTS, isSameValue } from "./change.js";
import { diff } from "./diff.js";
import { segmentsOf } from "./segments.js";
import { clashes, invertSplices, overlap, transformSplices } from "./splices.js";
import { wordSpan, wordsOf } from "./words.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./change.js').Field} Field */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./segments.js').Segment} Segment */
/** @typedef {import('./splices.js').Splice} Splice */
/** @typedef {import('./superseded.js').Lost} Lost */
/**
 * What somebody has taken of one's own work on an item.
 * @typedef {{ item: string, lost: Lost }} LostOfItem
 */
/**
 * What is left of one's own work on an item, in one commit.
 * @typedef {object} Work
 * @property {number} revision
 * @property {boolean} isMove
 * @property {Change} values the fields that are no texts, as one has set them
 * @property {{ text?: Splice[], url?: Splice[] }} inverses those of one's splices, on the present texts
 */

/** The work of one's own commits, as long as something of it is left. */
export class OwnWork {
  /** @type {Map<string, Work[]>} */
  #items = new Map();

  /**
   * One's own commit.
   * @param {{ revision: number, delta: Delta }} commit @param {List} base the list before it
   */
  record({ revision, delta }, base) {
    this.#follow({ base: revision, delta }, base);
    for (const { segment, item } of touched(delta, base)) {
      if (segment.op !== "delete") this.add(item.id, workOf(revision, segment.op === "pick", segment.change));
    }
  }

  /** @param {string} id @param {Work} work */
  add(id, work) {
    this.#items.set(id, [...(this.#items.get(id) ?? []), work]);
  }

  /**
   * Somebody else's commit: what of one's own work, which its author had not seen, it has overridden.
   * @param {{ base: number, delta: Delta }} commit @param {List} base the list before it
   * @returns {LostOfItem[]}
   */
  overridden(commit, base) {
    return this.#follow(commit, base);
  }

  /** @param {{ base: number, delta: Delta }} commit @param {List} base */
  #follow(commit, base) {
    /** @type {LostOfItem[]} */
    const all = [];
    if (this.#items.size === 0) return all;
    for (const { segment, item, isMove } of touched(commit.delta, base)) {
      const { id } = item;
      const works = this.#items.get(id);
      if (!works) continue;
      for (const work of works) {
        const lost = segment.op === "delete" ? allOf(work) : [...lostMove(work, isMove), ...lostFields(work, segment.change), ...lostWords(work, segment.change)];
        if (work.revision > commit.base) all.push(...lost.map(one => ({ item: id, lost: one })));
      }
      const left = segment.op === "delete" ? [] : works.map(work => after(work, isMove, segment.change)).filter(isSomething);
      if (left.length > 0) this.#items.set(id, left);
      else this.#items.delete(id);
    }
    return all;
  }
}

/**
 * What of one's own committed edit a snapshot does not show.
 * @param {Delta} delta made on `before` @param {List} before @param {List} after with the edit
 * @param {List} now the snapshot
 * @returns {LostOfItem[]}
 */
export function missing(delta, before, after, now) {
  const work = new OwnWork();
  work.record({ revision: 1, delta }, before);
  const ids = new Set([...now].map(item => item.id));
  const inserted = delta.flatMap(component => (component.op === "insert" ? component.items : []));
  for (const item of inserted) if (ids.has(item.id)) work.add(item.id, workOfInsertion(item));
  const lost = work.overridden({ base: 0, delta: diff(after, now) }, after);
  const deleted = [...touched(delta, before)].filter(({ segment }) => segment.op === "delete").map(({ item }) => item);
  const gone = [...inserted.filter(item => !ids.has(item.id)), ...deleted.filter(item => ids.has(item.id))];
  return [...lost, ...gone.map(item => ({ item: item.id, lost: /** @type {Lost} */ ({ lost: "edit", fields: [...FIELDS] }) }))];
}

/**
 * The items that a delta deletes, moves or changes.
 * @param {Delta} delta @param {List} list
 * @returns {Generator<{ segment: Segment, item: Item, isMove: boolean }>} `isMove` if it goes to another place
 */
function* touched(delta, list) {
  const gaps = gapsOf(delta);
  let at = 0;
  for (const segment of segmentsOf(delta)) {
    const { op, count, change, drop } = segment;
    if (op !== "keep" || change) {
      const gap = drop ? gaps.get(drop) ?? at : at;
      const isMove = gap < at || gap > at + count;
      for (const item of list.slice(at, at + count)) yield { segment, item, isMove };
    }
    at += count;
  }
}

/** @param {number} revision @param {boolean} isMove @param {Change} [change] @returns {Work} */
function workOf(revision, isMove, change = {}) {
  const { text, url, ...values } = change;
  return { revision, isMove, values, inverses: { text: text && invertSplices(text), url: url && invertSplices(url) } };
}

/** @param {Item} item @returns {Work} */
function workOfInsertion(item) {
  const { text, url, ...values } = item.fields();
  const nothing = new Uint8Array(0);
  const all = (/** @type {Uint8Array | undefined} */ removed) => removed && [{ at: 0, removed, inserted: nothing }];
  return { revision: 1, isMove: false, values, inverses: { text: all(text), url: all(url) } };
}

// What is lost

/** @param {Work} work @returns {Lost[]} */
function allOf({ isMove, values, inverses }) {
  const fields = FIELDS.filter(field => (field === "text" || field === "url" ? inverses[field] : values[field] !== undefined));
  /** @type {Lost[]} */
  const lost = isMove ? [{ lost: "move" }] : [];
  return fields.length > 0 ? [...lost, { lost: "edit", fields }] : lost;
}

/** @param {Work} work @param {boolean} isMove @returns {Lost[]} */
function lostMove(work, isMove) {
  return work.isMove && isMove ? [{ lost: "move" }] : [];
}

/** @param {Work} work @param {Change} [change] @returns {Lost[]} */
function lostFields(work, change = {}) {
  const fields = FIELDS.filter(field => isOther(work.values[field], change[field]));
  return fields.length > 0 ? [{ lost: "edit", fields }] : [];
}

/** @param {Work} work @param {Change} [change] @returns {Lost[]} */
function lostWords(work, change = {}) {
  return TEXTS.flatMap(field => {
    const [mine, theirs] = [work.inverses[field] ?? [], change[field] ?? []];
    const replaced = clashes(mine, theirs).map(({ at, old, x, y }) => ({ at, original: x, words: old, present: y }));
    const again = mine.flatMap(splice => insertedAgain(splice, theirs));
    return [...replaced, ...again].sort((a, b) => a.at - b.at).map(words => /** @type {Lost} */ ({ lost: "words", field, ...words }));
  });
}

/**
 * What was only removed is overridden if somebody inserts some of its words again.
 * @param {Splice} inverse @param {readonly Splice[]} theirs
 */
function insertedAgain(inverse, theirs) {
  if (inverse.removed.length > 0) return [];
  const known = new Set(wordsOf(textOf(inverse.inserted)).filter(wordSpan));
  let shift = 0;
  const again = [];
  for (const { at, removed, inserted } of theirs) {
    const isThere = removed.length === 0 && at === inverse.at;
    if (isThere && wordsOf(textOf(inserted)).some(word => known.has(word))) {
      again.push({ at: at + shift, original: inverse.inserted, words: removed, present: inserted });
    }
    shift += inserted.length - removed.length;
  }
  return again;
}

// What is left

/** @param {Work} work @param {boolean} isMove @param {Change} [change] @returns {Work} */
function after(work, isMove, change = {}) {
  const values = { ...work.values };
  for (const field of FIELDS) if (isOther(values[field], change[field])) delete values[field];
  const left = (/** @type {Splice[] | undefined} */ mine, /** @type {readonly Splice[]} */ theirs = []) =>
    mine && transformSplices(mine.filter(splice => !theirs.some(other => isOver(splice, other))), theirs, false);
  return {
    revision: work.revision,
    isMove: work.isMove && !isMove,
    values,
    inverses: { text: left(work.inverses.text, change.text), url: left(work.inverses.url, change.url) },
  };
}

/** @param {Work} work */
function isSomething({ isMove, values, inverses }) {
  return isMove || FIELDS.some(field => values[field] !== undefined) || TEXTS.some(field => inverses[field]?.length);
}

/** @param {Splice} mine @param {Splice} theirs */
function isOver(mine, theirs) {
  return overlap(mine, theirs) || (mine.removed.length === 0 && insertedAgain(mine, [theirs]).length > 0);
}

/**
 * Whether both are given, and differ.
 * @param {unknown} mine @param {unknown} theirs
 */
function isOther(mine, theirs) {
  return mine !== undefined && theirs !== undefined && !isSameValue(mine, theirs);
}

/**
 * The gap of each drop, counted in the old list.
 * @param {Delta} delta
 */
function gapsOf(delta) {
  const gaps = new Map();
  let at = 0;
  for (const segment of segmentsOf(delta)) {
    for (const content of segment.gap) gaps.set(content, at);
    at += segment.count;
  }
  return gaps;
}
