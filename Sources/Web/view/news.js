// What others do in a list: where they are, what they have just done, and what is new since its person looked at it
// last. The last revision that was seen is kept on the device.

import { apply, mapIndexes, newCount } from "../client/delta.js";
import { commitsOf, listAt } from "../client/requests.js";
import { amount } from "./content.js";
import { actionsOf, sentenceOf } from "./sentences.js";

/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */

/** Above this many items, what is new is not looked for. */
const MOST_ITEMS = 20_000;
/** The most commits that are read for a headline or told at once, and those that are read for marks. */
const MOST_COMMITS = 200;
const MOST_READ = 2000;
/** What is new counts as seen after it was in the window for this long, in ms. */
const SEEING = 3000;

/** How often others are told where one is, in ms. */
const PLACING = 150;
const COLOURS = 6;

const SEEN = "seen ";

/** @param {string} list */
const keyOf = list => SEEN + list;

/**
 * The last revision that was seen; nothing if the list was never looked at.
 * @param {Client} client @param {string} list
 * @returns {number | undefined}
 */
export function seenRevision(client, list) {
  return client.settings.get(keyOf(list));
}

/** @param {Client} client @param {string} list @param {number | undefined} revision nothing if it has gone */
export function setSeen(client, list, revision) {
  if (seenRevision(client, list) !== revision) client.settings.set(keyOf(list), revision);
}

/**
 * The lists that were looked at.
 * @param {Client} client
 */
export function seenLists(client) {
  return client.settings.keys.filter(key => key.startsWith(SEEN)).map(key => key.slice(SEEN.length));
}

/**
 * The items that others have added or changed since a revision, by their ids. Fails as requests do.
 * @param {Pick<Client, "person" | "request">} client @param {string} name @param {number} since
 * @param {{ revision: number, confirmed: List }} now
 */
export async function newsSince(client, name, since, { revision, confirmed }) {
  /** @type {Map<string, "new" | "changed">} */
  const news = new Map();
  if (confirmed.count > MOST_ITEMS) return news;
  const from = Math.max(since, revision - MOST_READ);
  let list = await listAt(client, name, from);
  for (const { commit, who } of await commitsOf(client, name, from + 1, revision)) {
    const before = list;
    list = apply(list, commit.delta);
    if (who === client.person) continue;
    for (const { id } of list.unlike(before)) {
      if (!news.has(id)) news.set(id, before.indexOf(id) < 0 ? "new" : "changed");
    }
  }
  for (const id of news.keys()) if (list.indexOf(id) < 0) news.delete(id);
  return news;
}

/**
 * `4 new, by Bob`: what others did in a list since a revision. Fails as requests do.
 * @param {Client} client @param {string} name @param {number} since @param {number} head
 */
export async function headline(client, name, since, head) {
  const own = client.person;
  /** @type {Set<number>} the places of what is new */
  let places = new Set();
  const people = new Set();
  for (const { commit, who } of await commitsOf(client, name, Math.max(since, head - MOST_COMMITS) + 1, head)) {
    const { delta, refused } = commit;
    places = new Set(mapIndexes(delta, [...places].sort((a, b) => a - b)));
    if (refused || who === own || delta.length === 0) continue;
    let at = 0;
    for (const one of delta) {
      const end = at + newCount(one);
      const isNew = one.op === "insert" || one.op === "edit" || (one.op === "drop" && one.change);
      if (isNew) for (let place = at; place < end; place++) places.add(place);
      at = end;
    }
    people.add(who);
  }
  if (people.size === 0) return "";
  const [first, ...others] = people;
  const by = others.length === 0 ? first
    : others.length === 1 ? `${first} and ${others[0]}`
    : `${first} and ${others.length} others`;
  return places.size > 0 ? `${amount(places.size, "new", "new")}, by ${by}` : `changed by ${by}`;
}

/** Which rows of a list are new for its person. */
export class NewsMarks {
  #open;
  #grid;
  #changed;
  /** Whether the person has looked at the list, as the server has it. */
  #hasBegun = false;
  /** @type {Map<string, "new" | "changed">} */
  #marks = new Map();
  /** @type {Map<string, number>} since when a new item is in sight */
  #inSight = new Map();

  /** @param {OpenList} open @param {Grid} grid @param {() => void} changed called when the marks are others */
  constructor(open, grid, changed) {
    this.#open = open;
    this.#grid = grid;
    this.#changed = changed;
  }

