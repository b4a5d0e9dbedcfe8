// The client of a page. It runs the machine of a tab in a browser: WebSockets, storage, locks, the other tabs, timers,
// and what happens to the page. The view asks this, and nothing else.

import { Connectivity } from "./connectivity.js";
import { Copies } from "./copies.js";
import { Drafts } from "./drafts.js";
import { Links } from "./links.js";
import { Locks } from "./locks.js";
import { OpenList } from "./openlist.js";
import { wordsOf } from "./others.js";
import { Requests } from "./requests.js";
import { Settings } from "./settings.js";
import { Store } from "./store.js";
import { Tab } from "./tabs.js";

export { OpenList } from "./openlist.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./pending.js').Step} Step */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./replica.js').Told} Told */
/** @typedef {import('./requests.js').Question} Question */
/** @typedef {import('./tabs.js').Effect} Effect */
/** @typedef {import('./opened.js').Opened} Opened */
/** @typedef {import('./connectivity.js').Connection} Connection */
/**
 * The storage of this device. Edits outlive the tab only while it is `kept`; `isPersisted` is the browser's promise not
 * to clear it. Without real locks, the tabs ask each other.
 * @typedef {{ state: "opening" | "kept" | "failed" | "none", reason: string, isPersisted: boolean | undefined,
 *   hasLocks: boolean }} StorageState
 */
/**
 * Edits that only this device has, and how many of them are those of other tabs.
 * @typedef {{ count: number, others: number, since: number | undefined }} Waiting
 */
/**
 * Edits that nobody sends any more, and why: of a list that is open, or of a journal that somebody has left.
 * @typedef {{ name: string, count: number, reason: string, list?: OpenList, discard: () => void }} Stuck
 */
/** @typedef {readonly [revision: number, step: Step | undefined]} OwnCommit */
/** @typedef {{ url: string, person: string, token?: string, program: string }} Options */

/** A storage that takes longer is done without. */
const TIMEOUT = 2000;
/** A clock that is off by more has slept. */
const SLEPT = 5000;
/** Whoever may not read a list, or not any more, keeps no copy of it. */
const GONE = ["listDeleted", "noSuchList", "notAllowed"];
/** The most commits of one's own that are known of a list. */
const MOST_OWN = 500;
const OWN = "own ";
/** @type {Set<string>} the client ids under which all clients of the page have kept drafts */
const drafting = new Set();

export class Client {
  /** Called at most once in a turn, after anything has changed. */
  onchange = () => {};
  /** @type {(list: OpenList, told: Told) => void} */
  ontold = () => {};
  /**
   * A message that answers nothing: rights that have changed, a list that is renamed.
   * @type {(message: Down) => void}
   */
  onmessage = () => {};
  /** @type {string | undefined} as the server says it */
  #person;
  settings;
  /** What is being typed, and is no item yet. */
  drafts;
  #options;
  #tab;
  #store = new Store(draw);
  #copies = new Copies(draw);
  #channel = new BroadcastChannel("hand");
  #locks = new Locks({ post: message => this.#channel.postMessage(message) });
  #requests = new Requests();
  /** @type {OpenList[]} */
  #lists = [];
  #links;
  #connectivity = new Connectivity();
  /** @type {boolean | undefined} */
  #isPersisted;
  #hasAsked = false;
  #ownLine = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #dueAt = Infinity;
  #drift = Date.now() - performance.now();
  #isTelling = false;
  /** @type {Effect[]} */
  #effects = [];
  #isRunning = false;
  /** @type {() => void} */
  #begun = () => {};

