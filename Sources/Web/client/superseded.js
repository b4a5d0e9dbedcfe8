// What of two merged deltas has no effect, section 6, "Merging": what people are told.

import { FIELDS, TEXTS, isSameValue, isText } from "./change.js";
import { isContent, oldCount } from "./components.js";
import { rowsOf } from "./segments.js";
import { lostWords } from "./splices.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./change.js').Field} Field */
/** @typedef {import('./segments.js').Fate} Fate */
/** @typedef {import('./list.js').List} List */
/** @typedef {{ lost: "move" }} LostMove */
/** @typedef {{ lost: "edit", fields: Field[] }} LostFields */
/** @typedef {import('./splices.js').LostWords & { lost: "words", field: "text" | "url" }} LostText */
/** @typedef {LostMove | LostFields | LostText} Lost */
/** @typedef {Lost & { item: string, loser: "first" | "second" }} Superseded */

/**
 * What the deltas wanted and did not get, by the position of the items in the list on which both were made. Its cost is
 * linear in the components of both and the items that lose something.
 * @param {List} list @param {Delta} first @param {Delta} second the later one
 * @returns {Superseded[]}
 */
export function superseded(list, first, second) {
  /** @type {Superseded[]} */
  const all = [];
  if (first.length === 0 || second.length === 0) return all;
  const [gapsOfFirst, gapsOfSecond] = [gapsOf(first), gapsOf(second)];
  let at = 0;
  for (const { count, x, y } of rowsOf(first, second)) {
    /** @type {(loser: "first" | "second", losses: Lost[]) => void} */
    const add = (loser, losses) => {
      if (losses.length === 0) return;
      for (const { id: item } of list.slice(at, at + count)) {
        for (const lost of losses) all.push({ item, ...lost, loser });
      }
    };
    if (x.op === "delete") add("second", lostToDeletion(y));
    else if (y.op === "delete") add("first", lostToDeletion(x));
    else {
      if (x.drop && y.drop && gapsOfFirst.get(x.drop) !== gapsOfSecond.get(y.drop)) add("first", [{ lost: "move" }]);
      if (x.change && y.change) add("first", lostToChange(x.change, y.change));
    }
    at += count;
  }
  return all;
}

/**
 * All that somebody wanted of items that the other deletes.
 * @param {Fate} fate
 * @returns {Lost[]}
 */
function lostToDeletion(fate) {
  const { op, change } = fate;
  /** @type {Lost[]} */
  const lost = op === "pick" ? [{ lost: "move" }] : [];
  if (change) lost.push({ lost: "edit", fields: FIELDS.filter(field => change[field] !== undefined) });
  return lost;
}

/** @param {Change} earlier @param {Change} later @returns {Lost[]} */
function lostToChange(earlier, later) {
  /** @type {Lost[]} */
  const lost = [];
  const fields = FIELDS.filter(field => {
    const [a, b] = [earlier[field], later[field]];
    return !isText(field) && a !== undefined && b !== undefined && !isSameValue(a, b);
  });
  if (fields.length > 0) lost.push({ lost: "edit", fields });
  for (const field of TEXTS) {
    const all = lostWords(earlier[field] ?? [], later[field] ?? []);
    for (const words of all) lost.push({ lost: "words", field, ...words });
  }
  return lost;
}

/**
 * The gap of each drop, counted in the old list.
 * @param {Delta} delta
 */
function gapsOf(delta) {
  const gaps = new Map();
  let at = 0;
  for (const component of delta) {
    if (isContent(component)) gaps.set(component, at);
    at += oldCount(component);
  }
  return gaps;
}