  get count() {
    return this.#marks.size;
  }

  /** The items that are marked. */
  get ids() {
    return this.#marks.keys();
  }

  /** @param {string} id */
  of(id) {
    return this.#marks.get(id);
  }

  /**
   * The list is as the server has it: what is new is looked for, once.
   * @param {Client} client
   */
  begin(client) {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { name, replica } = this.#open;
    const seen = seenRevision(client, name);
    setSeen(client, name, replica.revision);
    if (seen === undefined || seen >= replica.revision) return;
    newsSince(client, name, seen, replica).then(
      marks => {
        this.#marks = marks;
        this.#changed();
      },
      // What is new is then not marked; everything else goes on.
      () => {},
    );
  }

  /**
   * Now and then: what was in sight for a while is not new any more.
   * @param {Client} client @param {number} now
   */
  look(client, now) {
    if (document.hidden || !this.#open.subscription.isLive) return;
    if (this.#hasBegun) setSeen(client, this.#open.name, this.#open.replica.revision);
    let hasChanged = false;
    for (const id of this.#marks.keys()) {
      const box = this.#grid.view(id)?.element.getBoundingClientRect();
      const isGone = this.#open.replica.view.indexOf(id) < 0;
      if (isGone) hasChanged = this.#marks.delete(id);
      else if (!box || box.bottom < 0 || box.top > innerHeight) this.#inSight.delete(id);
      else if (now - (this.#inSight.get(id) ?? now) > SEEING) hasChanged = this.#marks.delete(id) || hasChanged;
      else if (!this.#inSight.has(id)) this.#inSight.set(id, now);
    }
    if (hasChanged) this.#changed();
  }

  /**
   * The next new item, or the one before; nothing if there is none.
   * @param {number} way 1 or -1 @param {List} list @param {(item: Item) => boolean} isWanted
   */
  next(way, list, isWanted) {
    const items = [...list];
    const from = list.indexOf(this.#grid.current ?? "");
    for (let i = 1; i <= items.length; i++) {
      const item = items[(from + way * i + items.length * 2) % items.length];
      if (this.#marks.has(item.id) && isWanted(item)) return item.id;
    }
    return undefined;
  }
}

/** Who else is in a list, and where they see the person. */
export class Company {
  #app;
  #open;
  #grid;
  /** @type {Map<string, { name: string, isEditing: boolean, colour: number }[]>} who is at which item */
  places = new Map();
  /** @type {import('./sentences.js').Followed[]} others' commits that were not told yet */
  #followed = [];
  #placing = 0;

  /** @param {App} app @param {OpenList} open @param {Grid} grid */
  constructor(app, open, grid) {
    this.#app = app;
    this.#open = open;
    this.#grid = grid;
  }

  /** Others may have gone elsewhere. */
  look() {
    this.places = new Map();
    const { people, author } = this.#open.subscription;
    for (const entry of people.here.values()) {
      if (entry.author === author || entry.item === undefined) continue;
      const one = { name: entry.person ?? "", isEditing: entry.place === 3, colour: entry.author % COLOURS };
      this.places.set(entry.item, [...(this.places.get(entry.item) ?? []), one]);
    }
  }

  /** What others do is told. */
  hear() {
    const followed = this.#open.replica.takeFollowed();
    if (followed.length === 0 || document.hidden) return;
    this.#followed = [...this.#followed, ...followed].slice(-MOST_COMMITS);
    this.#app.speech.tell(async () => {
      const all = this.#followed;
      this.#followed = [];
      const actions = await Promise.all(all.map(async one =>
        actionsOf(one, await this.#app.nameOf(this.#open, one.commit.author, one.commit.revision))));
      return sentenceOf(actions.flat());
    });
  }

  /** Tells others where the person is. */
  place() {
    const item = this.#grid.current;
    const isKnown = item !== undefined && this.#open.replica.confirmed.indexOf(item) >= 0;
    this.#app.client.place(this.#open, isKnown ? { place: this.#grid.edited === item ? 2 : 1, item } : { place: 0 });
  }

  /** Others see where one is, soon after one has gone there. */
  placeSoon() {
    this.#placing ||= setTimeout(() => {
      this.#placing = 0;
      if (this.#open.subscription.isLive) this.place();
    }, PLACING);
  }

  close() {
    clearTimeout(this.#placing);
  }
}
