// Small values that outlive the page and are the same in all tabs: the person's name, lists that are known, drafts.
// They are in memory while the page lives, and written when there is time.

export class Settings {
  #values;
  #write;

  /** @param {Map<string, unknown>} values @param {(key: string, value: unknown) => void} write */
  constructor(values, write) {
    this.#values = values;
    this.#write = write;
  }

  /** @param {string} key @returns {any} */
  get(key) {
    return this.#values.get(key);
  }

  /** @returns {string[]} */
  get keys() {
    return [...this.#values.keys()];
  }

  /** @param {string} key @param {unknown} value what can be cloned; nothing forgets it */
  set(key, value) {
    this.hear(key, value);
    this.#write(key, value);
  }

  /**
   * The storage has answered late: what has been set meanwhile stays.
   * @param {Map<string, unknown>} values
   */
  fill(values) {
    for (const [key, value] of values) if (!this.#values.has(key)) this.#values.set(key, value);
  }

  /**
   * Another tab has set it.
   * @param {string} key @param {unknown} value
   */
  hear(key, value) {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
  }
}
