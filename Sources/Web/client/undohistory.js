// What a person can undo and redo in a list: steps that were made here, or that are found in its commits.

import { FIELDS, TEXTS, isText } from "./change.js";
import { isSameDelta } from "./codec.js";
import { apply, invert } from "./delta.js";
import { diff } from "./diff.js";
import { Undos } from "./undo.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./codec.js').Commit} Commit */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./keeping.js').Kept} Kept */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./pending.js').Step} Step */
/** @typedef {{ delta: Delta, kept: Kept[], rest: Undos, isWithdrawn: boolean }} Level */

export class UndoHistory {
  #undos = Undos.none;
  #redos = Undos.none;
  /**
   * Whether a pending edit has overridden what somebody else did: its inverse would take that back, too. Or another tab
   * has taken one of the steps.
   */
  #hasOverridden = false;

  /**
   * What can be undone and redone after some commits, none of which was concurrent with another one.
   * @param {List} list before them @param {readonly Commit[]} commits
   * @param {ReadonlyMap<number, Step | undefined>} own the revisions of one's own, and what each is. If that is not
   *   known, it is an undo or a redo if it does the same; one of something before these commits counts as somebody
   *   else's
   */
  static of(list, commits, own) {
    const history = new UndoHistory();
    for (const { revision, delta } of commits) {
      if (own.has(revision)) history.#replay(list, delta, own.get(revision));
      else history.follow(delta);
      list = apply(list, delta);
    }
    history.skip(list);
    return history;
  }

  /**
   * What can be undone and redone after edits that wait.
   * @param {List} list before them @param {readonly { delta: Delta, step?: Step }[]} edits
   */
  static ofWaiting(list, edits) {
    const history = new UndoHistory();
    for (const { delta, step } of edits) {
      history.#replay(list, delta, step);
      list = apply(list, delta);
    }
    return history;
  }

  get canUndo() {
    return !this.#undos.isEmpty;
  }

  get canRedo() {
    return !this.#redos.isEmpty;
  }

  /**
   * A new edit, by its inverse. What was undone can be redone no more.
   * @param {Delta} inverse @param {Delta} [edit] if it was found in a commit
   */
  record(inverse, edit) {
    this.#undos = this.#undos.with(inverse, false, edit);
    this.#redos = Undos.none;
  }

  /**
   * Somebody else's edit of the view.
   * @param {Delta} delta
   */
  follow(delta) {
    this.#undos = this.#undos.following(delta);
    this.#redos = this.#redos.following(delta);
  }

  /**
   * What a step does now. Nothing if there is none.
   * @param {"undo" | "redo"} step @param {List} view
   * @returns {Level | undefined}
   */
  next(step, view) {
    return this.#levels(step).newest(view);
  }

  /**
   * A step was taken.
   * @param {"undo" | "redo"} step @param {{ rest: Undos }} level what it did @param {Delta} inverse
   * @param {boolean} [isWithdrawn] whether it took back an edit that was never submitted
   * @param {Delta} [edit] the step, if it was found in a commit
   */
  made(step, { rest }, inverse, isWithdrawn, edit) {
    if (step === "undo") [this.#undos, this.#redos] = [rest, this.#redos.with(inverse, isWithdrawn, edit)];
    else [this.#undos, this.#redos] = [this.#undos.with(inverse, false, edit), rest];
  }

  /**
   * The newest steps of which nothing is left are no steps any more.
   * @param {List} view
   */
  skip(view) {
    [this.#undos, this.#redos] = [this.#undos.left(view), this.#redos.left(view)];
  }

  /** A pending edit has overridden what somebody else did. */
  noteOverridden() {
    this.#hasOverridden = true;
  }

  /** Nothing is pending any more: if somebody was overridden, the commits tell what can be undone. */
  settle() {
    if (this.#hasOverridden) this.clear();
  }

  clear() {
    this.#undos = this.#redos = Undos.none;
    this.#hasOverridden = false;
  }

  /**
   * What was done before. What can be redone, if anything, was undone since.
   * @param {UndoHistory} past
   */
  prepend(past) {
    this.#undos = past.#undos;
    if (!this.canRedo) this.#redos = past.#redos;
  }

  // Private

  /** @param {"undo" | "redo"} step */
  #levels(step) {
    return step === "undo" ? this.#undos : this.#redos;
  }

  /**
   * One's own commit, or edit that waits.
   * @param {List} list before it @param {Delta} delta @param {Step | undefined} step
   */
  #replay(list, delta, step) {
    /** @param {"undo" | "redo"} known */
    const levelOf = known => ((step ?? known) === known ? this.#levels(known).left(list).newest(list) : undefined);
    const [undo, redo, inverse] = [levelOf("undo"), levelOf("redo"), invert(list, delta)];
    if (undo && isSameDelta(undo.delta, delta)) return this.made("undo", undo, inverse, false, delta);
    if (redo && isSameDelta(redo.delta, delta)) return this.made("redo", redo, inverse, false, delta);
    if (!step) return this.record(inverse, delta);
    // A tab takes back its own edits first: it need not know the newer ones of another tab.
    const rest = this.#levels(step).without(delta, list);
    if (rest) return this.made(step, { rest }, inverse, false, delta);
    // Edits that were sent as one are taken back one by one.
    const left = undo && diff(apply(list, delta), apply(list, undo.delta));
    const isPart = left && workOf(left) < workOf(undo.delta);
    if (isPart) this.made("undo", { rest: undo.rest.with(left) }, inverse, false, delta);
    else this.follow(delta);
  }
}

/**
 * How much a delta does: with items, with their fields, and with the bytes of their texts.
 * @param {Delta} delta
 */
function workOf(delta) {
  let work = 0;
  for (const one of delta) {
    if (one.op === "insert") work += one.items.length;
    else if (one.op === "delete") work += one.count;
    else if (one.op === "drop") work += 1 + (one.change ? changeOf(one.change) : 0);
    else if (one.op === "edit") work += changeOf(one.change);
  }
  return work;
}

/** @param {Change} change */
function changeOf(change) {
  const fields = FIELDS.filter(field => !isText(field) && change[field] !== undefined).length;
  const splices = TEXTS.flatMap(field => change[field] ?? []);
  return splices.reduce((sum, { removed, inserted }) => sum + removed.length + inserted.length, fields);
}
