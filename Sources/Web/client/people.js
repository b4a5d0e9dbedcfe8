// Who is here, in a list that is followed. Section 7, "Presence".

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./fields.js').Presence} Presence */

/** @type {ReadonlyMap<number, Presence>} */
const NOBODY = new Map();

export class People {
  #send;
  /** @type {Map<number, Presence>} */
  #here = new Map();
  /** @type {Focus | undefined} */
  #focus;
  #isKnown = false;

  /** @param {(focus: Focus) => void} send says where the person is */
  constructor(send) {
    this.#send = send;
  }

  /**
   * By their author numbers. Nobody while there is no subscription, since they may have gone.
   * @returns {ReadonlyMap<number, Presence>}
   */
  get here() {
    return this.#isKnown ? this.#here : NOBODY;
  }

  /**
   * Where the person is.
   * @param {Focus} focus
   */
  place(focus) {
    this.#focus = focus;
    this.#send(focus);
  }

  /** There is no subscription, or another one is asked for. */
  forget() {
    this.#isKnown = false;
  }

  /** A subscription begins with nobody, and with one's own place; it goes on when a reader has lagged. */
  meet() {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#here.clear();
    if (this.#focus) this.#send(this.#focus);
  }

  /**
   * The newest entry about somebody replaces what was known.
   * @param {Presence[]} entries
   */
  hear(entries) {
    for (const entry of entries) {
      if (entry.place === 0) this.#here.delete(entry.author);
      else this.#here.set(entry.author, entry);
    }
  }
}