  /**
   * @param {Options} options
   * @returns {Promise<Client>}
   */
  static async start(options) {
    const client = new Client(options);
    await Promise.race([client.#fill(), new Promise(resolve => setTimeout(resolve, TIMEOUT))]);
    await client.#begin();
    return client;
  }

  /** @param {Options} options */
  constructor(options) {
    const { person, token, program } = options;
    this.#options = options;
    this.settings = new Settings((key, value) => {
      void this.#store.set(key, value);
      this.#channel.postMessage({ type: "setting", key, value });
      this.#change();
    });
    this.#links = new Links(options.url, {
      opened: line => this.#run(this.#tab.connected(line, this.#now())),
      received: (line, bytes) => this.#run(this.#tab.received(line, bytes, this.#now())),
      lost: (line, end) => {
        if (line === this.#ownLine) this.#connectivity.ended(end);
        this.#run(this.#tab.lost(line, this.#now()));
      },
    });
    this.drafts = new Drafts(this.settings, this.#locks, () => this.#tab.client, drafting);
    this.#tab = new Tab({ person, token, program, holder: draw(), chance: { chance: Math.random, draw } });
  }

  // What there is to see

  /** @returns {Connection} */
  get connection() {
    return this.#connectivity.connection;
  }

  /** @returns {StorageState} */
  get storage() {
    const { state, reason } = this.#store;
    return { state, reason, isPersisted: this.#isPersisted, hasLocks: this.#locks.areReal };
  }

  /** The person's name as others see it: the server may put a mark in front. */
  get person() {
    return this.#person ?? this.#tab.person;
  }

  /**
   * The lists that are open.
   * @returns {readonly OpenList[]}
   */
  get lists() {
    return this.#lists;
  }

  /** @returns {Waiting} */
  get waiting() {
    const theirs = this.#tab.others;
    const others = theirs.reduce((sum, left) => sum + editsIn(left), 0);
    const count = countOf(this.#own) + others;
    const times = theirs.map(({ owner }) => owner.at ?? Date.now());
    const ownSince = this.#connectivity.waitingSince;
    if (ownSince !== undefined) times.push(ownSince);
    return { count, others, since: count > 0 && times.length > 0 ? Math.min(...times) : undefined };
  }

  /**
   * Who has edits on this device under other tokens, which only a client with that token sends.
   * @returns {{ person: string, token: string }[]}
   */
  get foreign() {
    return this.#tab.foreign;
  }

  /**
   * Why nothing of a list is sent any more, as things are; nothing if something may be.
   * @param {OpenList} list
   */
  obstacle({ subscription }) {
    return this.#tab.stopped || subscription.ended;
  }

  /**
   * What can never be sent: the list is gone, or one may not read it any more; or the device cannot read what it kept.
   * @returns {Stuck[]}
   */
  get stuck() {
    const { stopped, opened, others } = this.#tab;
    const hopeless = stopped === "notAuthenticated" ? stopped : "";
    const own = opened.flatMap(one => {
      const { name, subscription: { ended }, replica: { pending: { length: count } } } = one;
      const reason = hopeless || ended;
      if (!reason || count === 0) return [];
      const list = this.#listOf(one);
      return [{ name, count, reason, list, discard: () => this.forget(list) }];
    });
    const theirs = others.flatMap(left => {
      const reason = left.refused ?? hopeless;
      const discard = () => this.#run(this.#tab.discard(left.owner.client, this.#now()));
      const name = left.lists.map(({ name }) => name).join(", ");
      return reason ? [{ name, count: editsIn(left), reason, discard }] : [];
    });
    return [...own, ...theirs];
  }

  /**
   * How many edits of a list only this device has.
   * @param {string} name
   */
  waitingIn(name) {
    return countOf(this.#unsent.filter(one => one.name === name));
  }

  /** The names of the lists of which edits wait. */
  get waitingLists() {
    return this.#unsent.filter(({ edits }) => edits.length > 0).map(({ name }) => name);
  }

  /** What waits, as plain text: names of lists, and words; and the rows that nobody can read, as they are. */
  exportWaiting() {
    const all = this.#unsent;
    const names = [...new Set(all.map(({ name }) => name))];
    const parts = names.map(name => {
      const words = wordsOf(all.filter(one => one.name === name).flatMap(({ edits }) => edits));
      return words.length > 0 ? `${name}\n\n${words.join("\n")}\n` : "";
    });
    const raw = this.#tab.others.flatMap(({ lists, rows }) => (lists.length > 0 ? [] : rows.map(textOfRow)));
    return [...parts, ...raw].filter(part => part !== "").join("\n");
  }

  // What the view asks for

  /**
   * Follows a list. Opening it again gives the same.
   * @param {string} name
   */
  open(name) {
    const opened = this.#tab.open(name.normalize("NFC"), this.#now());
    this.#run(this.#tab.tick(this.#now()));
    return this.#listOf(opened);
  }

  /** Lists that have ended may be there again: somebody brings one back, or gives the person the right to read it. */
  revive() {
    this.#run(this.#tab.revive(this.#now()));
  }

  /** @param {OpenList} list at which nobody looks any more; it is followed until its edits are sent */
  leave(list) {
    this.#run(this.#tab.leave(list.opened, this.#now()));
  }

  /** @param {OpenList} list that is no longer followed; its edits that wait are forgotten */
  forget(list) {
    this.#run(this.#tab.forget(list.opened, this.#now()));
  }

  /**
   * The person edits, undoes or redoes. Throws what the action throws, and then nothing has happened.
   * @param {OpenList} list @param {(replica: Replica) => void} action
   */
  act(list, action) {
    this.#run(this.#tab.act(list.opened, action, this.#now()));
    if (!this.#hasAsked) void this.#persist();
  }

  /**
   * The newest commits of a list that were made on this device: their revisions, and what they are, if that is known.
   * @param {string} log
   * @returns {readonly OwnCommit[]}
   */
  ownCommits(log) {
    return this.settings.get(this.#ownKey(log)) ?? [];
  }

  /**
   * Where the person is.
   * @param {OpenList} list @param {Focus} focus
   */
  place(list, focus) {
    this.#run(this.#tab.place(list.opened, focus, this.#now()));
  }

  /**
   * Asks the server. A fetch is answered by several messages (state and chunks), everything else by one. While the
   * client connects, the question waits.
   * @param {Question} question
   * @returns {Promise<Down | Down[]>} rejected by a `RequestError`
   */
  request(question) {
    const answer = this.#requests.ask(question);
    const { state } = this.connection;
    if (state === "online") this.#sendRequests();
    else if (state !== "connecting") this.#requests.fail();
    return answer;
  }

  /**
   * @param {string} person another name
   */
  setPerson(person) {
    this.#person = undefined;
    this.#run(this.#tab.introduce(person, this.#now()));
    this.#connectivity.forgive();
    this.#judge();
  }

  /** @param {Client} heir who sends what is stored here, since the server does not take the token */
  bequeath(heir) {
    const [{ person }, { token = "" }] = [heir.#tab, heir.#options];
    this.#run(this.#tab.bequeath({ person, token }, this.#now()));
  }

  /** The person wants to be online now. */
  retry() {
    this.#connectivity.forgive();
    this.#wake();
  }

  // Private: the page

  /** The edits of this tab that are not committed, by list. */
  get #own() {
    return this.#tab.opened.map(({ name, replica }) => ({ name, edits: replica.pending }));
  }

  /** The edits that only this device has, of this tab and of others. */
  get #unsent() {
    return [...this.#own, ...this.#tab.others.flatMap(({ lists }) => lists)];
  }

  /** What the storage has may not be read at first: then nothing is written over it. */
  async #fill() {
    const values = await this.#store.settings();
    if (!values) return void setTimeout(() => this.#fill(), TIMEOUT);
    this.settings.fill(values);
    this.#change();
  }

  async #begin() {
    this.#store.onstate = () => this.#change();
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    addEventListener("pageshow", () => this.#wake());
    addEventListener("online", () => this.#wake());
    addEventListener("offline", () => this.#change());
    addEventListener("pagehide", () => this.#run(this.#tab.hidden(this.#now())));
    addEventListener("beforeunload", event => this.#hasUnkept && event.preventDefault());
    document.addEventListener("resume", () => this.#wake());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#run(this.#tab.hidden(this.#now()));
      else this.#wake();
    });
    const begun = new Promise(resolve => {
      this.#begun = () => resolve(undefined);
    });
    this.#run(this.#tab.begin(this.#now()));
    void navigator.storage?.persisted?.().then(is => this.#persisted(is), () => {});
    await begun;
    if (document.hidden) this.#run(this.#tab.hidden(this.#now()));
  }

  #wake() {
    if (document.hidden) return;
    this.#drift = Date.now() - performance.now();
    if (this.connection.state === "paused") this.#connectivity.forgive();
    this.#run(this.#tab.woke(this.#now()));
  }

  /** Whether edits are in memory, and nowhere else. */
  get #hasUnkept() {
    return this.#tab.opened.some(({ replica }) => replica.pending.some(({ isStored }) => !isStored));
  }

  async #persist() {
    if (this.#tab.opened.every(({ replica }) => replica.pending.length === 0)) return;
    this.#hasAsked = true;
    try {
      this.#persisted(await navigator.storage?.persist?.());
    } catch {
      this.#persisted(false);
    }
  }

  /** @param {boolean | undefined} is */
  #persisted(is) {
    this.#isPersisted = is;
    this.#change();
  }

  /** @param {any} message of another tab */
  #hear(message) {
    if (message?.type === "look") this.#run(this.#tab.announced(this.#now()));
    else if (message?.type === "setting") this.#hearSetting(message);
    else if (message?.type === "has" || message?.type === "who has") this.#locks.hear(message);
    this.#change();
  }

  /**
   * Another tab's setting. It may have a commit of its own just when this one has one: then both are known.
   * @param {{ key: string, value: any }} setting
   */
  #hearSetting({ key, value }) {
    if (!key.startsWith(OWN) || !value) return this.settings.hear(key, value);
    const known = new Map(this.settings.get(key));
    const steps = value.filter((/** @type {OwnCommit} */ [revision, step]) => step && !known.has(revision));
    for (const { replica } of steps.length > 0 ? this.#tab.opened : []) {
      if (key === this.#ownKey(replica.log)) replica.forgetSteps();
    }
    const isAll = newest([...known, ...value]).length <= value.length;
    if (isAll) this.settings.hear(key, value);
    else this.settings.change(key, (mine = []) => newest([...mine, ...value]));
  }

  // Private: the machine

  /** Milliseconds that never go back. */
  #now() {
    return performance.now();
  }

  /**
   * Does what is to be done, in this order, also if the view asks for more meanwhile.
   * @param {Effect[]} effects
   */
  #run(effects) {
    this.#effects.push(...effects);
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let effect = this.#effects.shift(); effect; effect = this.#effects.shift()) this.#do(effect);
    this.#isRunning = false;
    if (this.#tab.hasBegun) this.#begun();
    this.#judge();
    this.#setTimer();
    this.#change();
  }

  #setTimer() {
    const dueAt = Math.min(this.#tab.deadline, this.#connectivity.deadline);
    if (dueAt === this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    if (dueAt < Infinity) this.#timer = setTimeout(() => this.#ring(), Math.max(0, dueAt - this.#now()));
  }

  #ring() {
    const now = this.#now();
    const isLate = !document.hidden && now > this.#dueAt + SLEPT;
    const hasSlept = Math.abs(Date.now() - performance.now() - this.#drift) > SLEPT;
    this.#dueAt = Infinity;
    if (isLate || hasSlept) this.#wake();
    this.#run(this.#tab.tick(now));
  }

  /** @param {Effect} effect */
  #do(effect) {
    const tab = this.#tab;
    switch (effect.do) {
      case "look":
        return void this.#look();
      case "claim":
        return void this.#claim(effect);
      case "lock":
        return void this.#locks.take(effect.client).then(is => this.#run(tab.locked(effect.client, is, this.#now())));
      case "verify":
        return void this.#locks.verify(effect.client).then(is => this.#run(tab.locked(effect.client, is, this.#now())));
      case "unlock":
        return this.#locks.free(effect.client);
      case "write": {
        const { line, write, job } = effect;
        return this.#store.write(job, outcome => this.#run(tab.wrote(line, write, outcome, this.#now())));
      }
      case "forget":
        return void this.#store.forget(effect.client, effect.holder);
      case "leave":
        return void this.#leave(effect);
      case "announce":
        return this.#channel.postMessage({ type: "look" });
      case "copy":
        return void this.#copies.read(effect.name).then(copy => this.#run(tab.copied(effect.name, copy, this.#now())));
      case "keep":
        return void this.#copies.keep(effect.copy, effect.former);
      case "connect":
        return this.#connect(effect.line);
      case "send":
        return this.#links.send(effect.line, effect.bytes);
      case "close":
        return this.#close(effect.line);
      case "tell":
        return this.#hearOf(effect.list, effect.told);
      case "answer":
        if (effect.message.type === "granted") this.#person = effect.message.person;
        if (!this.#requests.hear(effect.message)) this.#tell(() => this.onmessage(effect.message));
    }
  }

  /**
   * What the view throws is its own affair.
   * @param {() => void} tell
   */
  #tell(tell) {
    try {
      tell();
    } catch (error) {
      reportError(error);
    }
  }

  /** @param {string} log */
  #ownKey(log) {
    return `${OWN}${log} ${this.#options.token ?? ""}`;
  }

  /** @param {Opened} opened @param {Told} told */
  #hearOf(opened, told) {
    this.#noteOwn(told);
    if (told.type === "ended") {
      if (GONE.includes(told.reason)) void this.#copies.drop(opened.name);
      // What waits of a list that nobody has opened is stuck, and not told again after each reload.
      if (told.reason === "editsWait" && !opened.isWanted) return;
    }
    this.#tell(() => this.ontold(this.#listOf(opened), told));
  }

  /** @param {Told} told */
  #noteOwn(told) {
    if (told.type !== "committed" || !told.own) return;
    const { log, edit } = told.own;
    this.settings.change(this.#ownKey(log), (known = []) => newest([...known, [told.revision, edit.step]]));
  }

  async #look() {
    // What the journals hold comes last, and so in one order with what is written to them.
    const copies = await this.#copies.heads();
    const found = await this.#store.look();
    this.#run(this.#tab.looked(found && { ...found, copies }, this.#now()));
  }

  /**
   * What journals there are is not what it was.
   * @param {Extract<Effect, { do: "leave" }>} effect
   */
  async #leave({ client, holder, heir }) {
    await (heir ? this.#store.claim(client, { ...heir, holder }) : this.#store.discard(client, holder));
    this.#channel.postMessage({ type: "look" });
    await this.#look();
  }

  /** @param {Extract<Effect, { do: "claim" }>} effect */
  async #claim({ client, owner }) {
    const rows = await this.#store.claim(client, { holder: owner.holder });
    const names = (rows ?? []).flatMap(({ row }) => (typeof row?.name === "string" ? [row.name] : []));
    const copies = await Promise.all(names.map(name => this.#copies.read(name)));
    const claimed = rows && { rows, copies: copies.flatMap(copy => copy ?? []) };
    this.#run(this.#tab.claimed(client, claimed, this.#now()));
  }

  /** @param {Opened} opened */
  #listOf(opened) {
    const known = this.#lists.find(list => list.opened === opened);
    if (known) return known;
    const list = new OpenList(opened, this.#tab);
    this.#lists = [...this.#lists.filter(({ opened }) => this.#tab.opened.includes(opened)), list];
    return list;
  }

  // Private: the network

  /** @param {number} line */
  #connect(line) {
    this.#close(line);
    this.#links.open(line);
    this.#ownLine = this.#tab.ownLine;
  }

  /** @param {number} line */
  #close(line) {
    const end = this.#links.close(line);
    if (end && line === this.#ownLine) this.#connectivity.ended(end);
  }

  #sendRequests() {
    const messages = this.#requests.take(() => this.#tab.nextRequest());
    for (const message of messages) this.#run(this.#tab.ask(message, this.#now()));
  }

  /** What the connection is to be called now. */
  #judge() {
    const former = this.#connectivity.judge(this.#tab, this.#now(), this.#drift);
    const { state } = this.connection;
    if (state === "online") this.#links.welcome(this.#ownLine);
    if (former === undefined) return;
    if (state === "online") this.#sendRequests();
    else if (former === "online" || state !== "connecting") this.#requests.fail();
  }

  #change() {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.onchange();
    });
  }
}

/** @param {{ edits: readonly unknown[] }[]} lists */
function countOf(lists) {
  return lists.reduce((sum, { edits }) => sum + edits.length, 0);
}

/** @param {readonly OwnCommit[]} commits the newest of them, each once */
function newest(commits) {
  return [...new Map(commits)].sort(([a], [b]) => a - b).slice(-MOST_OWN);
}

/** @param {{ rows: import('./heirs.js').Row[] }} journal the edits in it, whether they can be read or not */
function editsIn({ rows }) {
  return rows.filter(({ key: [, , number] }) => number > 0).length;
}

/** @param {import('./heirs.js').Row} row */
function textOfRow(row) {
  return JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? [...value] : value));
}

/** 128 bits as 32 hexadecimal digits, which nobody can guess. */
function draw() {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return [...words].map(word => word.toString(16).padStart(8, "0")).join("");
}
