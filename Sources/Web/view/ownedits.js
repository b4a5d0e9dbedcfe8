// The edits that a person makes of a list, and takes back. They are of the list that the person sees, and go out when
// the server can be reached.

import { apply, invert } from "../client/delta.js";
import { commitsOf, listAt } from "../client/requests.js";
import { UndoHistory } from "../client/undohistory.js";
import { inserting, touchedBy } from "./edits.js";
import { errorText, summaryOf } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/components.js').Delta} Delta */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */

/** How many of one's own commits are read at first, and how far back they are looked for. */
const AT_FIRST = 20;
const MOST_COMMITS = 10_000;

export class OwnEdits {
  #app;
  #open;
  /**
   * What the person has changed since the last drawing.
   * @type {Set<string>}
   */
  #own = new Set();
  /**
   * What was undone and redone so far: one after the other.
   * @type {Promise<unknown>}
   */
  #turned = Promise.resolve();
  /** Takes away what was said of the last edit: it is the last one no more, was refused, or its list is left. */
  endSaid = () => {};

  #turnedAt;

  /**
   * @param {App} app @param {OpenList} open
   * @param {(id: string) => void} turnedAt called with an item that is as it was before, or again
   */
  constructor(app, open, turnedAt) {
    this.#app = app;
    this.#open = open;
    this.#turnedAt = turnedAt;
  }

  /** The list that the person sees, but for edits of other tabs. */
  get view() {
    return this.#open.replica.view;
  }

  /** The highest level of an item. */
  get most() {
    return this.#open.most;
  }

  /**
   * Makes an edit, and says so. False if it does not fit.
   * @param {Delta} delta @param {string} [said]
   */
  make(delta, said) {
    if (delta.length === 0) return false;
    const before = this.view;
    if (delta.some(({ op }) => op === "drop") && apply(before, delta).digest === before.digest) {
      this.#app.toast("Nothing was moved.");
      return false;
    }
    const role = delta.every(({ op }) => op === "keep" || op === "insert") ? 2 : 3;
    if (!this.#app.act(this.#open, role, replica => replica.edit(delta))) return false;
    this.endSaid();
    this.#note(before);
    if (said) this.#app.speech.say(said);
    this.#app.draw();
    return true;
  }

  /** @param {Item[]} items @param {number} gap @param {string} said */
  insert(items, gap, said) {
    return this.make(inserting(items, gap, gap === this.view.count ? "before" : "after"), said);
  }

  /**
   * Says what was done, with the way back.
   * @param {string} text
   */
  offerUndo(text) {
    this.endSaid = this.#app.toast(text, { text: "Undo", act: () => this.turn(true) });
  }

  /** The items that the person has changed since this was asked last. */
  takeOwn() {
    const own = this.#own;
    this.#own = new Set();
    return own;
  }

  /**
   * Whether something may be left to undo, or to redo.
   * @param {boolean} isUndo
   */
  mayTurn(isUndo) {
    if (this.#app.refusal(this.#open, 3)) return false;
    const { canUndo, canRedo } = this.#open.replica;
    const own = ownCommits(this.#app.client, this.#open);
    if (isUndo) return canUndo || own.length > 0;
    return canRedo || (!canUndo && own.length > 0 && own[own.length - 1][1] !== "");
  }

  /**
   * Undoes the last edit, or redoes it.
   * @param {boolean} isUndo
   */
  turn(isUndo) {
    this.endSaid();
    this.#turned = this.#turned.then(() => this.#turnNow(isUndo)).catch(error => this.#app.toast(errorText(error)));
  }

  // Private

  /** @param {List} before */
  #note(before) {
    for (const { id } of this.view.unlike(before)) this.#own.add(id);
  }

  /** @param {boolean} isUndo */
  async #turnNow(isUndo) {
    const { replica, subscription } = this.#open;
    const isLeft = () => (isUndo ? replica.canUndo : replica.canRedo);
    const nothing = `Nothing of yours is left to ${isUndo ? "undo" : "redo"}`;
    if (!isLeft() && this.mayTurn(isUndo)) {
      if (subscription.isLive) await this.#app.isSent(this.#open);
      if (!subscription.isLive || replica.pending.length > 0) {
        return this.#app.toast(`${nothing} on this device; older edits need the server.`);
      }
      if (!(await recall(this.#app.client, this.#open, isUndo))) return;
    }
    if (!isLeft()) return this.#app.toast(`${nothing}.`);
    const before = this.view;
    /** @type {Delta} */
    let delta = [];
    if (!this.#app.act(this.#open, 3, replica => (delta = isUndo ? replica.undo() : replica.redo()))) return;
    this.#note(before);
    const [first] = touchedBy([delta], this.view);
    if (first !== undefined) this.#turnedAt(first);
    // The words of the history for the edit that was undone.
    const summary = isUndo ? summaryOf({ delta: invert(before, delta) }, this.view, before)
      : summaryOf({ delta }, before, this.view);
    this.endSaid = this.#app.toast(`${isUndo ? "Undone" : "Redone"}: ${summary}.`);
  }
}

/**
 * The commits of a list that were made on this device, and that may be taken back or made again.
 * @param {Pick<Client, "ownCommits">} client @param {Pick<OpenList, "replica">} open
 */
function ownCommits(client, { replica: { log, revision } }) {
  return client.ownCommits(log).filter(([own]) => own > revision - MOST_COMMITS);
}

/**
 * Tells a replica without pending edits what can be undone, or redone. False if its person has edited the list
 * meanwhile, or has left it. Fails as requests do.
 * @param {Pick<Client, "ownCommits" | "request">} client
 * @param {Pick<OpenList, "name" | "replica" | "subscription">} open @param {boolean} isUndo
 */
export async function recall(client, { name, replica, subscription }, isUndo) {
  const own = ownCommits(client, { replica });
  for (let count = AT_FIRST; own.length > 0; count *= 8) {
    const [first] = own[Math.max(0, own.length - count)];
    const commits = (await commitsOf(client, name, first, replica.revision)).map(({ commit }) => commit);
    if (commits.length === 0) break;
    const list = await listAt(client, name, commits[0].revision - 1);
    // Others go on meanwhile.
    const last = () => commits[commits.length - 1].revision;
    while (last() < replica.revision) {
      for (const { commit } of await commitsOf(client, name, last() + 1, replica.revision)) commits.push(commit);
    }
    if (!subscription.isLive || replica.pending.length > 0) return false;
    const past = UndoHistory.of(list, commits, new Map(own));
    // After an edit, nothing can be redone.
    const isFound = past.canUndo || (!isUndo && past.canRedo);
    if (isFound || count >= own.length) {
      replica.remember(past);
      break;
    }
  }
  return true;
}
