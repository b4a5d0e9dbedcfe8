// The journals in the storage of a device, as they were when a tab last looked: whose they are, and which may be sent.

import { readJournals } from "./journal.js";

/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./journal.js').Read} Read */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./tabs.js').Found} Found */

export class Neighbours {
  /** @type {Read[]} */
  #journals = [];
  /** @type {Owner[]} */
  #owners = [];
  #hasRefused;

  /** @param {(client: string) => boolean} hasRefused whether a journal was tried, and cannot be sent */
  constructor(hasRefused) {
    this.#hasRefused = hasRefused;
  }

  /** @param {Found} found */
  see({ rows, owners }) {
    this.#journals = readJournals(rows);
    this.#owners = owners;
  }

  /** @param {string} client */
  owner(client) {
    return this.#owners.find(owner => owner.client === client);
  }

  /**
   * Those of a token that can be read, but for one's own.
   * @param {string} token @param {string} own
   * @returns {{ owner: Owner, lists: Kept[] }[]}
   */
  journals(token, own) {
    return this.#journals.flatMap(journal => {
      const owner = this.owner(journal.client);
      const isTheirs = owner && owner.token === token && journal.client !== own;
      return isTheirs && "lists" in journal ? [{ owner, lists: journal.lists }] : [];
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

  /** How many nobody can read, or send. */
  get refused() {
    return this.#journals.filter(journal => "refused" in journal || this.#hasRefused(journal.client)).length;
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
    return this.#journals.some(journal => journal.client === client) && !this.#hasRefused(client);
  }

  /**
   * Whether a journal is about edits that were made upon those of another one.
   * @param {string} client
   */
  #mustWait(client) {
    const journal = this.#journals.find(journal => journal.client === client);
    const lists = journal && "lists" in journal ? journal.lists : [];
    return lists.some(({ awaits }) => awaits !== undefined && this.isLeft(awaits));
  }
}
