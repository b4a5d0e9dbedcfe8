// What is being typed for a list, and is no item yet. A draft belongs to one tab. What a tab leaves when it ends goes
// to the next one that opens the list.

/** @typedef {import('./locks.js').Locks} Locks */
/** @typedef {import('./settings.js').Settings} Settings */

const PREFIX = "composing ";
const ID = 32;

export class Drafts {
  #settings;
  #locks;
  #self;
  /**
   * Under which keys the tab has kept the drafts of lists.
   * @type {Map<string, string>}
   */
  #keys = new Map();

  /** @param {Settings} settings @param {Pick<Locks, "isFree">} locks @param {() => string} self the tab's client id */
  constructor(settings, locks, self) {
    this.#settings = settings;
    this.#locks = locks;
    this.#self = self;
  }

  /** @param {string} list @param {string} text nothing forgets it */
  keep(list, text) {
    const [key, former] = [`${PREFIX}${this.#self()} ${list}`, this.#keys.get(list)];
    if (former !== undefined && former !== key) this.#settings.set(former, undefined);
    if (text === "") this.#keys.delete(list);
    else this.#keys.set(list, key);
    this.#settings.set(key, text || undefined);
  }

  /** @param {string} former name of a list @param {string} name */
  rename(former, name) {
    const text = this.#settings.get(this.#keys.get(former) ?? "");
    this.keep(former, "");
    if (text !== undefined) this.keep(name, text);
  }

  /**
   * What this tab has kept for a list, and what ended tabs have left for it: it is this tab's from now on.
   * @param {string} list
   */
  async take(list) {
    const texts = [];
    for (const key of this.#settings.keys) {
      if (!key.startsWith(PREFIX) || key.slice(PREFIX.length + ID + 1) !== list) continue;
      const client = key.slice(PREFIX.length, PREFIX.length + ID);
      if (client !== this.#self() && !(await this.#locks.isFree(client))) continue;
      // Another tab may have taken it meanwhile.
      const text = this.#settings.get(key);
      this.#settings.set(key, undefined);
      if (typeof text === "string") texts.push(text);
    }
    const text = texts.join("\n");
    if (text !== "") this.keep(list, text);
    return text;
  }
}
