// Small values that outlive the page and are the same in all tabs: the person's name, lists that are known, drafts.
// They are in memory while the page lives, and written when there is time.

/**
 * What becomes of a value. It may be asked again, once the storage has said what the value was.
 * @typedef {(value: any) => unknown} Change
 */

export class Settings {
  /** @type {Map<string, unknown>} */
  #values = new Map();
  /**
   * What was changed before the storage has answered.
   * @type {{ key: string, change: Change, isOwn: boolean }[] | undefined}
   */
  #early = [];
  #write;

  /** @param {(key: string, value: unknown) => void} write */
  constructor(write) {
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
    this.#replace(key, value, true);
  }

  /** @param {string} key @param {Change} change gives the new value for the present one */
  change(key, change) {
    this.#make(key, change, true);
  }

  /**
   * Another tab has set it.
   * @param {string} key @param {unknown} value
   */
  hear(key, value) {
    this.#replace(key, value, false);
  }

  /**
   * The storage has answered: what has been changed meanwhile is changed in what it has.
   * @param {Map<string, unknown>} values
   */
  fill(values) {
    const early = this.#early ?? [];
    this.#values = values;
    this.#early = undefined;
    for (const { key, change, isOwn } of early) this.#make(key, change, isOwn);
  }

  /** @param {string} key @param {unknown} value @param {boolean} isOwn */
  #replace(key, value, isOwn) {
    this.#early = this.#early?.filter(early => early.key !== key);
    this.#make(key, () => value, isOwn);
  }

  /** @param {string} key @param {Change} change @param {boolean} isOwn */
  #make(key, change, isOwn) {
    const value = change(this.#values.get(key));
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    if (this.#early) this.#early.push({ key, change, isOwn });
    else if (isOwn) this.#write(key, value);
  }
}
