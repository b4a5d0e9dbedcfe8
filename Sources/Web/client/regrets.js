// One's own words, as the splices that would take them back, and what later changes of the text do to them.

import { isSame, textOf } from "./bytes.js";
import { endOf, groups, growth, made, normalSplices, unionOf } from "./splices.js";
import { wordSpan, wordsOf } from "./words.js";

/** @typedef {import('./splices.js').Splice} Splice */
/** @typedef {import('./splices.js').LostWords} LostWords */

/**
 * What another change of the text leaves of splices that take words back: without what it has replaced, as a change of
 * the text after it.
 * @param {readonly Splice[]} inverse @param {readonly Splice[]} change
 * @returns {Splice[]}
 */
export function carriedInverse(inverse, change) {
  /** @type {Splice[]} */
  const rest = [];
  let shift = 0;
  for (const group of groups(inverse, change, false)) {
    for (const splice of piecesOf(group.x, group.y)) rest.push({ ...splice, at: splice.at + shift });
    shift += growth(group.y);
  }
  return normalSplices(rest);
}

/**
 * The pieces of splices that lie outside of others, which overlap them. Places count the growth by the others in front.
 * @param {Splice[]} mine @param {Splice[]} theirs
 */
function piecesOf(mine, theirs) {
  if (theirs.length === 0) return mine;
  /** @type {Splice[]} */
  const pieces = [];
  for (const splice of mine) {
    let { inserted } = splice;
    let from = splice.at;
    for (const other of [...theirs, undefined]) {
      const to = Math.min(other ? other.at : Infinity, endOf(splice));
      if (to > from) {
        const before = theirs.filter(one => endOf(one) <= from);
        const removed = splice.removed.subarray(from - splice.at, to - splice.at);
        pieces.push({ at: from + growth(before), removed, inserted });
        inserted = inserted.subarray(0, 0);
      }
      if (other) from = Math.max(from, endOf(other));
    }
  }
  return pieces;
}

/**
 * The words that a later change replaces, of those that the splices would take back. What was only removed leaves no
 * words: it is lost if somebody puts some of the removed words back at that place.
 * @param {readonly Splice[]} inverse @param {readonly Splice[]} change both on the same text
 * @returns {LostWords[]} `original` is the text before one's own edit
 */
export function lostTo(inverse, change) {
  /** @type {LostWords[]} */
  const lost = [];
  let shift = 0;
  /**
   * What one has removed just where the walk is.
   * @type {Splice | undefined}
   */
  let removal;
  for (const group of groups(inverse, change, false)) {
    const [mine] = group.x;
    const [theirs] = group.y;
    const { at, old } = unionOf(group);
    if (mine && theirs) {
      const present = made(at, old, group.y);
      if (!isSame(old, present)) lost.push({ at: at + shift, original: made(at, old, group.x), words: old, present });
    } else if (theirs?.removed.length === 0 && removal?.at === at && isAgain(removal.inserted, theirs.inserted)) {
      lost.push({ at: at + shift, original: removal.inserted, words: old, present: theirs.inserted });
    }
    removal = mine && !theirs && mine.removed.length === 0 ? mine : undefined;
    shift += growth(group.y);
  }
  return lost;
}

/**
 * Whether a text has one of the words that were removed.
 * @param {Uint8Array} removed @param {Uint8Array} inserted
 */
function isAgain(removed, inserted) {
  const known = new Set(wordsOf(textOf(removed)).filter(wordSpan));
  return wordsOf(textOf(inserted)).some(word => known.has(word));
}
