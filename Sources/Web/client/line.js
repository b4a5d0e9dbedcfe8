// One client id of a tab: its session, the journal that keeps its edits, and what its session wants to be done.

import { Journal } from "./journal.js";
import { Session } from "./session.js";

/** @typedef {import('./journal.js').Changes} Changes */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./replica.js').Told} Told */
/** @typedef {import('./session.js').Effect} SessionEffect */
/** @typedef {import('./session.js').Identity} Identity */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/** @typedef {import('./tabs.js').Effect} Effect */
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
/** @typedef {{ deletes: Changes["deletes"], leaves: string }} Leaving what of another client id goes with a write */
/** @typedef {Extract<SessionEffect, { do: "open" | "answer" | "stop" | "draw" }>} Heard */
/**
 * Where a line's effects go: `hear` gets those that are nothing to the program around.
 * @typedef {object} Port
 * @property {(effect: Effect) => void} push
 * @property {(list: Subscription, told: Told) => void} tell
 * @property {(effect: Heard) => void} hear
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
  #journal;
  #port;
  /** Whether nothing has been written under the client id. */
  #isFresh;
  #hasStored;
  #isUnsafe = false;
  /** Answers to writes up to this one say nothing. */
  #ignored = 0;
  #begun = 0;
  #identity;
  /**
   * The writes that are not answered, and the edits that get their row by each.
   * @type {Map<number, readonly Edit[]>}
   */
  #writes = new Map();

  /**
   * @param {number} number @param {string} holder @param {Identity} identity @param {Port} port
   * @param {readonly Kept[]} [kept] a journal that is taken over
   */
  constructor(number, holder, identity, port, kept) {
    this.number = number;
    this.holder = holder;
    this.#identity = identity;
    this.#port = port;
    this.#isFresh = kept === undefined;
    this.#hasStored = !this.#isFresh;
    this.#journal = new Journal(identity.client, kept);
    this.session = new Session(identity, lists => this.#journal.changes(lists));
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

  /** Whether edits were sent that are not stored. */
  get isUnsafe() {
    return this.#isUnsafe;
  }

  /** Whether the storage has ever had anything of it. */
  get hasStored() {
    return this.#hasStored;
  }

  /** Whether all writes are answered. */
  get isQuiet() {
    return this.#writes.size === 0;
  }

  /** @param {Partial<Identity>} identity what is another from now on */
  change(identity) {
    this.#identity = { ...this.#identity, ...identity };
  }

  /**
   * Something happens to the session: what it wants is done.
   * @param {(session: Session) => SessionEffect[]} event
   */
  run(event) {
    for (const effect of event(this.session)) this.#do(effect);
  }

  /**
   * Another program has the client id: all rows move to another one, in one transaction.
   * @param {string} client @param {number} now
   */
  move(client, now) {
    const former = this.client;
    this.#port.push({ do: "lock", client });
    const { deletes } = this.#journal.rename(client);
    this.change({ client });
    const effects = this.session.take(client, now);
    const leaving = this.#isFresh ? {} : { deletes, leaves: former };
    this.#isFresh = true;
    for (const effect of effects) this.#do(effect, leaving);
    this.#port.push({ do: "unlock", client: former });
  }

  /** Nothing is in the storage any more: the next write has all. */
  startAgain() {
    this.#journal.rename(this.client);
    this.#isFresh = true;
    this.#ignored = this.#begun;
  }

  /** If nothing was to be written since it started again, there is nothing to wait for. */
  skip() {
    if (this.#isFresh) this.run(session => session.stored(this.#ignored));
  }

  /**
   * Whether the answer to a write says something.
   * @param {number} write
   */
  awaits(write) {
    return write > this.#ignored;
  }

  /**
   * A write is answered, and with it all before it: what waits for it is sent, stored or not. If it is stored, so is
   * what has failed before, which the storage has written again.
   * @param {number} write @param {boolean} isStored
   */
  wrote(write, isStored) {
    for (const number of this.#writes.keys()) if (number <= write) this.#writes.delete(number);
    this.#isUnsafe = !isStored;
    if (isStored) {
      this.#hasStored = true;
      const open = new Set([...this.#writes.values()].flat());
      for (const edit of this.session.pending) edit.isStored ||= edit.isWritten && !open.has(edit);
    }
    this.run(session => session.stored(write));
  }

  /** @param {SessionEffect} effect @param {Partial<Leaving>} [leaving] */
  #do(effect, leaving = {}) {
    const { number: line } = this;
    switch (effect.do) {
      case "write":
        return this.#write(effect.write, /** @type {Changes} */ (effect.changes), leaving);
      case "connect":
      case "close":
        return this.#port.push({ do: effect.do, line });
      case "send":
        return this.#port.push({ do: "send", line, bytes: effect.bytes });
      case "tell":
        return this.#port.tell(effect.list, effect.told);
      default:
        this.#port.hear(effect);
    }
  }

  /** @param {number} write @param {Changes} changes @param {Partial<Leaving>} leaving */
  #write(write, changes, { deletes = changes.deletes, leaves }) {
    const { client, holder, person, token, number: line } = this;
    this.#begun = write;
    this.#writes.set(write, changes.begun ?? []);
    const owner = { client, holder, person, token };
    const job = { changes: { ...changes, deletes }, owner, fresh: this.#isFresh, leaves };
    this.#isFresh = false;
    this.#port.push({ do: "write", line, write, job });
  }
}
