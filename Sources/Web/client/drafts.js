// What is being typed for a list, and is no item yet. A draft belongs to one tab. What a tab leaves when it ends goes
// to the next one that opens the list, which may have another name by then.

import { NO_LOG, isSameList } from "./replica.js";

/** @typedef {import('./locks.js').Locks} Locks */
/** @typedef {import('./settings.js').Settings} Settings */
/** @typedef {{ name: string, log: string }} Owner the list of a draft, as it was when it was typed */

const PREFIX = "composing ";
const ID = 32;

export class Drafts {
  #settings;
  #locks;
  #self;
  #mine;
  /**
   * The clients whose tabs had ended when this tab looked last.
   * @type {Set<string>}
   */
  #ended = new Set();

  /**
   * @param {Settings} settings @param {Pick<Locks, "isFree">} locks @param {() => string} self the tab's client id
   * @param {Set<string>} [mine] the client ids under which the page has kept drafts, with whichever link
   */
  constructor(settings, locks, self, mine = new Set()) {
    this.#mine = mine;
    this.#settings = settings;
    this.#locks = locks;
    this.#self = self;
  }

  /** @param {Owner} list @param {string} text nothing forgets it */
  keep(list, text) {
    const key = `${PREFIX}${this.#self()} ${list.log} ${list.name}`;
    this.#mine.add(this.#self());
    for (const other of this.#keysOf(list, client => this.#mine.has(client))) {
      if (other !== key || text === "") this.#settings.set(other, undefined);
    }
    if (text !== "") this.#settings.set(key, text);
  }

  /**
   * What was kept for a list: by this tab, and by tabs that have ended. It is this tab's from now on.
   * @param {Owner} list @param {string} [typed] what is being typed, and is what this tab has kept
   * @param {boolean} [isSecondLook] takes only from tabs that had ended at the last look too: one that is loaded anew
   * seems to have ended for a moment, and wants its own
   */
  async take(list, typed = "", isSecondLook = false) {
    const texts = typed === "" ? this.#take(list, client => client === this.#self()) : [];
    for (const client of new Set(this.#settings.keys.flatMap(key => clientOf(key) ?? []))) {
      if (client === this.#self()) continue;
      const hadEnded = this.#ended.delete(client);
      if (!(await this.isOurs(client))) continue;
      this.#ended.add(client);
      if (isSecondLook && !hadEnded) continue;
      texts.push(...this.#take(list, other => other === client));
    }
    const text = texts.join("\n");
    if (text !== "") this.keep(list, typed === "" ? text : `${typed}\n${text}`);
    return text;
  }

  /** The client id of the tab, under which the view keeps a draft of its own. */
  get self() {
    this.#mine.add(this.#self());
    return this.#self();
  }

  /**
   * Whether what a tab has left is this tab's: after a reload, or when the other one has ended. A duplicate of a tab
   * finds all that the browser keeps for that one.
   * @param {string} client
   */
  async isOurs(client) {
    return client === this.#self() || this.#mine.has(client) || this.#locks.isFree(client);
  }

  /** @param {Owner} list @param {(client: string) => boolean} isWanted */
  #take(list, isWanted) {
    return this.#keysOf(list, isWanted).map(key => {
      const text = this.#settings.get(key);
      this.#settings.set(key, undefined);
      return text;
    });
  }

  /** @param {Owner} list @param {(client: string) => boolean} isWanted */
  #keysOf({ name, log }, isWanted) {
    return this.#settings.keys.filter(key => {
      const client = clientOf(key);
      if (client === undefined || !isWanted(client)) return false;
      const [keptLog, ...words] = key.slice(PREFIX.length + ID + 1).split(" ");
      // Another list may have the name, and this list may have had another one.
      return keptLog === NO_LOG || log === NO_LOG ? words.join(" ") === name : isSameList(keptLog, log);
    });
  }
}

/**
 * The tab whose draft a setting is, if it is one.
 * @param {string} key
 */
function clientOf(key) {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length, PREFIX.length + ID) : undefined;
}
