// What makes one list another, section 6, "Composing, undoing, comparing".

import { isEmptyChange, isSameValue } from "./change.js";
import { DeltaBuilder } from "./components.js";
import { isSame } from "./bytes.js";
import { diffTexts } from "./words.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./list.js').List} List */

/**
 * The delta that makes `old` to `now`: it keeps, edits and moves what both have. Ids are unique in each list. O(n log
 * n), with n the items behind the first blocks that both lists share.
 * @param {List} old @param {List} now
 * @returns {Delta}
 */
export function diff(old, now) {
  const shared = old.sharedStart(now);
  const [before, after] = [old.slice(shared, old.count), now.slice(shared, now.count)];
  const places = new Map(before.map((item, place) => [item.id, place]));
  const origins = after.map(item => {
    const place = places.get(item.id);
    return place !== undefined && before[place].kind === item.kind ? place : -1;
  });
  const known = origins.flatMap((origin, place) => (origin < 0 ? [] : [place]));
  const stays = rising(known.map(place => origins[place])).map(i => known[i]);
  const builder = new DeltaBuilder();
  builder.keep(shared);
  const moved = new Set(known.map(place => origins[place]));
  for (const place of stays) moved.delete(origins[place]);
  const slots = new Map([...moved].sort((a, b) => a - b).map((origin, slot) => [origin, slot]));
  let [i, j] = [0, 0];
  for (const place of [...stays, after.length]) {
    for (; j < place; j++) put(builder, after[j], before[origins[j]], slots.get(origins[j]));
    const origin = place < after.length ? origins[place] : before.length;
    for (; i < origin; i++) builder.add({ op: moved.has(i) ? "pick" : "delete", count: 1 });
    if (place < after.length) builder.edit(changeBetween(before[i++], after[j++]));
  }
  return builder.finish();
}

/**
 * The change that makes one item another of the same kind, if there is one.
 * @param {Item} old @param {Item} now
 * @returns {Change | undefined}
 */
export function changeBetween(old, now) {
  if (old.isSame(now)) return undefined;
  const [a, b] = [old.fields(), now.fields()];
  /** @type {Change} */
  const change = {};
  if (a.text && b.text && !isSame(a.text, b.text)) change.text = diffTexts(a.text, b.text);
  if (a.done !== b.done) change.done = b.done;
  if (a.url && b.url && !isSame(a.url, b.url)) change.url = diffTexts(a.url, b.url);
  if (a.card !== b.card) change.card = b.card;
  if (!isSameValue(a.bytes, b.bytes)) change.bytes = b.bytes;
  if (a.level !== b.level) change.level = b.level;
  return isEmptyChange(change) ? undefined : change;
}

/** @param {DeltaBuilder} builder @param {Item} item @param {Item | undefined} old @param {number | undefined} slot */
function put(builder, item, old, slot) {
  if (old === undefined || slot === undefined) builder.insert([item], "after");
  else builder.drop(slot, slot + 1, "after", changeBetween(old, item));
}

/**
 * The places of a longest rising sequence of different numbers. O(n log n)
 * @param {readonly number[]} numbers
 */
function rising(numbers) {
  /**
   * For each length, the place at which the sequence with the smallest end has its end.
   * @type {number[]}
   */
  const ends = [];
  /** @type {number[]} */
  const before = [];
  numbers.forEach((number, place) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    before[place] = low > 0 ? ends[low - 1] : -1;
    ends[low] = place;
  });
  const places = [];
  for (let place = ends[ends.length - 1] ?? -1; place >= 0; place = before[place]) places.push(place);
  return places.reverse();
}
