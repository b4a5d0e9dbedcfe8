// Who one is on this device: one's name, and the links that one was given, each with its token and what it allows. A
// token is a secret; it stays on the device, and is only sent in the hello.

import { bytesOf } from "../client/bytes.js";
import { fragmentOf, routeOf } from "./route.js";

/** @typedef {import('../client/messages.js').Down} Down */
/** @typedef {Pick<Extract<Down, { type: "granted" }>, "role" | "lists">} Granted the role on all lists, and others */
/** @typedef {{ token: string, lists: string[], granted?: Granted }} Link without a token: what everybody may */

const KEY = "hand identity";
/** The most bytes of a name. */
const MOST_NAME = 64;
/** The role of a token that the server does not take. */
export const REFUSED = -1;
export const ROLES = ["none", "read", "append", "write", "admin"];
const WRITE = ROLES.indexOf("write");
/** The rank of a link that was not tried yet. */
const NEW = 9;

export class Identity {
  person = "";
  /** @type {Link[]} */
  links = [];

  constructor() {
    this.#read();
  }

  /** @param {string} person */
  setPerson(person) {
    this.#read();
    this.person = person;
    this.#write();
  }

  /**
   * A link that was opened: from now on, its token is used for the list.
   * @param {string} token @param {string} list
   */
  addLink(token, list) {
    this.#read();
    const link = this.links.find(link => link.token === token) ?? { token, lists: [] };
    const others = this.links.filter(other => other !== link);
    this.links = [...others, { ...link, lists: [...link.lists.filter(name => name !== list), list] }];
    this.#write();
  }

  /**
   * The server does not take a token: its lists are for other links, if there are any. Whether there are.
   * @param {string} token
   */
  refuse(token) {
    this.#read();
    const link = this.linkOf(token);
    const others = this.links.filter(other => other !== link);
    /** @param {string} name */
    const isOthers = name => others.some(link => rankOf(link, name) > 0);
    const left = link?.lists.filter(name => !isOthers(name)) ?? [];
    if (!link || left.length === link.lists.length) return false;
    this.links = left.length === 0 ? others : [{ token, lists: left }, ...others];
    this.#write();
    return true;
  }

  /**
   * What a token allows. Whether that is news.
   * @param {string} token @param {Granted} granted
   */
  grant(token, { role, lists }) {
    this.#read();
    const granted = { role, lists: lists.map(({ name, role }) => ({ name, role })) };
    if (token === "" && role >= 0 && !this.linkOf("")) this.links.unshift({ token, lists: [] });
    const link = this.linkOf(token);
    if (!link || JSON.stringify(link.granted) === JSON.stringify(granted)) return false;
    link.granted = granted;
    this.#write();
    return true;
  }

  /**
   * A list that a token may read, and the one for all lists may not.
   * @param {string} token @param {string} list
   */
  learn(token, list) {
    this.#read();
    if (this.links.some(({ lists }) => lists.includes(list))) return;
    this.linkOf(token)?.lists.push(list);
    this.#write();
  }

  /** @param {string} former name of a list @param {string} name */
  renameList(former, name) {
    this.#read();
    for (const link of this.links) {
      link.lists = link.lists.map(list => (list === former ? name : list));
      for (const one of link.granted?.lists ?? []) if (one.name === former) one.name = name;
    }
    this.#write();
  }

  /**
   * Where the address leads. A token goes out of it, and out of the history of the browser.
   * @returns {import('./route.js').Route}
   */
  takeRoute() {
    const { list, view, token } = routeOf(location.hash);
    if (token && list) {
      this.addLink(token, list);
      history.replaceState(null, "", fragmentOf({ list, view }));
    }
    return { list, view };
  }

  /**
   * The newest of the tokens that allow most in a list, or in all lists.
   * @param {string | undefined} list
   */
  tokenFor(list) {
    return [...this.links].reverse().sort((a, b) => rankOf(b, list) - rankOf(a, list))[0]?.token ?? "";
  }

  /** @param {string} token */
  linkOf(token) {
    return this.links.find(link => link.token === token);
  }

  /** Another tab may have opened a link since: what is written must have it. */
  #read() {
    try {
      const { person, links } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      if (typeof person === "string") this.person = fitted(person);
      if (Array.isArray(links)) this.links = links.filter(isLink);
    } catch {
      // Private windows may have no storage, and what is in it may be anything.
    }
  }

  #write() {
    try {
      localStorage.setItem(KEY, JSON.stringify({ person: this.person, links: this.links }));
    } catch {
      // Then the tab knows it, until it is loaded again.
    }
  }
}

/**
 * Why nobody can have a name, if so.
 * @param {string} person
 */
export function nameProblem(person) {
  const size = bytesOf(person.trim()).length;
  return size > MOST_NAME ? `The name is too long: it has ${size} bytes of at most ${MOST_NAME}.` : "";
}

/**
 * As much of a name as the server takes.
 * @param {string} person
 */
function fitted(person) {
  const letters = [...person];
  while (bytesOf(letters.join("")).length > MOST_NAME) letters.pop();
  return letters.join("");
}

/**
 * What a token allows in a list.
 * @param {Granted} granted @param {string | undefined} list
 */
export function roleOn({ role, lists }, list) {
  return Math.max(role, ...lists.filter(({ name }) => name === list).map(({ role }) => role));
}

/**
 * How good a link is for a list: a new one is tried first, and one that was given for the list stays better than those
 * that do not even read it. One that may write carries one's name, so that guests are no better, whatever they may.
 * @param {Link} link @param {string | undefined} list
 */
function rankOf({ token, lists, granted }, list) {
  const isNamed = list !== undefined && lists.includes(list);
  const role = granted ? roleOn(granted, list) : isNamed ? NEW : 0;
  return Math.max(token === "" ? Math.min(role, WRITE) : role, isNamed ? 0.5 : REFUSED);
}

/** @param {unknown} value @returns {value is Link} */
function isLink(value) {
  const { token, lists, granted = { role: 0, lists: [] } } = /** @type {any} */ (value ?? {});
  return typeof token === "string" && Array.isArray(lists) && lists.every(name => typeof name === "string")
    && Number.isInteger(granted?.role) && Array.isArray(granted.lists);
}
