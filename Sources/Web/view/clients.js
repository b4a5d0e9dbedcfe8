// What one may do on the server, and which lists there are: each of the tokens that one was given has a client.

import { Client } from "../client/client.js";
import { REFUSED, ROLES, roleOn } from "./identity.js";
import { seenLists } from "./news.js";

/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/replica.js').Told} Told */
/** @typedef {import('./identity.js').Identity} Identity */

/** What one may do with each token, and which lists there are. */
export class Clients {
  #identity;
  #url;
  /** @type {Map<string, Client>} the clients that were started, by their tokens */
  #withToken = new Map();
  /** @type {Map<string, Promise<Client>>} by their tokens, from their start on */
  #started = new Map();
  /** @type {Client | undefined} */
  #current;
  /** @type {string | undefined} the list for which it is the current one */
  #list;
  onchange = () => {};
  /**
   * Another link allows more of what is shown; perhaps since its own is valid no more.
   * @type {(isRefused: boolean) => void}
   */
  onother = () => {};
  /** @type {(list: OpenList, told: Told) => void} */
  ontold = () => {};

  /** @param {Identity} identity @param {string} url of the server's WebSocket */
  constructor(identity, url) {
    this.#identity = identity;
    this.#url = url;
  }

  /** The client of what is shown. The page begins once there is one. */
  get current() {
    return /** @type {Client} */ (this.#current);
  }

  /** One's own name, as others see it. */
  get me() {
    return this.current.person;
  }

  /** The name that one has chosen, without the mark that the server may put in front. */
  get said() {
    return this.#identity.person;
  }

  /** Whether one's name is one's own choice, and not that of a link. */
  get hasName() {
    return this.#identity.tokenFor(this.#list) === "";
  }

  /** The server's name, with its port. */
  get host() {
    return new URL(this.#url).host;
  }

  /** How many edits wait that were made with other links, and why if there is no hope. */
  get elsewhere() {
    const clients = this.#all.filter(client => client !== this.current && client.waiting.count > 0);
    const reason = clients.find(({ connection }) => connection.state === "stopped")?.connection.reason;
    return { count: clients.reduce((sum, { waiting }) => sum + waiting.count, 0), reason };
  }

  /**
   * The address has changed: gives what it names, and its client is the current one.
   * @returns {Promise<import('./route.js').Route>}
   */
  async follow() {
    const route = this.#identity.takeRoute();
    this.#current = await this.asker((this.#list = route.list));
    return route;
  }

  /**
   * The client that follows a list, if any does.
   * @param {OpenList} list
   */
  of(list) {
    return this.#all.find(({ lists }) => lists.includes(list));
  }

  /**
   * The client for a list, or for everything else.
   * @param {string | undefined} name
   */
  asker(name) {
    return this.#clientOf(this.#identity.person, this.#identity.tokenFor(name));
  }

  /** @param {string} former name of a list, for which one's link is @param {string} name */
  renamed(former, name) {
    this.#identity.renameList(former, name);
  }

  /** @param {string} name by which others know the person from now on */
  rename(name) {
    this.#identity.setPerson(name);
    this.current.setPerson(this.#identity.person);
  }

  /**
   * How many edits of a list wait, with whichever link.
   * @param {string} name
   */
  waitingIn(name) {
    return this.#all.reduce((sum, client) => sum + client.waitingIn(name), 0);
  }

  /** What waits with all links, as a text. */
  exportWaiting() {
    return this.#all.map(client => client.exportWaiting()).join("\n");
  }

  /** The edits that can never be sent, with whichever link, and why. */
  get stuck() {
    return this.#all.flatMap(client => client.stuck);
  }

  /** What was made with links that are valid no more is sent with the one of what is shown. */
  bequeath() {
    for (const client of this.#all) if (client.connection.reason === "notAuthenticated") client.bequeath(this.current);
  }

  // What one may do

  /**
   * Why one may not do something, or nothing if one may, as far as it is known.
   * @param {string} list @param {number} role that it needs
   */
  refusal(list, role) {
    const mine = this.#roleOn(list);
    if (mine === undefined || mine >= role) return undefined;
    const place = list === "" ? "on this server" : `on “${list}”`;
    return `Your role ${place} is ${ROLES[mine]}; this needs ${ROLES[role]}.`;
  }

  /** @param {string} list */
  roleWords(list) {
    const role = this.#roleOn(list);
    return role === 1 ? "read only" : role === 2 ? "you may only add" : "";
  }

  // Lists

  /** All lists that one's tokens may read, by name. */
  async allLists() {
    const { person, links } = this.#identity;
    // The link for all lists that are no other link's comes first.
    const first = this.#identity.tokenFor(undefined);
    const others = links.map(({ token }) => token).filter(token => token !== first);
    const tokens = [first, ...others.reverse()];
    const clients = await Promise.all(tokens.map(token => this.#clientOf(person, token)));
    const found = await Promise.all(clients.map(client =>
      listsOf(client).catch(error => {
        // Without the current one, nobody knows which lists there are. Another one may have no hope.
        if (client === this.current) throw error;
        return [];
      })));
    /** @type {Map<string, { name: string, count: number, revision: number }>} */
    const all = new Map();
    for (const [i, entries] of found.entries()) {
      for (const entry of entries) {
        // It may have another name now than in the link.
        if (i > 0 && !all.has(entry.name)) this.#identity.learn(tokens[i], entry.name);
        if (!all.has(entry.name)) all.set(entry.name, entry);
      }
    }
    this.current.settings.set("lists", [...all.keys()]);
    return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The lists that were there when one was online last, those that were looked at, and those of which edits wait.
   * @returns {{ name: string, count?: number, revision: number }[]}
   */
  knownLists() {
    const names = this.current.settings.get("lists");
    const linked = this.#identity.links.flatMap(({ lists }) => lists);
    const waiting = this.#all.flatMap(client => client.waitingLists);
    const all = new Set([...(Array.isArray(names) ? names : []), ...linked, ...seenLists(this.current), ...waiting]);
    return [...all].sort().map(name => ({ name, revision: 0 }));
  }

  /** @returns {Promise<string[]>} */
  async listNames() {
    const entries = await this.allLists().catch(() => this.knownLists());
    return entries.map(({ name }) => name);
  }

  // Private

  get #all() {
    return [...this.#withToken.values()];
  }

  /** @param {string} list */
  #roleOn(list) {
    // Without a network, the roles are those of the last time.
    const link = this.#identity.linkOf(this.#identity.tokenFor(list || undefined));
    return link?.granted && roleOn(link.granted, list);
  }

  /**
   * The client of a token, which is started once.
   * @param {string} person @param {string} token
   */
  #clientOf(person, token) {
    const client = this.#started.get(token) ?? this.#start(person, token);
    this.#started.set(token, client);
    return client;
  }

  /** @param {string} person @param {string} token */
  async #start(person, token) {
    const options = { url: this.#url, person: person || "guest", token: token || undefined, program: "browser" };
    const client = await Client.start(options);
    this.#withToken.set(token, client);
    const hasOther = () => client === this.#current && this.#identity.tokenFor(this.#list) !== token;
    client.onchange = () => {
      this.onchange();
      const { state, reason } = client.connection;
      const isDead = state === "stopped" && reason === "notAuthenticated";
      const isNews = isDead && this.#identity.grant(token, { role: REFUSED, lists: [] });
      const isRefused = isDead && this.#identity.refuse(token);
      // A link that is gone leaves its token nowhere but with the edits that wait.
      for (const key of isRefused ? client.settings.keys : []) {
        if (key.endsWith(` ${token}`)) client.settings.set(key, undefined);
      }
      if ((isNews || isRefused) && hasOther()) this.onother(true);
      // Edits that were made with another link, or without one, are sent with it: the page need not show its lists.
      for (const { person, token } of client.foreign) void this.#clientOf(person, token);
    };
    client.ontold = (open, told) => this.ontold(open, told);
    client.onmessage = message => {
      if (message.type !== "granted") return;
      if (this.#identity.grant(token, message) && hasOther()) this.onother(false);
      this.onchange();
    };
    return client;
  }
}

/**
 * The lists that a client may read. Fails as requests do.
 * @param {Client} client
 */
async function listsOf(client) {
  /** @type {{ name: string, count: number, revision: number }[]} */
  const all = [];
  for (let after = "", hasMore = true; hasMore; ) {
    const answer = await client.request({ type: "lists", after });
    if (!("type" in answer) || answer.type !== "lists") break;
    for (const { name, count, revision } of answer.entries) all.push({ name, count, revision });
    hasMore = answer.hasMore && answer.entries.length > 0;
    after = answer.entries[answer.entries.length - 1]?.name ?? "";
  }
  return all;
}
