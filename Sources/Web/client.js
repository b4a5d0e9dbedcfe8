// The client of a page: it runs a session over a WebSocket. The view asks this, and nothing else.

import { ERRORS } from "./messages.js";
import { List } from "./list.js";
import { Session } from "./session.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./messages.js').Up} Up */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./replica.js').Told} Told */
/** @typedef {import('./session.js').Effect} Effect */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/**
 * @template T
 * @typedef {T extends { request: number } ? Omit<T, "request"> : never} WithoutRequest
 */
/** @typedef {WithoutRequest<Up>} Question what the server is asked, without the number of the request */
/**
 * The connection. It is online only once the server has welcomed the client; slow if an edit waits for more than 10 s
 * while it is online, or if the server is silent. `since` is a time of the device, in ms since 1970.
 * @typedef {{ state: "connecting" | "online" | "offline" | "paused" | "stopped", reason: string, since: number, isSlow:
 *   boolean }} Connection
 */
/**
 * The storage of this device. Edits are safe from the tab's end only while they are `kept`.
 * @typedef {{ state: "opening" | "kept" | "failed" | "none", reason: string, isPersisted: boolean | undefined, hasLocks:
 *   boolean }} StorageState
 */
/** @typedef {{ count: number, since: number | undefined }} Waiting edits that only this device has */
/** @typedef {{ url: string, person: string, token?: string, program: string }} Options */

/** An error of the protocol, or `offline`: the connection is lost, or there is none. */
export class RequestError extends Error {
  /** @param {string} name @param {string} message */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/** A list that is open. */
export class OpenList {
  subscription;
  replica;
  /** Whether there is something to show: a stored copy, or what the server has sent. */
  hasCopy = false;
  /**
   * Edits of other tabs of this device that are not committed, as far as they are known here.
   * @type {import('./pending.js').Edit[]}
   */
  others = [];

  /** @param {Subscription} subscription @param {Replica} replica */
  constructor(subscription, replica) {
    this.subscription = subscription;
    this.replica = replica;
  }

  get name() {
    return this.subscription.name;
  }
}

/** Small values that outlive the page, in memory while it lives. */
class Settings {
  /** @type {Map<string, unknown>} */
  #values = new Map();

  /** @param {string} key @returns {any} */
  get(key) {
    return this.#values.get(key);
  }

  /** @param {string} key @param {unknown} value nothing forgets it */
  set(key, value) {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
  }

  /** @returns {string[]} */
  keys() {
    return [...this.#values.keys()];
  }
}

export class Client {
  /** Called at most once in a turn, after anything has changed. */
  onchange = () => {};
  /** @type {(list: OpenList, told: Told) => void} */
  ontold = () => {};
  /** @type {(message: Down) => void} a message nobody has asked for: rights that have changed, a list that is renamed */
  onmessage = () => {};
  /** @type {Connection} */
  connection = { state: "connecting", reason: "", since: Date.now(), isSlow: false };
  /** @type {StorageState} */
  storage = { state: "none", reason: "", isPersisted: undefined, hasLocks: false };
  settings = new Settings();
  #options;
  /** @type {Session} */
  #session;
  /** @type {Map<string, OpenList>} */
  #lists = new Map();
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Map<number, { resolve: (answer: Down | Down[]) => void, reject: (error: Error) => void, parts: Down[] }>} */
  #requests = new Map();
  #isTelling = false;

  /** @param {Options} options */
  static async start(options) {
    return new Client(options);
  }

  /** @param {Options} options */
  constructor(options) {
    this.#options = options;
    this.#session = this.#newSession();
    this.#run(this.#session.tick(Date.now(), 0));
  }

  get person() {
    return this.#options.person;
  }

