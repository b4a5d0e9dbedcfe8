// The changes of one text, section 6, "A change" and "Merging". Texts are UTF-8, and places count its bytes.

import { isBoundary, isSame, joined } from "./bytes.js";

/**
 * At a place of the text before the change, these bytes become those.
 * @typedef {object} Splice
 * @property {number} at
 * @property {Uint8Array} removed
 * @property {Uint8Array} inserted
 */
/** @typedef {readonly Splice[]} Splices from left to right, none touching the next */
/**
 * Splices of two changes that are settled together.
 * @typedef {{ x: Splice[], y: Splice[] }} Group
 */
/**
 * A part of a text of which two changes make different things.
 * @typedef {object} Clash
 * @property {number} at where it is after the later change alone
 * @property {number} place where it is after both
 * @property {Uint8Array} old what was there before both
 * @property {Uint8Array} x what the earlier change makes of it
 * @property {Uint8Array} y what the later change makes of it
 */
/**
 * What a change of a text wanted and did not get.
 * @typedef {object} LostWords
 * @property {number} at where it is now
 * @property {Uint8Array} original what was there before both
 * @property {Uint8Array} words what was lost
 * @property {Uint8Array} present what is there now
 */

/** A delta that does not fit the list that it is applied to. */
export class DoesNotFit extends Error {
  name = "DoesNotFit";
}

/**
 * The normal form of splices that go from left to right.
 * @param {Splices} splices
 * @returns {Splice[]}
 */
export function normalSplices(splices) {
  /** @type {Splice[]} */
  const touching = [];
  for (const splice of splices) {
    if (isSame(splice.removed, splice.inserted)) continue;
    const last = touching[touching.length - 1];
    if (last && splice.at < endOf(last)) throw new DoesNotFit("splices overlap, or are not in order");
    if (last && endOf(last) === splice.at) touching[touching.length - 1] = both(last, splice);
    else touching.push(splice);
  }
  return touching.filter(splice => !isSame(splice.removed, splice.inserted));
}

/**
 * The text after the change. Throws `DoesNotFit`.
 * @param {Uint8Array} text @param {Splices} splices
 */
export function applySplices(text, splices) {
  const pieces = [];
  let at = 0;
  for (const splice of splices) {
    const end = endOf(splice);
    const isThere = end <= text.length && isSame(text.subarray(splice.at, end), splice.removed);
    if (!isThere || !isBoundary(text, splice.at) || !isBoundary(text, end)) {
      throw new DoesNotFit("the text is another where a splice changes it");
    }
    pieces.push(text.subarray(at, splice.at), splice.inserted);
    at = end;
  }
  return joined(...pieces, text.subarray(at));
}

/**
 * The change that takes this one back.
 * @param {Splices} splices
 * @returns {Splice[]}
 */
export function invertSplices(splices) {
  let shift = 0;
  return splices.map(({ at, removed, inserted }) => {
    const splice = { at: at + shift, removed: inserted, inserted: removed };
    shift += inserted.length - removed.length;
    return splice;
  });
}

/**
 * What remains of x after y, when `isLater` says whether x is the later.
 * @param {Splices} x @param {Splices} y @param {boolean} isLater
 * @returns {Splice[]}
 */
export function transformSplices(x, y, isLater) {
  /** @type {Splice[]} */
  const rest = [];
  let shift = 0;
  for (const group of groups(x, y, isLater)) {
    if (group.y.length === 0) {
      for (const splice of group.x) rest.push({ ...splice, at: splice.at + shift });
    } else if (group.x.length > 0 && isLater) {
      const { at, old } = unionOf(group);
      rest.push({ at: at + shift, removed: made(at, old, group.y), inserted: made(at, old, group.x) });
    }
    shift += growth(group.y);
  }
  return normalSplices(rest);
}

/**
 * Both changes as one; the second was made after the first.
 * @param {Splices} first @param {Splices} second
 * @returns {Splice[]}
 */
export function composeSplices(first, second) {
  /** @type {Splice[]} */
  const all = [];
  let shift = 0;
  for (const group of groups(invertSplices(first), second, false)) {
    const { at, old } = unionOf(group);
    all.push({ at: at + shift, removed: made(at, old, group.x), inserted: made(at, old, group.y) });
    shift += growth(group.x);
  }
  return normalSplices(all);
}

