// The journals in the storage of a device, as they were when a tab last looked: whose they are, which may be sent, and
// when the tab looks again.

import { readJournals } from "./journal.js";

/** @typedef {import('./heirs.js').Row} Row */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./journal.js').Read} Read */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {{ owner: Owner, rows: Row[], lists: Kept[], refused?: string }} Left whose it is; why nobody sends it */
/** @typedef {{ name: string, log: string, revision: number, digest: string }} CopyHead */
/**
 * What the storage has: the rows of all journals, who holds them, and which copies there are.
 * @typedef {{ rows: Row[], owners: Owner[], copies: CopyHead[] }} Found
 */

/** How often a tab looks for what others have left, at last and at first. */
const LOOK_EVERY = 60_000;
const LOOK_FIRST = 1000;
/** How soon it looks after another tab has written. */
const ANNOUNCED = 200;

export class Neighbours {
  /** @type {Read[]} */
  #journals = [];
  /** @type {Owner[]} */
  #owners = [];
  #refusal;
  #push;
  #lookAt = Infinity;
  #wait = LOOK_FIRST;
  #isLooking = false;

  /**
   * @param {(client: string) => string | undefined} refusal why a journal that was tried cannot be sent
   * @param {(effect: { do: "look" }) => void} push
   */
  constructor(refusal, push) {
    this.#refusal = refusal;
    this.#push = push;
  }

  /** When to look. */
  get deadline() {
    return this.#lookAt;
  }

  /**
   * Looks now, or soon, if the storage has not answered yet.
   * @param {number} now
   */
  look(now) {
    this.#lookAt = now + (this.#isLooking ? ANNOUNCED : LOOK_EVERY);
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#push({ do: "look" });
  }

  /** @param {number} now */
  tick(now) {
    if (now >= this.#lookAt) this.look(now);
  }

  /** @param {number} time when to look, whatever was said before */
  lookAt(time) {
    this.#lookAt = time;
  }

  /** @param {number} time when to look at the latest */
  lookBy(time) {
    this.#lookAt = Math.min(this.#lookAt, time);
  }

  /**
   * Another tab has written.
   * @param {number} now
   */
  announced(now) {
    this.lookBy(now + ANNOUNCED);
    this.#wait = LOOK_FIRST;
  }

  /** @param {Found | undefined} found nothing if the storage does not answer */
  see(found) {
    this.#isLooking = false;
    if (!found) return;
    this.#journals = readJournals(found.rows);
    this.#owners = found.owners;
  }

  /**
   * Looks again while journals may have been left: a lock may be held a little longer than its tab lives.
   * @param {Owner[]} left @param {number} now
   */
  await(left, now) {
    if (left.some(({ client }) => this.isLeft(client))) {
      this.lookBy(now + this.#wait);
      this.#wait = Math.min(this.#wait * 2, LOOK_EVERY);
    } else this.#wait = LOOK_FIRST;
  }

  /** @param {string} client */
  owner(client) {
    return this.#owners.find(owner => owner.client === client);
  }

  /**
   * Those of a token, but for one's own.
   * @param {string} token @param {string} own
   * @returns {Left[]}
   */
  journals(token, own) {
    return this.#journals.flatMap(({ client, rows, lists, refused = this.#refusal(client) }) => {
      const owner = this.owner(client);
      return owner && owner.token === token && client !== own ? [{ owner, rows, lists, refused }] : [];
    });
  }

  /**
   * Who has journals with rows under other tokens.
   * @param {string} token
   * @returns {Owner[]}
   */
  foreign(token) {
    return this.#journals.flatMap(({ client }) => this.owner(client) ?? []).filter(owner => owner.token !== token);
  }

  /**
   * Whose journals may have been left, with rows or without, and may be sent now.
   * @param {string} token @param {string} own
   */
  left(token, own) {
    return this.#owners.filter(owner => owner.client !== own && owner.token === token && !this.#mustWait(owner.client));
  }

  /**
   * Whether there is a journal that may still be sent.
   * @param {string} client
   */
  isLeft(client) {
    return this.#journals.some(journal => journal.client === client) && this.#refusal(client) === undefined;
  }

  /**
   * Whether a journal is about edits that were made upon those of another one.
   * @param {string} client
   */
  #mustWait(client) {
    const journal = this.#journals.find(journal => journal.client === client);
    return journal?.lists.some(({ awaits }) => awaits !== undefined && this.isLeft(awaits)) ?? false;
  }
}