  /** @returns {readonly OpenList[]} */
  get lists() {
    return [...this.#lists.values()];
  }

  /** @returns {Waiting} */
  get waiting() {
    const count = this.lists.reduce((sum, { replica }) => sum + replica.pending.length, 0);
    return { count, since: undefined };
  }

  /** What waits, as plain text: names of lists, and words. */
  exportWaiting() {
    return "";
  }

  /**
   * Follows a list. Opening it again gives the same.
   * @param {string} name
   */
  open(name) {
    const key = name.normalize("NFC");
    const known = this.lists.find(list => list.name === key && !list.subscription.hasEnded);
    if (known) return known;
    const subscription = this.#session.follow(key);
    const list = new OpenList(subscription, this.#session.replica(subscription));
    this.#lists.set(key, list);
    this.#run(this.#session.tick(Date.now(), 0));
    return list;
  }

  /** @param {OpenList} list that is no longer followed */
  forget(list) {
    for (const [key, other] of this.#lists) if (other === list) this.#lists.delete(key);
    this.#run(this.#session.unfollow(list.subscription, Date.now()));
  }

  /**
   * The person edits, undoes or redoes. Throws what the action throws, and then nothing has happened.
   * @param {OpenList} list @param {(replica: Replica) => void} action
   */
  act(list, action) {
    this.#run(this.#session.act(list.subscription, action, Date.now()));
  }

  /**
   * Where the person is.
   * @param {OpenList} list @param {Focus} focus
   */
  place(list, focus) {
    this.#run(this.#session.place(list.subscription, focus, Date.now()));
  }

  /**
   * Asks the server. A fetch is answered by several messages (state and chunks), everything else by one.
   * @param {Question} question
   * @returns {Promise<Down | Down[]>} rejected by a `RequestError`
   */
  request(question) {
    if (!this.#session.isOpen) return Promise.reject(new RequestError("offline", "there is no connection"));
    const request = this.#session.nextRequest();
    return new Promise((resolve, reject) => {
      this.#requests.set(request, { resolve, reject, parts: [] });
      this.#run(this.#session.ask(/** @type {Up} */ ({ ...question, request }), Date.now()));
    });
  }

  /**
   * Another name, or another token.
   * @param {string} person @param {string} [token]
   */
  setPerson(person, token) {
    this.#options = { ...this.#options, person, token };
    this.#socket?.close();
    this.#socket = undefined;
    const names = [...this.#lists.keys()];
    this.#session = this.#newSession();
    this.#lists.clear();
    for (const name of names) this.open(name);
    this.#run(this.#session.tick(Date.now(), 0));
  }

  // Private

  #newSession() {
    const { person, token, program } = this.#options;
    const half = () => crypto.getRandomValues(new Uint32Array(4));
    const client = [...half()].map(word => word.toString(16).padStart(8, "0")).join("");
    return new Session({ client, person, program, token, idle: 300_000 });
  }

  /** @param {Effect[]} effects */
  #run(effects) {
    for (const effect of effects) this.#do(effect);
    clearTimeout(this.#timer);
    const wait = this.#session.deadline - Date.now();
    if (wait < Infinity) {
      this.#timer = setTimeout(() => this.#run(this.#session.tick(Date.now(), Math.random())), Math.max(0, wait));
    }
    this.#change();
  }

  /** @param {Effect} effect */
  #do(effect) {
    switch (effect.do) {
      case "connect":
        return this.#connect();
      case "send":
        return this.#socket?.send(effect.bytes);
      case "close":
        this.#socket?.close();
        this.#socket = undefined;
        return this.#lose("offline", "");
      case "open":
        return this.#be("online", "");
      case "tell":
        return this.#tell(effect.list, effect.told);
      case "answer":
        return this.#answer(effect.message);
      case "stop":
        return this.#lose("stopped", effect.reason);
    }
  }

  #connect() {
    const socket = new WebSocket(this.#options.url);
    const isMine = () => this.#socket === socket;
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => isMine() && this.#run(this.#session.connected(Date.now()));
    socket.onmessage = ({ data }) =>
      isMine() && this.#run(this.#session.received(new Uint8Array(data), Date.now(), Math.random()));
    socket.onclose = () => {
      if (!isMine()) return;
      this.#socket = undefined;
      this.#lose("offline", "");
      this.#run(this.#session.lost(Date.now(), Math.random()));
    };
    this.#be("connecting", "");
  }

  /** @param {"offline" | "stopped"} state @param {string} reason */
  #lose(state, reason) {
    for (const { reject } of this.#requests.values()) reject(new RequestError("offline", "the connection is lost"));
    this.#requests.clear();
    this.#be(state, reason);
  }

  /** @param {Connection["state"]} state @param {string} reason */
  #be(state, reason) {
    if (this.connection.state === state && this.connection.reason === reason) return;
    this.connection = { state, reason, since: Date.now(), isSlow: false };
  }

  /** @param {Subscription} subscription @param {Told} told */
  #tell(subscription, told) {
    const list = this.lists.find(list => list.subscription === subscription);
    if (list) this.ontold(list, told);
  }

  /** @param {Down} message */
  #answer(message) {
    const request = "request" in message ? this.#requests.get(message.request) : undefined;
    if (!request || !("request" in message)) return this.onmessage(message);
    const end = () => this.#requests.delete(message.request);
    if (message.type === "error") {
      end();
      return request.reject(new RequestError(ERRORS[message.code], message.message));
    }
    if (message.type !== "state" && message.type !== "chunk") {
      end();
      return request.resolve(message);
    }
    request.parts.push(message);
    const [state, ...chunks] = request.parts;
    const has = chunks.reduce((sum, chunk) => sum + (chunk.type === "chunk" ? chunk.items.length : 0), 0);
    if (state.type !== "state" || has < state.count) return;
    end();
    request.resolve(request.parts);
  }

  #change() {
    for (const list of this.lists) list.hasCopy ||= list.subscription.isLive || list.replica.revision > 0;
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.onchange();
    });
  }
}

/**
 * The list of a fetch's answer.
 * @param {Down | Down[]} answer
 */
export function listOf(answer) {
  return List.of([answer].flat().flatMap(part => (part.type === "chunk" ? part.items : [])));
}
