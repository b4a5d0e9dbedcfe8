// What is new in a list since its person looked at it last. The last revision that was seen is kept on the device.

import { insertedItems } from "../client/components.js";
import { apply } from "../client/delta.js";
import { commitsOf, listAt } from "../client/requests.js";
import { amount } from "./content.js";

/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/list.js').List} List */

/** Above this many items, what is new is not looked for. */
const MOST_ITEMS = 20_000;
/** The most commits that are read for a headline, and for marks. */
const MOST_COMMITS = 200;
const MOST_READ = 2000;

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

/** @param {Client} client @param {string} list @param {number | undefined} revision nothing if the list is gone */
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
  let count = 0;
  const people = new Set();
  for (const { commit, who } of await commitsOf(client, name, Math.max(since, head - MOST_COMMITS) + 1, head)) {
    const { delta, refused } = commit;
    if (refused || who === own || delta.length === 0) continue;
    count += insertedItems(delta).length + delta.filter(({ op }) => op === "edit").length;
    people.add(who);
  }
  if (people.size === 0) return "";
  const [first, ...others] = people;
  const by = others.length === 0 ? first
    : others.length === 1 ? `${first} and ${others[0]}`
    : `${first} and ${others.length} others`;
  return count > 0 ? `${amount(count, "new", "new")}, by ${by}` : `changed by ${by}`;
}
