// A text that somebody types while others change it: the text that they change too, the person's own text, and the way
// back. A field shows every line break as "\n", and counts UTF-16; texts are UTF-8, and keep what nobody touches. It is
// pure.

import { bytesOf, isSame, textOf } from "../client/bytes.js";
import { applySplices, clashes, composeSplices, invertSplices, transformSplices } from "../client/splices.js";
import { diffTexts } from "../client/words.js";

/** @typedef {import('../client/splices.js').Splice} Splice */
/** @typedef {{ from: number, to: number, text: string }} Replacement of a part of the text that the field shows */

export class Draft {
  /** The text without the person's words. */
  #base;
  #text;
  /**
   * What takes the person's edits back, the newest last.
   * @type {Splice[][]}
   */
  #undos = [];
  /** @type {Splice[][]} */
  #redos = [];
  /**
   * What others had made of words that the person replaces, when the draft last followed them.
   * @type {string | undefined}
   */
  clash;

  /** @param {Uint8Array} base @param {string} [text] what was typed before */
  constructor(base, text = textOf(base)) {
    this.#base = base;
    this.#text = text;
  }

  /**
   * What it was made from, and what was typed: enough to go on later.
   * @returns {[base: string, text: string]}
   */
  get kept() {
    return [textOf(this.#base), this.#text];
  }

  /**
   * A draft as it was kept, of a text that others may have changed since.
   * @param {Uint8Array} now @param {[base: string, text: string]} [kept]
   */
  static of(now, kept) {
    // What was saved in the last moment is no draft any more.
    if (!kept || kept[1] === textOf(now)) return new Draft(now);
    const draft = new Draft(bytesOf(kept[0]), kept[1]);
    draft.follow(now);
    return draft;
  }

  /** What was typed. */
  get text() {
    return this.#text;
  }

  /** What a field shows. */
  get shown() {
    return shownText(this.#text);
  }

  get isChanged() {
    return this.#text !== textOf(this.#base);
  }

  /** The person's words as splices of the present text. */
  get splices() {
    return diffTexts(this.#base, bytesOf(this.#text));
  }

  /**
   * The field shows another text, since the person has typed; only what is touched around the caret is looked at.
   * @param {string} shown @param {number} caret where the caret is now
   */
  type(shown, caret) {
    const old = this.shown;
    const after = Math.min(shown.length - caret, old.length);
    let to = old.length - after;
    // What is not the same behind the caret was changed, too: some keyboards move the caret.
    while (to < old.length && old.slice(to) !== shown.slice(shown.length - (old.length - to))) to++;
    const end = shown.length - (old.length - to);
    let from = 0;
    while (from < Math.min(to, end) && old[from] === shown[from]) from++;
    if (from > 0 && isHigh(old, from - 1)) from--;
    if (from === to && from === end) return;
    const [start, stop] = [this.#textIndex(from), this.#textIndex(to)];
    const inserted = shown.slice(from, end);
    // "\r" and "\n" side by side would be one break.
    const [returns] = /\r*$/.exec(this.#text.slice(0, start)) ?? [""];
    const count = (inserted || this.#text.slice(stop)).startsWith("\n") ? returns.length : 0;
    this.#edit([this.#splice(start - count, stop, "\n".repeat(count) + inserted)]);
  }

  /**
   * Others have changed the text. Gives what changes in the field, from the end to the start.
   * @param {Uint8Array} base
   * @returns {Replacement[]}
   */
  follow(base) {
    this.clash = undefined;
    // Most changes of a list are of other items.
    if (isSame(base, this.#base)) return [];
    const theirs = diffTexts(this.#base, base);
    const mine = this.splices;
    const [clash] = clashes(theirs, mine);
    if (clash) this.clash = textOf(clash.x);
    this.#base = base;
    const change = transformSplices(theirs, mine, false);
    this.#undos = carried(this.#undos, change);
    this.#redos = carried(this.#redos, change);
    return this.#show(change);
  }

  /** What was typed is saved: it is a part of the text. */
  settle() {
    this.#base = bytesOf(this.#text);
  }

  /** Takes the last edit back. Gives what changes in the field. */
  undo() {
    return this.#turn(this.#undos, this.#redos);
  }

  redo() {
    return this.#turn(this.#redos, this.#undos);
  }

  // Private

  /** @param {Splice[][]} from @param {Splice[][]} to @returns {Replacement[]} */
  #turn(from, to) {
    const change = from.pop();
    if (!change) return [];
    to.push(invertSplices(change));
    return this.#show(change);
  }

  /** @param {Splice[]} change */
  #edit(change) {
    const inverse = invertSplices(change);
    const last = this.#undos[this.#undos.length - 1];
    const [{ at, removed, inserted }] = change;
    // Letters that are typed one after the other are one edit, up to the end of a word.
    const goesOn = removed.length === 0 && !/^\s/.test(textOf(inserted)) && last?.length === 1;
    if (goesOn && last[0].inserted.length === 0 && last[0].at + last[0].removed.length === at) {
      this.#undos[this.#undos.length - 1] = composeSplices(inverse, last);
    } else {
      this.#undos.push(inverse);
    }
    this.#redos = [];
    this.#apply(change);
  }

  /** @param {Splice[]} change */
  #apply(change) {
    this.#text = textOf(applySplices(bytesOf(this.#text), change));
  }

  /** @param {number} from @param {number} to @param {string} inserted @returns {Splice} */
  #splice(from, to, inserted) {
    const text = this.#text;
    return {
      at: bytesOf(text.slice(0, from)).length, removed: bytesOf(text.slice(from, to)), inserted: bytesOf(inserted),
    };
  }

  /**
   * Changes the text, and gives what changes in the field.
   * @param {Splice[]} change
   * @returns {Replacement[]}
   */
  #show(change) {
    const [bytes, old] = [bytesOf(this.#text), this.shown];
    const place = (/** @type {number} */ at) => shownText(textOf(bytes.subarray(0, at))).length;
    const replacements = [...change].reverse().map(({ at, removed, inserted }) => ({
      from: place(at),
      to: place(at + removed.length),
      text: shownText(textOf(inserted)),
    }));
    this.#apply(change);
    const result = replacements.reduce(
      (text, { from, to, text: put }) => text.slice(0, from) + put + text.slice(to),
      old,
    );
    // Where a change has joined "\r" and "\n", or parted them, the field shows the whole text anew.
    return result === this.shown ? replacements : [{ from: 0, to: old.length, text: this.shown }];
  }

  /**
   * Where a place of the field is in the text.
   * @param {number} shown
   */
  #textIndex(shown) {
    let index = 0;
    for (let left = shown; left > 0; left--) index += this.#text.startsWith("\r\n", index) ? 2 : 1;
    return index;
  }
}

/** @param {string} text */
function shownText(text) {
  return text.replace(/\r\n?/g, "\n");
}

/** @param {string} text @param {number} index */
function isHigh(text, index) {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

/**
 * What is left of edits that wait to be taken back, after others' change of the text.
 * @param {Splice[][]} stack @param {Splice[]} change
 */
function carried(stack, change) {
  /** @type {Splice[][]} */
  const rest = [];
  for (const edit of [...stack].reverse()) {
    const left = transformSplices(edit, change, true);
    change = transformSplices(change, edit, false);
    if (left.length > 0) rest.unshift(left);
  }
  return rest;
}
