// A journal of a program that has ended: its edits are sent under its client id. They fit one revision of their list,
// which is fetched first, unless there is a copy of it; then they are pending as they were.

import { List } from "./list.js";
import { ERRORS } from "./messages.js";
import { Replica } from "./replica.js";

/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./messages.js').Up} Up */
/** @typedef {import('./messages.js').Down} Down */
/**
 * What comes of it: `ask` the server, `follow` the list under a name with a replica, or `fail`, since the list is gone
 * or no longer keeps that revision: then the journal stays, and people can be shown what is in it.
 * @typedef {{ do: "ask", messages: Up[] } | { do: "follow", name: string, replica: Replica } | { do: "fail", reason:
 *   string } | undefined} Step
 */

/** One list of a journal. Requests are numbered by whoever has the connection. */
export class Adoption {
  #kept;
  #nextRequest;
  #copy;
  #name;
  #request = 0;
  /**
   * The answer to the fetch, and the items that have come.
   * @type {{ count: number, digest: string } | undefined}
   */
  #state;
  /** @type {Item[]} */
  #items = [];
  #isByLog = false;
  /**
   * The list's number, while its name is asked for.
   * @type {number | undefined}
   */
  #list;

  /** @param {Kept} kept @param {() => number} nextRequest @param {List} [copy] of the list that a storage has */
  constructor(kept, nextRequest, copy) {
    this.#copy = copy;
    this.#kept = kept;
    this.#name = kept.name;
    this.#nextRequest = nextRequest;
  }

  /**
   * There is a connection.
   * @returns {Step}
   */
  begin() {
    if (this.#kept.revision === 0) return this.#finish(List.empty);
    if (this.#copy?.digest === this.#kept.digest) return this.#finish(this.#copy);
    this.#request = this.#nextRequest();
    this.#state = undefined;
    this.#items = [];
    const { revision } = this.#kept;
    return { do: "ask", messages: [{ type: "fetch", request: this.#request, name: this.#name, revision }] };
  }

  /**
   * A message that may be about it.
   * @param {Down} message
   * @returns {Step}
   */
  answer(message) {
    if (message.type === "renamed" && message.list === this.#list) return this.#found(message.name);
    if (!("request" in message) || message.request !== this.#request) return undefined;
    if (message.type === "subscribed") this.#list = message.list;
    if (message.type === "error") return this.#otherwise(ERRORS[message.code]);
    if (message.type === "state") this.#state = message;
    if (message.type === "chunk") for (const item of message.items) this.#items.push(item);
    return this.#state && this.#items.length >= this.#state.count ? this.#fetched() : undefined;
  }

  /** @returns {Step} */
  #fetched() {
    const list = List.of(this.#items);
    // A list of that name may be another one.
    return list.digest === this.#kept.digest ? this.#finish(list) : this.#otherwise("noSuchList");
  }

  /**
   * The list may have another name by now.
   * @param {string} reason
   * @returns {Step}
   */
  #otherwise(reason) {
    if (reason !== "noSuchList" || this.#isByLog) return { do: "fail", reason };
    this.#isByLog = true;
    this.#request = this.#nextRequest();
    const { log: logID, revision } = this.#kept;
    const request = this.#request;
    return { do: "ask", messages: [{ type: "subscribe", request, name: "", logID, revision, wants: 0 }] };
  }

  /** @param {string} name @returns {Step} */
  #found(name) {
    const list = this.#list ?? 0;
    this.#list = undefined;
    this.#name = name;
    const next = this.begin();
    return next?.do === "ask" ? { do: "ask", messages: [{ type: "unsubscribe", list }, ...next.messages] } : next;
  }

  /** @param {List} list @returns {Step} */
  #finish(list) {
    try {
      return { do: "follow", name: this.#name, replica: Replica.restored({ ...this.#kept, confirmed: list }) };
    } catch {
      return { do: "fail", reason: "damaged" };
    }
  }
}
