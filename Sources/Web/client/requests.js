// What the view has asked the server for: answers are put together, and errors have the protocol's names.

import { List } from "./list.js";
import { ERRORS } from "./messages.js";

/** @typedef {import('./codec.js').Commit} Commit */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./messages.js').Up} Up */
/**
 * @template T
 * @typedef {T extends { request: number } ? Omit<T, "request"> : never} WithoutRequest
 */
/** @typedef {WithoutRequest<Up>} Question what the server is asked, without the number of the request */
/**
 * @typedef {object} Asked
 * @property {Question} question
 * @property {(answer: Down | Down[]) => void} resolve
 * @property {(error: RequestError) => void} reject
 * @property {Down[]} parts
 */

/** @typedef {{ request(question: Question): Promise<Down | Down[]> }} Asker whoever asks, as a client */

/** An error of the protocol, or `offline`: the connection is lost, or there is none. */
export class RequestError extends Error {
  /** @param {string} name @param {string} message */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

export class Requests {
  /**
   * What waits for a connection.
   * @type {Asked[]}
   */
  #waiting = [];
  /** @type {Map<number, Asked>} */
  #sent = new Map();

  /**
   * @param {Question} question
   * @returns {Promise<Down | Down[]>}
   */
  ask(question) {
    return new Promise((resolve, reject) => this.#waiting.push({ question, resolve, reject, parts: [] }));
  }

  /**
   * There is a connection, which numbers requests.
   * @param {() => number} nextRequest
   * @returns {Up[]} what is to be sent
   */
  take(nextRequest) {
    return this.#waiting.splice(0).map(asked => {
      const request = nextRequest();
      this.#sent.set(request, asked);
      return /** @type {Up} */ ({ ...asked.question, request });
    });
  }

  /** The connection is lost, or there will be none soon. */
  fail() {
    const all = [...this.#waiting.splice(0), ...this.#sent.values()];
    this.#sent.clear();
    for (const { reject } of all) reject(new RequestError("offline", "there is no connection"));
  }

  /**
   * @param {Down} message
   * @returns {boolean} whether it answers a request
   */
  hear(message) {
    const request = "request" in message ? message.request : 0;
    const asked = this.#sent.get(request);
    if (!asked) return false;
    if (message.type === "error") {
      this.#sent.delete(request);
      asked.reject(new RequestError(ERRORS[message.code], message.message));
      return true;
    }
    asked.parts.push(message);
    if (!isWhole(asked.parts)) return true;
    this.#sent.delete(request);
    asked.resolve(message.type === "chunk" || message.type === "state" ? asked.parts : message);
    return true;
  }
}

/** @param {Down[]} parts */
function isWhole([first, ...chunks]) {
  const count = chunks.reduce((sum, part) => sum + (part.type === "chunk" ? part.items.length : 0), 0);
  return first.type !== "state" || count >= first.count;
}

/**
 * Commits of a list that follow each other, the oldest first, and who made each; without those that are not kept. Fails
 * as requests do.
 * @param {Asker} asker @param {string} name @param {number} from @param {number} last
 */
export async function commitsOf(asker, name, from, last) {
  /** @type {{ commit: Commit, who: string }[]} */
  const all = [];
  for (let next = from; next <= last; ) {
    const answer = await asker.request({ type: "history", name, from: next, limit: last - next + 1 });
    if (!("type" in answer) || answer.type !== "history" || answer.commits.length === 0) break;
    const names = new Map(answer.people.map(person => [person.author, person.name]));
    // The server may forget commits between two answers. If all are forgotten, its answer begins after the last one.
    if (answer.commits[0].revision > next) all.length = 0;
    for (const commit of answer.commits) {
      if (commit.revision <= last) all.push({ commit, who: names.get(commit.author) ?? "somebody" });
    }
    next = answer.commits[answer.commits.length - 1].revision + 1;
  }
  return all;
}

/**
 * A list at a revision, or the newest. Fails as requests do.
 * @param {Asker} asker @param {string} name @param {number} [revision]
 */
export async function listAt(asker, name, revision) {
  return revision === 0 ? List.empty : listOf(await asker.request({ type: "fetch", name, revision }));
}

/**
 * The list of a fetch's answer.
 * @param {Down | Down[]} answer
 */
export function listOf(answer) {
  return List.of([answer].flat().flatMap(part => (part.type === "chunk" ? part.items : [])));
}
