// Locks that say which tabs live, by the browser's Web Locks; where it has none, since the page did not come by HTTPS,
// tabs ask each other. A tab that answers too late loses nothing: the storage has the last word.

/** @typedef {{ post: (message: unknown) => void }} Channel */
/** @typedef {{ type: "who has", client: string } | { type: "has", client: string }} LockMessage */

const ANSWER_WITHIN = 500;

export class Locks {
  #locks;
  #channel;
  /**
   * What ends the locks that are held.
   * @type {Map<string, () => void>}
   */
  #held = new Map();
  /**
   * Who waits for an answer of other tabs.
   * @type {Set<{ client: string, refuse: () => void }>}
   */
  #asked = new Set();
  /**
   * The browser's name of this tab.
   * @type {string | undefined}
   */
  #self;

  /** @param {Channel} channel to the other tabs @param {LockManager | null} [locks] */
  constructor(channel, locks = globalThis.navigator?.locks) {
    this.#channel = channel;
    this.#locks = locks ?? undefined;
  }

  /** Whether the browser has locks. */
  get areReal() {
    return this.#locks !== undefined;
  }

  /**
   * Takes a lock, if nobody has it.
   * @param {string} client
   * @returns {Promise<boolean>} whether it is held
   */
  async take(client) {
    if (this.#held.has(client)) return true;
    if (this.#locks) return this.#request(this.#locks, client);
    const isFree = await this.#ask(client);
    if (isFree) this.#held.set(client, () => {});
    return isFree;
  }

  /**
   * Whether a lock is still held; takes it again if nobody has it. Browsers drop locks of pages that they put aside.
   * @param {string} client
   * @returns {Promise<boolean | "again">}
   */
  async verify(client) {
    const lock = this.#held.get(client);
    if (!this.#locks || !lock) return this.take(client);
    try {
      const { held = [] } = await this.#locks.query();
      if (held.some(({ name, clientId }) => name === nameOf(client) && clientId === this.#self)) return true;
    } catch {
      return true;
    }
    // It may have been taken again meanwhile.
    if (this.#held.get(client) === lock) this.free(client);
    return (await this.take(client)) && "again";
  }

  /**
   * Whether the tab that had a lock has ended: nobody has it, or this tab has taken it over.
   * @param {string} client
   * @returns {Promise<boolean>}
   */
  async isFree(client) {
    if (this.#held.has(client)) return true;
    if (!this.#locks) return this.#ask(client);
    try {
      const { held = [] } = await this.#locks.query();
      return held.every(({ name }) => name !== nameOf(client));
    } catch {
      return false;
    }
  }

  /** @param {string} client */
  free(client) {
    this.#held.get(client)?.();
    this.#held.delete(client);
  }

  /**
   * What another tab says.
   * @param {LockMessage} message
   */
  hear({ type, client }) {
    if (type === "has") for (const asked of this.#asked) if (asked.client === client) asked.refuse();
    if (type === "who has" && this.#held.has(client)) this.#channel.post({ type: "has", client });
  }

  /** @param {LockManager} locks @param {string} client @returns {Promise<boolean>} */
  #request(locks, client) {
    return new Promise(resolve => {
      /** @param {Lock | null} lock */
      const hold = lock => {
        // Of two that are asked for at once, the second one is not available.
        if (!lock) return resolve(this.#held.has(client));
        return new Promise(free => {
          this.#held.set(client, () => free(undefined));
          void this.#learn(locks, client).then(() => resolve(true));
        });
      };
      locks.request(nameOf(client), { ifAvailable: true }, hold).catch(() => {
        this.#held.delete(client);
        resolve(false);
      });
    });
  }

  /** @param {LockManager} locks @param {string} client whose lock is held */
  async #learn(locks, client) {
    try {
      if (this.#self !== undefined) return;
      const { held = [] } = await locks.query();
      this.#self = held.find(({ name }) => name === nameOf(client))?.clientId;
    } catch {
      // Then each lock counts as lost when it is verified.
    }
  }

  /** @param {string} client @returns {Promise<boolean>} */
  #ask(client) {
    return new Promise(resolve => {
      /** @param {boolean} isFree */
      const end = isFree => {
        clearTimeout(timer);
        this.#asked.delete(asked);
        resolve(isFree);
      };
      const asked = { client, refuse: () => end(false) };
      const timer = setTimeout(() => end(true), ANSWER_WITHIN);
      this.#asked.add(asked);
      this.#channel.post({ type: "who has", client });
    });
  }
}

/** @param {string} client */
function nameOf(client) {
  return `hand:${client}`;
}
