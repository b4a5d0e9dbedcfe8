// The holders under which a tab writes journals. Each journal that it takes over gets another one, so that the storage
// can tell a tab that has a journal from one that had it before, even if both are the same tab.

/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./own.js').Who} Who */
/** @typedef {import('./tabs.js').Effect} Effect */

export class Claims {
  #tab;
  #push;
  #count = 0;
  /**
   * The holders of journals that were claimed, and have no line yet.
   * @type {Map<string, string>}
   */
  #holders = new Map();

  /** @param {string} tab its name @param {(effect: Effect) => void} push */
  constructor(tab, push) {
    this.#tab = tab;
    this.#push = push;
  }

  /**
   * The tab claims a journal, if it has an owner.
   * @param {Owner | undefined} owner
   */
  claim(owner) {
    if (!owner) return;
    const holder = this.#next();
    this.#holders.set(owner.client, holder);
    this.#push({ do: "claim", client: owner.client, owner: { ...owner, holder } });
  }

  /**
   * A journal without rows is nobody's any more.
   * @param {string} client @param {string} [holder] that of its line
   */
  forget(client, holder = "") {
    this.#push({ do: "forget", client, holder: this.#take(client) ?? holder });
    this.#push({ do: "announce" });
  }

  /**
   * A journal that nobody sends is deleted, or becomes somebody else's, who sends it.
   * @param {string} client @param {Who} [heir]
   */
  leave(client, heir) {
    this.#push({ do: "leave", client, holder: this.#next(), heir });
  }

  /**
   * As which holder a line of this client id writes.
   * @param {string} client
   */
  holderOf(client) {
    return this.#take(client) ?? this.#next();
  }

  /** @param {string} client whose holder nobody is told again */
  #take(client) {
    const holder = this.#holders.get(client);
    this.#holders.delete(client);
    return holder;
  }

  #next() {
    return `${this.#tab} ${++this.#count}`;
  }
}
