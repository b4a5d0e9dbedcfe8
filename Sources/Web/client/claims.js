// The holders under which a tab writes journals. Each journal that it takes over gets another one, so that the storage
// can tell a tab that has a journal from one that had it before, even if both are the same tab.

/** @typedef {import('./line.js').Owner} Owner */

export class Claims {
  #tab;
  #count = 0;
  /**
   * The holders of journals that were claimed, and have no line yet.
   * @type {Map<string, string>}
   */
  #holders = new Map();

  /** @param {string} tab its name */
  constructor(tab) {
    this.#tab = tab;
  }

  /**
   * The tab claims a journal.
   * @param {Owner} owner
   * @returns {Owner} as which it does
   */
  claim(owner) {
    const holder = this.#next();
    this.#holders.set(owner.client, holder);
    return { ...owner, holder };
  }

  /**
   * As which holder a journal was claimed, if it was. Nobody is told that again.
   * @param {string} client
   */
  take(client) {
    const holder = this.#holders.get(client);
    this.#holders.delete(client);
    return holder;
  }

  /**
   * As which holder a line of this client id writes.
   * @param {string} client
   */
  holderOf(client) {
    return this.take(client) ?? this.#next();
  }

  #next() {
    return `${this.#tab} ${++this.#count}`;
  }
}
