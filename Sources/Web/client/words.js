// How a text is cut into words, so that edits of one word by two people overlap. Section 6, "How to cut a text".

import { bytesOf, textOf } from "./bytes.js";
import { normalSplices } from "./splices.js";

/** @typedef {import('./splices.js').Splice} Splice */

const characters = new Intl.Segmenter("und", { granularity: "grapheme" });
const IDEOGRAPH = /^[\p{Ideographic}\u3040-\u30ff]/u;
const LETTER = /^[\p{Alphabetic}\p{N}]/u;
const BLANK = /^\s/u;
/** Above this many comparisons, all words between the common ones at both ends are replaced. */
const MOST = 1_000_000;

/**
 * The words of a text; all of them, one after the other, are the text.
 * @param {string} text
 * @returns {string[]}
 */
export function wordsOf(text) {
  const parts = [...characters.segment(text)].map(({ segment }) => segment);
  const isLetter = parts.map(part => !IDEOGRAPH.test(part) && LETTER.test(part));
  const words = [];
  for (let i = 0; i < parts.length; ) {
    let word = parts[i++];
    if (isLetter[i - 1]) {
      for (;;) {
        if (isLetter[i]) word += parts[i++];
        else if (isLetter[i + 1] && isMark(parts[i])) word += parts[i++] + parts[i++];
        else break;
      }
    }
    words.push(word);
  }
  return words;
}

/**
 * From where to where a text goes from its first word to its last; nothing if it has no letter, digit or ideograph.
 * @param {string} text
 * @returns {[number, number] | undefined}
 */
export function wordSpan(text) {
  /** @type {[number, number] | undefined} */
  let span;
  for (const { segment, index } of characters.segment(text)) {
    if (IDEOGRAPH.test(segment) || LETTER.test(segment)) span = [span ? span[0] : index, index + segment.length];
  }
  return span;
}

/**
 * The splices that make one text another, cut at words.
 * @param {Uint8Array} from @param {Uint8Array} to
 * @returns {Splice[]}
 */
export function diffTexts(from, to) {
  const [old, now] = [wordsOf(textOf(from)), wordsOf(textOf(to))];
  /** @type {Splice[]} */
  const splices = [];
  let [i, j, kept] = [0, 0, 0];
  for (const [endI, endJ] of [...common(old, now), [old.length, now.length]]) {
    if (i < endI || j < endJ) {
      const way = i === endI ? slide(now, j, endJ, kept) : j === endJ ? slide(old, i, endI, kept) : 0;
      const at = bytesOf(old.slice(0, i - way).join("")).length;
      const [removed, inserted] = [old.slice(i - way, endI - way), now.slice(j - way, endJ - way)];
      splices.push({ at, removed: bytesOf(removed.join("")), inserted: bytesOf(inserted.join("")) });
      kept = 0; // One word at least stays before the next splice.
    } else {
      kept++;
    }
    [i, j] = [endI + 1, endJ + 1];
  }
  return normalSplices(splices);
}

/**
 * By how many words some that come or go can move to the left, so that they begin with their space.
 * @param {string[]} words @param {number} start @param {number} end @param {number} kept the words in front of them
 */
function slide(words, start, end, kept) {
  for (let way = 0; way <= kept; way++) {
    if (words[start - way][0] === " ") return way;
    if (way === kept || words[start - 1 - way] !== words[end - 1 - way]) return 0;
  }
  return 0;
}

/**
 * Pairs of the same words in both, rising: a longest common subsequence, or nearly.
 * @param {string[]} old @param {string[]} now
 * @returns {[number, number][]}
 */
function common(old, now) {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const isLong = (old.length - start) * (now.length - start) > MOST;
  const most = isLong ? Math.min(old.length, now.length) - start : 0;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  for (const [i, j] of commonMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end))) {
    pairs.push([start + i, start + j]);
  }
  for (let i = end; i > 0; i--) pairs.push([old.length - i, now.length - i]);
  return pairs;
}

/** @param {string[]} old @param {string[]} now @returns {[number, number][]} */
function commonMiddle(old, now) {
  if (old.length * now.length > MOST) return [];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] = old[i] === now[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) pairs.push([i++, j++]);
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/**
 * Whether a character between two runs of letters joins them.
 * @param {string} part no letter
 */
function isMark(part) {
  return !BLANK.test(part) && !IDEOGRAPH.test(part);
}
