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
 * Who writes a journal: `holder` names one line of one tab. A tab that takes a journal over replaces it, so that its
 * former owner's writes fail from then on, even if it was frozen and knows nothing of it.
 * @typedef {{ client: string, holder: string, person: string, token: string, at?: number }} Owner
 */
/**
 * A write to the storage, one transaction: nothing happens if somebody has taken one of the journals that it touches
 * over from its owner; nor if the storage is another one than before, unless the job is `fresh`: then it is the first,
 * or has all again. The owner's row of `leaves` goes.
 * @typedef {{ changes: Changes, owner: Owner, fresh: boolean, leaves?: string }} Job
 */

export class Line {
  /** @readonly */
  number;
  /**
   * What its owner's row names.
   * @readonly
   */
  holder;
  session;
  journal;
  /** Whether nothing has been written under the client id. */
  isFresh;
  /** Whether edits were sent that are not stored. */
  isUnsafe = false;
  /**
   * Whether nothing may be sent before the storage works again: the edits of a submission are stored one by one, so
   * that nobody could tell from its sequence which of them were sent.
   */
  isBlocked = false;
  /** Answers to writes up to this one say nothing. */
  ignored = 0;
  #begun = 0;
  #identity;
  /**
   * The writes that are not answered.
   * @type {Map<number, Changes>}
   */
  #writes = new Map();
  /**
   * The edits that got their row by writes that failed.
   * @type {Edit[]}
   */
  #unstored = [];

  /**
   * @param {number} number @param {string} holder @param {Identity} identity
   * @param {readonly Kept[]} [kept] a journal that is taken over
   */
  constructor(number, holder, identity, kept) {
    this.number = number;
    this.holder = holder;
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

  /** @returns {Owner} */
  get owner() {
    return { client: this.client, holder: this.holder, person: this.person, token: this.token };
  }

  /** @param {Partial<Identity>} identity what is another from now on */
  change(identity) {
    this.#identity = { ...this.#identity, ...identity };
  }

  /** @param {number} write @param {Changes} changes */
  begin(write, changes) {
    this.#begun = write;
    this.#writes.set(write, changes);
  }

  /** Nothing is in the storage any more: the next write has all. */
  startAgain() {
    this.journal.rename(this.client);
    this.isFresh = true;
    this.ignored = this.#begun;
  }

  /**
   * A write is answered, and with it all before it. Gives whether what waits for it may be sent.
   * @param {number} write @param {boolean} isStored
   */
  end(write, isStored) {
    for (const [number, { begun = [], joins = false }] of this.#writes) {
      if (number > write) break;
      this.#unstored.push(...begun);
      this.#writes.delete(number);
      this.isBlocked ||= joins && !isStored;
    }
    this.isUnsafe = !isStored && (this.isUnsafe || !this.isBlocked);
    if (!isStored) return !this.isBlocked;
    this.isBlocked = false;
    // The storage has written what has failed before again.
    for (const edit of this.#unstored.splice(0)) edit.isStored = true;
    return true;
  }
}
