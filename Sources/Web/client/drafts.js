// What is being typed for a list, and is no item yet. A draft belongs to one tab. What a tab leaves when it ends goes
// to the next one that opens the list, which may have another name by then.

import { NO_LOG } from "./replica.js";

/** @typedef {import('./locks.js').Locks} Locks */
/** @typedef {import('./settings.js').Settings} Settings */
/** @typedef {{ name: string, replica: { log: string } }} Owner the list of a draft */

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

  /** @param {Owner} list @param {string} text nothing forgets it */
  keep({ name, replica: { log } }, text) {
    const [key, former] = [`${PREFIX}${this.#self()} ${name}`, this.#keys.get(name)];
    if (former !== undefined && former !== key) this.#settings.set(former, undefined);
    if (text === "") this.#keys.delete(name);
    else this.#keys.set(name, key);
    this.#settings.set(key, text === "" ? undefined : { text, log });
  }

  /**
   * What was kept for a list: by this tab, and by tabs that have ended. It is this tab's from now on.
   * @param {Owner} list
   */
  async take(list) {
    const own = this.#take(list, client => client === this.#self());
    const left = [];
    for (const client of new Set(this.#settings.keys.flatMap(key => clientOf(key) ?? []))) {
      if (client === this.#self() || !(await this.#locks.isFree(client))) continue;
      left.push(...this.#take(list, other => other === client));
    }
    const text = [...own, ...left].join("\n");
    if (text !== "") this.keep(list, text);
    return text;
  }

  /** @param {Owner} list @param {(client: string) => boolean} isWanted */
  #take({ name, replica: { log } }, isWanted) {
    const found = this.#settings.keys.flatMap(key => {
      const client = clientOf(key);
      const kept = this.#settings.get(key);
      if (client === undefined || !isWanted(client) || typeof kept?.text !== "string") return [];
      // Another list may have the name, and this list may have had another one.
      const isItsOwn = kept.log === NO_LOG || log === NO_LOG
        ? key.slice(PREFIX.length + ID + 1) === name
        : kept.log === log;
      return isItsOwn ? [{ key, text: kept.text }] : [];
    });
    for (const { key } of found) this.#settings.set(key, undefined);
    return found.map(({ text }) => text);
  }
}

/**
 * The tab whose draft a setting is, if it is one.
 * @param {string} key
 */
function clientOf(key) {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length, PREFIX.length + ID) : undefined;
}
