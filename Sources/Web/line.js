// One client id of a tab: its session, and the journal that keeps its edits.

import { Journal } from "./journal.js";
import { Session } from "./session.js";

/** @typedef {import('./journal.js').Changes} Changes */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./session.js').Identity} Identity */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/**
 * Who writes a journal: `holder` names the tab. A tab that takes a journal over replaces it, so that its former owner's
 * writes fail from then on, even if it was frozen and knows nothing of it.
 * @typedef {{ client: string, holder: string, person: string, token: string }} Owner
 */
/**
 * A write to the storage, one transaction: nothing happens if one of the clients whose rows it touches has another
 * holder, or none unless it is `fresh`. The owner's row of `leaves` goes.
 * @typedef {{ changes: Changes, owner: Owner, fresh: boolean, leaves?: string }} Job
 */

export class Line {
  /** @readonly */
  number;
  session;
  journal;
  /** Whether nothing has been written under the client id. */
  isFresh;
  /** Whether edits were sent that are not stored. */
  isUnsafe = false;
  #identity;
  /**
   * The edits that got their row by each write that is not answered.
   * @type {Map<number, readonly Edit[]>}
   */
  #writes = new Map();
  /**
   * Those of writes that failed.
   * @type {Edit[]}
   */
  #unstored = [];

  /**
   * @param {number} number @param {Identity} identity @param {readonly Kept[]} [kept] a journal that is taken over
   */
  constructor(number, identity, kept) {
    this.number = number;
    this.#identity = identity;
    this.isFresh = kept === undefined;
    this.journal = new Journal(identity.client, kept);
    this.session = new Session(identity, lists => this.journal.changes(lists));
  }

  get client() {
    return this.#identity.client;
  }

  get person() {
    return this.#identity.person;
  }

  get token() {
    return this.#identity.token ?? "";
  }

  /** Whether all writes are answered. */
  get isQuiet() {
    return this.#writes.size === 0;
  }

  /**
   * @param {string} holder
   * @returns {Owner}
   */
  owner(holder) {
    return { client: this.client, holder, person: this.person, token: this.token };
  }

  /** @param {Partial<Identity>} identity what is another from now on */
  change(identity) {
    this.#identity = { ...this.#identity, ...identity };
  }

  /** @param {number} write @param {Changes} changes */
  begin(write, { begun = [] }) {
    this.#writes.set(write, begun);
  }

  /**
   * A write is answered, and with it all before it.
   * @param {number} write @param {boolean} isStored
   */
  end(write, isStored) {
    for (const [number, begun] of this.#writes) {
      if (number > write) break;
      this.#unstored.push(...begun);
      this.#writes.delete(number);
    }
    if (!isStored) return;
    // The storage writes what has failed before again.
    for (const edit of this.#unstored.splice(0)) edit.isStored = true;
  }
}
