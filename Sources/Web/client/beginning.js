// How a tab gets its client id: it goes on as a tab that has ended, if the storage has all that is needed for it; else
// it draws a new one.

import { readJournals } from "./journal.js";
import { isOf, restored } from "./opened.js";

/** @typedef {import('./claims.js').Claims} Claims */
/** @typedef {import('./heirs.js').Claimed} Claimed */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./neighbours.js').CopyHead} CopyHead */
/** @typedef {import('./own.js').Own} Own */
/** @typedef {import('./tabs.js').Effect} Effect */

/** The storage has to answer within this time, or the tab begins without it. */
const DEADLINE = 1500;

export class Beginning {
  #own;
  #claims;
  #push;
  #by = Infinity;
  /** @type {Owner[]} */
  #candidates = [];
  /**
   * As whom the tab tries to go on.
   * @type {Owner | undefined}
   */
  #candidate;

  /** @param {Own} own which begins @param {Claims} claims @param {(effect: Effect) => void} push */
  constructor(own, claims, push) {
    this.#own = own;
    this.#claims = claims;
    this.#push = push;
  }

  /** When `tick` is due. */
  get deadline() {
    return this.#by;
  }

  /** @param {number} now */
  begin(now) {
    this.#by = now + DEADLINE;
  }

  /**
   * What the storage has, which may be nothing: those journals can be gone on with at once whose lists are there as
   * they were; the last first.
   * @param {{ owner: Owner, lists: Kept[] }[]} journals of the tab's person @param {readonly CopyHead[]} copies
   */
  looked(journals, copies) {
    /** @type {(kept: Kept) => boolean} */
    const hasCopy = kept => copies.some(copy => isOf(copy, kept) && copy.digest === kept.digest);
    /** @type {(kept: Kept) => boolean} */
    const isThere = kept => kept.awaits === undefined && (kept.revision === 0 || hasCopy(kept));
    this.#candidates = journals.filter(({ lists }) => lists.every(isThere)).map(({ owner }) => owner).reverse();
    this.#next();
  }

  /**
   * Gives whether the answer is for the beginning, as `claimed` does.
   * @param {string} client @param {boolean} isHeld
   */
  locked(client, isHeld) {
    if (client !== this.#candidate?.client) return false;
    if (isHeld) this.#claims.claim(this.#candidate);
    else this.#next();
    return true;
  }

  /** @param {string} client @param {Claimed | undefined} claimed */
  claimed(client, claimed) {
    if (client !== this.#candidate?.client) return false;
    const [journal] = claimed ? readJournals(claimed.rows) : [];
    const kept = journal?.lists ?? [];
    const replicas = kept.flatMap(one => restored(one, claimed) ?? []);
    if (kept.length > 0 && replicas.length === kept.length) {
      this.#end();
      this.#own.resume(client, kept, replicas);
    } else {
      // It may have gone on a little before it ended.
      this.#push({ do: "unlock", client });
      this.#next();
    }
    return true;
  }

  /** @param {number} now */
  tick(now) {
    if (now >= this.#by) this.#beNew();
  }

  #next() {
    this.#candidate = this.#candidates.shift();
    if (this.#candidate) this.#push({ do: "lock", client: this.#candidate.client });
    else this.#beNew();
  }

  #beNew() {
    this.#end();
    this.#own.becomeNew();
  }

  #end() {
    this.#by = Infinity;
    this.#candidate = undefined;
  }
}