/**
 * The words of the earlier change that the later one replaces.
 * @param {Splices} earlier @param {Splices} later
 * @returns {LostWords[]}
 */
export function lostWords(earlier, later) {
  return clashes(earlier, later).map(({ place, old, x, y }) => ({ at: place, original: old, words: x, present: y }));
}

/**
 * Where two changes of one text make different words of the same ones.
 * @param {Splices} x @param {Splices} y the later
 * @returns {Clash[]}
 */
export function clashes(x, y) {
  /** @type {Clash[]} */
  const all = [];
  let shift = 0;
  let shiftOfBoth = 0;
  for (const group of groups(x, y, false)) {
    const isClash = group.x.length > 0 && group.y.length > 0;
    if (isClash) {
      const { at, old } = unionOf(group);
      const [mine, theirs] = [made(at, old, group.x), made(at, old, group.y)];
      if (!isSame(mine, theirs)) all.push({ at: at + shift, place: at + shiftOfBoth, old, x: mine, y: theirs });
    }
    shift += growth(group.y);
    shiftOfBoth += growth(group.y) + (isClash ? 0 : growth(group.x));
  }
  return all;
}

/**
 * The splices of two changes of one text, from left to right: those that overlap together, all others alone. Of two
 * insertions at one place, that of the earlier change comes first.
 * @param {Splices} x @param {Splices} y @param {boolean} isXLater
 * @returns {Group[]}
 */
export function groups(x, y, isXLater) {
  const all = [];
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    const [startX, startY] = [i, j];
    if (j === y.length) i++;
    else if (i === x.length) j++;
    else if (overlap(x[i], y[j])) {
      i++;
      j++;
      for (;;) {
        if (i < x.length && overlap(x[i], y[j - 1])) i++;
        else if (j < y.length && overlap(x[i - 1], y[j])) j++;
        else break;
      }
    } else if (isBefore(x[i], y[j], !isXLater)) i++;
    else j++;
    all.push({ x: x.slice(startX, i), y: y.slice(startY, j) });
  }
  return all;
}

/**
 * Whether what they remove has a byte in common, or one is an insertion strictly inside what the other removes.
 * @param {Splice} a @param {Splice} b
 */
export function overlap(a, b) {
  return a.at < endOf(b) && b.at < endOf(a);
}

/**
 * From where to where a group removes something, and what was there.
 * @param {Group} group
 */
export function unionOf({ x, y }) {
  const all = [...x, ...y].sort((a, b) => a.at - b.at || endOf(a) - endOf(b));
  const at = all[0].at;
  /** @type {Uint8Array[]} */
  const pieces = [];
  let end = at;
  for (const splice of all) {
    if (endOf(splice) <= end) continue;
    pieces.push(splice.removed.subarray(end - splice.at));
    end = endOf(splice);
  }
  return { at, old: joined(...pieces) };
}

/**
 * What splices make of a piece of a text.
 * @param {number} start where the piece begins @param {Uint8Array} old @param {Splices} splices
 */
export function made(start, old, splices) {
  const pieces = [];
  let at = start;
  for (const splice of splices) {
    pieces.push(old.subarray(at - start, splice.at - start), splice.inserted);
    at = endOf(splice);
  }
  return joined(...pieces, old.subarray(at - start));
}

/** @param {Splices} splices */
export function growth(splices) {
  return splices.reduce((sum, splice) => sum + splice.inserted.length - splice.removed.length, 0);
}

/**
 * Of two splices that do not overlap, whether the first one is on the left.
 * @param {Splice} a @param {Splice} b @param {boolean} isAEarlier
 */
function isBefore(a, b, isAEarlier) {
  if (a.at !== b.at) return a.at < b.at;
  const [endA, endB] = [endOf(a), endOf(b)];
  return endA === endB ? isAEarlier : endA < endB;
}

/**
 * Two splices that touch, as one.
 * @param {Splice} a @param {Splice} b
 * @returns {Splice}
 */
function both(a, b) {
  return { at: a.at, removed: joined(a.removed, b.removed), inserted: joined(a.inserted, b.inserted) };
}

/** @param {Splice} splice */
export function endOf(splice) {
  return splice.at + splice.removed.length;
}
