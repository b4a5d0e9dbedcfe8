// How a text is cut into words, so that edits of one word by two people overlap. Section 6, "How to cut a text".

import { bytesOf, textOf } from "./bytes.js";

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
  let [at, i, j] = [0, 0, 0];
  const add = (/** @type {number} */ endI, /** @type {number} */ endJ) => {
    const removed = bytesOf(old.slice(i, endI).join(""));
    const inserted = bytesOf(now.slice(j, endJ).join(""));
    if (removed.length + inserted.length > 0) splices.push({ at, removed, inserted });
    at += removed.length;
  };
  for (const [a, b] of [...common(old, now), [old.length, now.length]]) {
    add(a, b);
    at += bytesOf(old[a] ?? "").length;
    [i, j] = [a + 1, b + 1];
  }
  return splices;
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
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  // What is put behind a space that both have could also stand in front of it, and begins with its space then.
  const isOneSided = old.length === start + end || now.length === start + end;
  const longer = old.length > now.length ? old : now;
  if (isOneSided) while (start > 0 && !BLANK.test(longer[start] ?? " ") && longer[start - 1] === longer[longer.length - end - 1]) [start, end] = [start - 1, end + 1];
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  for (const [i, j] of commonMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end))) pairs.push([start + i, start + j]);
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
