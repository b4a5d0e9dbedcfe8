// Which words an undo leaves alone because others have written them, section 6, "Undo and redo", "Words stay".

import { bytesOf, textOf } from "./bytes.js";
import { TEXTS, normalChange } from "./change.js";
import { DeltaBuilder } from "./components.js";
import { mapIndexes } from "./delta.js";
import { rowsOf } from "./segments.js";
import { clashes, endOf, invertSplices, normalSplices, overlap, transformSplices } from "./splices.js";
import { wordSpan } from "./words.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./splices.js').Splice} Splice */
/** @typedef {import('./splices.js').LostWords} LostWords */
/**
 * Words that an undo left alone: `original` is one's own text, `words` what the undo would have put there.
 * @typedef {LostWords & { item: string, field: "text" | "url" }} Kept
 */

/**
 * Leaves out of the inverse of an edit what would replace words of others.
 * @param {Delta} inverse @param {Delta} others what they did since, on the same list @param {List} view after that
 * @returns {{ inverse: Delta, stayed: Delta, kept: Kept[] }} what is left of it; what others seem to have written where
 *   the whole inverse has been applied; and what the person is told
 */
export function keepingWords(inverse, others, view) {
  /** @type {Map<Change, Change | undefined>} */
  const changes = new Map();
  /** @type {{ at: number, words: Change, lost: Omit<Kept, "item">[] }[]} */
  const found = [];
  let at = 0;
  for (const { count, x, y } of rowsOf(inverse, others)) {
    if (x.change && y.change) {
      const { change, words, lost } = keeping(x.change, y.change);
      if (words) {
        changes.set(x.change, change);
        found.push({ at, words, lost });
      }
    }
    at += count;
  }
  // None of them is gone: both change it.
  const [mine, theirs] = [inverse, others].map(delta => mapIndexes(delta, found.map(({ at }) => at)));
  const kept = found.flatMap(({ lost }, i) => lost.map(one => ({ item: view.at(theirs[i]).id, ...one })));
  const stayed = edits(found.map(({ words }, i) => [mine[i], words]));
  return { inverse: withChanges(inverse, changes), stayed, kept };
}

/** @param {Change} inverse @param {Change} others */
function keeping(inverse, others) {
  /** @type {Change} */
  const change = { ...inverse };
  /** @type {Change} */
  const words = {};
  /** @type {(LostWords & { field: "text" | "url" })[]} */
  const lost = [];
  for (const field of TEXTS) {
    const [mine, theirs] = [inverse[field], others[field]];
    if (!mine || !theirs) continue;
    const { going, staying } = divided(mine, theirs);
    change[field] = going;
    words[field] = invertSplices(transformSplices(staying, going, true));
    for (const { at, old, x, y } of clashes(staying, theirs)) {
      lost.push({ field, at, original: old, words: x, present: y });
    }
  }
  return { change: normalChange(change), words: normalChange(words), lost };
}

/**
 * What of the splices of an undo still goes, and what stays.
 * @param {readonly Splice[]} mine @param {readonly Splice[]} theirs
 */
function divided(mine, theirs) {
  /** @type {Splice[]} */
  const going = [];
  /** @type {Splice[]} */
  const staying = [];
  for (const splice of mine) {
    const across = theirs.filter(other => overlap(splice, other));
    const runs = across.length > 0 ? runsThatGo(splice, across) : [extentOf(splice)];
    runs.forEach(([from, to], i) => going.push(part(splice, from, to, i === 0)));
    let from = splice.at;
    for (const [start, end] of runs) {
      if (start > from) staying.push(part(splice, from, start, false));
      from = end;
    }
    if (endOf(splice) > from || runs.length === 0) staying.push(part(splice, from, endOf(splice), runs.length === 0));
  }
  return { going: normalSplices(going), staying: normalSplices(staying) };
}

/**
 * The runs of a longer text that nobody else has touched, as far as they go.
 * @param {Splice} splice @param {Splice[]} across splices of others that overlap it
 * @returns {[number, number][]}
 */
function runsThatGo(splice, across) {
  /** @type {[number, number][]} */
  const runs = [];
  let from = splice.at;
  for (const other of [...across.filter(({ removed }) => removed.length > 0), undefined]) {
    const to = Math.max(other ? other.at : endOf(splice), from);
    const run = shortened(splice, from, to, runs.length === 0, !other);
    if (run && !across.some(({ at, removed }) => removed.length === 0 && at > from && at < run[1])) runs.push(run);
    if (other) from = endOf(other);
  }
  return runs;
}

/**
 * A run as far as it goes. In front of words of others, the blanks at its end stay. Behind words of others, what is
 * before its first word stays if the run takes the place of the splice's first words, or is the last and ends without a
 * word.
 * @param {Splice} splice @param {number} from @param {number} to @param {boolean} isFirst @param {boolean} isLast
 * @returns {[number, number] | undefined}
 */
function shortened(splice, from, to, isFirst, isLast) {
  const text = textOf(part(splice, from, to, false).removed);
  const span = wordSpan(text);
  if (!span) return undefined;
  const stays = (isFirst && splice.inserted.length > 0) || (isLast && span[1] < text.length);
  const start = from > splice.at && stays ? span[0] : 0;
  return [from + bytesOf(text.slice(0, start)).length, isLast ? to : from + bytesOf(text.trimEnd()).length];
}

/** @param {Splice} splice @returns {[number, number]} */
function extentOf(splice) {
  return [splice.at, endOf(splice)];
}

/**
 * A part of what a splice removes, with what it inserts or without.
 * @param {Splice} splice @param {number} from @param {number} to @param {boolean} isWith
 * @returns {Splice}
 */
function part({ at, removed, inserted }, from, to, isWith) {
  const piece = removed.subarray(from - at, to - at);
  return { at: from, removed: piece, inserted: isWith ? inserted : inserted.subarray(0, 0) };
}

/**
 * A delta with other changes in it.
 * @param {Delta} delta @param {Map<Change, Change | undefined>} changes
 */
function withChanges(delta, changes) {
  if (changes.size === 0) return delta;
  const builder = new DeltaBuilder();
  for (const component of delta) {
    const old = component.op === "edit" || component.op === "drop" ? component.change : undefined;
    const change = old && changes.has(old) ? changes.get(old) : old;
    if (component.op === "edit") builder.edit(change);
    else if (component.op === "drop") builder.drop(component.from, component.to, component.side, change);
    else builder.add(component);
  }
  return builder.finish();
}

/**
 * The delta that changes items at these indices.
 * @param {[number, Change][]} changes
 */
function edits(changes) {
  const builder = new DeltaBuilder();
  let at = 0;
  for (const [index, change] of changes.sort((a, b) => a[0] - b[0])) {
    builder.keep(index - at);
    builder.edit(change);
    at = index + 1;
  }
  return builder.finish();
}
