// A list that is followed on a connection: which messages go out and what those that arrive mean for the replica.
// Section 5 of the protocol's page, handler by handler.

import { ERRORS, REASONS, encodeUp } from "./messages.js";
import { List } from "./list.js";
import { People } from "./people.js";
import { NO_LOG, hasHistory, isSameList, withoutHistory } from "./replica.js";

/** @typedef {import('./codec.js').Commit} Commit */
/** @typedef {import('./codec.js').Rules} Rules */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./messages.js').Up} Up */
/**
 * @template {import('./messages.js').Down["type"]} T
 * @typedef {Extract<import('./messages.js').Down, { type: T }>} Down
 */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./replica.js').Told} Told */
/**
 * What a subscription asks of its connection.
 * @typedef {object} Port
 * @property {(message: Up) => void} send
 * @property {() => number} nextRequest a number that no request of the connection has
 * @property {() => number} longestFrame that the server accepts
 * @property {() => void} giveUp closes the connection, to make another one later
 * @property {(told: Told) => void} tell
 */
/**
 * A snapshot that arrives.
 * @typedef {{ start: { revision: number, count: number, digest: string }, log: string, last: number, isLastRefused:
 *   boolean, items: Item[] }} Incoming
 */

export class Subscription {
  #name;
  #replica;
  #port;
  #author = 0;
  #hasDiverged = false;
  /** Why it has ended, if it has. */
  #ended = "";
  #isReplaced = false;
  /**
   * What it waits for.
   * @type {Set<string>}
   */
  #holds = new Set();
  /** @type {Rules | undefined} */
  #rules;
  /** @type {People} */
  #people;

  // Of the connection

  #isWelcome = false;
  /** @type {number | undefined} */
  #request;
  /** @type {number | undefined} */
  #list;
  #byLog = false;
  #awaitsName = false;
  #isLive = false;
  /**
   * The revision to reach before anything is sent.
   * @type {number | undefined}
   */
  #head;
  #last = 0;
  /** @type {Incoming | undefined} */
  #incoming;
  /**
   * The sequence of the unanswered submission, and its base.
   * @type {number | undefined}
   */
  #sent;
  #base = 0;

  /** @param {string} name of the list, in NFC @param {Replica} replica @param {Port} port */
  constructor(name, replica, port) {
    this.#name = name;
    this.#replica = replica;
    this.#port = port;
    this.#people = new People(focus => {
      if (this.#list !== undefined) port.send({ type: "presence", list: this.#list, focus });
    });
  }

  get name() {
    return this.#name;
  }

  get rules() {
    return this.#rules;
  }

  get author() {
    return this.#author;
  }

  /** Whether the list is as the server has it, and edits go out at once. */
  get isLive() {
    return this.#isLive;
  }

  /** Whether only a snapshot helps. */
  get hasDiverged() {
    return this.#hasDiverged;
  }

  /** Whether there is no such list for the person any more. It is asked for again on each connection. */
  get hasEnded() {
    return this.#ended !== "";
  }

  /** Why it has ended, if it has: an error of the protocol, or `editsWait`. */
  get ended() {
    return this.#ended;
  }

  /** Whether another list has the name now. */
  get isReplaced() {
    return this.#isReplaced;
  }

  /** Who is here, and where one's own person is. */
  get people() {
    return this.#people;
  }

  // The connection

  /**
   * There is a connection, and the server has welcomed the client as this author.
   * @param {number} author
   */
  welcome(author) {
    this.#author = author;
    this.#isWelcome = true;
    if (!this.isHeld) this.#subscribe(false);
  }

  /** The list may be back, or the person may read it again. */
  revive() {
    if (this.hasEnded && this.#isWelcome && this.#request === undefined && !this.isHeld) this.#subscribe(false);
  }

  /**
   * Follows nothing before it is released.
   * @param {string} why
   */
  hold(why) {
    if (!this.#holds.has(why)) this.lost(this.#isWelcome);
    this.#holds.add(why);
  }

  /** @param {string} why */
  release(why) {
    if (this.#holds.delete(why) && !this.isHeld && this.#isWelcome) this.#subscribe(false);
  }

  get isHeld() {
    return this.#holds.size > 0;
  }

  /** @param {boolean} [isWelcome] whether there is a connection still */
  lost(isWelcome = false) {
    this.#list = this.#request = this.#sent = this.#head = this.#incoming = undefined;
    this.#isLive = this.#byLog = this.#awaitsName = false;
    this.#isWelcome = isWelcome;
    this.#people.forget();
  }

  /** The person follows the list no longer. */
  leave() {
    if (this.#list !== undefined) this.#port.send({ type: "unsubscribe", list: this.#list });
    this.lost();
    this.#ended = "left";
  }

  /** Sends what waits, if anything may be sent now. */
  submit() {
    if (this.#isLive && this.#replica.launch()) this.#sendInFlight();
  }

  // What arrives

  /** @param {import('./messages.js').Down} message */
  hear(message) {
    switch (message.type) {
      case "subscribed":
        return this.subscribed(message);
      case "chunk":
        return this.chunk(message);
      case "commit":
        return this.commit(message);
      case "rejected":
        return this.rejected(message);
      case "stale":
        return this.stale(message);
      case "acknowledged":
        return this.acknowledged(message);
      case "renamed":
        return this.renamed(message);
      case "presence":
        return this.presence(message);
      case "error":
        return this.error(message);
    }
  }

  /** @param {Down<"subscribed">} message */
  subscribed(message) {
    if (message.request !== this.#request) return;
    const { list, logID, start } = message;
    const replica = this.#replica;
    if (replica.pending.length > 0 && replica.log !== NO_LOG && !isSameList(logID, replica.log)) {
      this.#isReplaced = true;
      this.#port.send({ type: "unsubscribe", list });
      this.#list = this.#sent = undefined;
      return this.#subscribe(true);
    }
    if (list !== this.#list) this.#sent = undefined;
    this.#list = list;
    this.#ended = "";
    this.#last = message.lastSequence;
    this.#rules = message.rules;
    this.#awaitsName = this.#byLog;
    this.#byLog = this.#isLive = false;
    this.#people.meet();
    if ("resumed" in start) this.#resume(start.resumed);
    else if ("snapshot" in start) this.#await(message, start.snapshot);
    else this.#port.giveUp();
  }

  /** @param {Down<"chunk">} message */
  chunk({ request, items }) {
    const incoming = this.#incoming;
    if (!incoming || request !== this.#request) return;
    for (const item of items) incoming.items.push(item);
    if (incoming.items.length < incoming.start.count) return;
    const list = List.of(incoming.items);
    const { revision, count, digest } = incoming.start;
    if (list.count > count || list.digest !== digest) return this.#port.giveUp();
    const { log, last, isLastRefused } = incoming;
    this.#head = revision;
    this.#incoming = undefined;
    this.#hasDiverged = false;
    const { confirmed, log: former, revision: reached } = this.#replica;
    this.#replica.restart({ items: list, revision, log, last, isLastRefused }, this.#author);
    if (isSameList(log, former) && (log !== former ? hasHistory(former) : revision < reached)) {
      const gone = [...confirmed].filter(({ id }) => list.indexOf(id) < 0);
      this.#port.tell({ type: "restored", gone });
    }
    this.#catchUp();
  }

  /** @param {Down<"commit">} message */
  commit({ list, commit }) {
    const replica = this.#replica;
    if (list !== this.#list || this.#incoming || this.#hasDiverged || commit.revision <= replica.revision) return;
    if (commit.revision > replica.revision + 1) return this.#diverge(commit.revision);
    if (!this.#isLive && replica.recognize(commit, this.#author)) return this.#diverge();
    const isAnswer = replica.isAnswer(commit, this.#author);
    const isOthers = isAnswer && replica.isOthers(commit);
    // Only a snapshot shows the outcome.
    if (isOthers && replica.inFlight?.crossed) return this.#diverge();
    const after = replica.after(commit);
    if (!after) return this.#diverge(commit.revision);
    if (isAnswer && commit.refused) replica.refuse(commit, after);
    else if (isAnswer && !isOthers) replica.acknowledge(commit, after);
    else replica.follow(commit, after, this.#author);
    if (isOthers) this.#usedTwice(commit);
    else if (this.#isLive) this.submit();
    else this.#catchUp();
  }

  /** @param {Down<"rejected">} message */
  rejected({ list, sequence, rejection }) {
    const edit = this.#replica.inFlight;
    if (list !== this.#list || !edit || sequence !== edit.sequence) return;
    this.#replica.takeBack(edit, this.#replica.confirmed, rejection, this.#author);
    this.submit();
  }

  /** @param {Down<"stale">} message */
  stale({ list, sequence, head }) {
    if (list !== this.#list || sequence !== this.#replica.inFlight?.sequence) return;
    if (this.#sent !== undefined && head <= this.#base) return this.#port.giveUp();
    this.#sent = undefined;
    if (this.#head !== undefined) {
      this.#isLive = false;
      this.#head = head;
    }
    this.#catchUp();
  }

  /** @param {Down<"acknowledged">} message */
  acknowledged({ list, sequence, revision }) {
    const { inFlight, revision: known } = this.#replica;
    if (list !== this.#list || sequence !== inFlight?.sequence || revision > known) return;
    this.#sent = undefined;
    if (revision === 0) this.#subscribe(false);
    else this.#resubmit(sequence);
  }

  /** @param {Down<"renamed">} message */
  renamed({ list, name }) {
    if (list !== this.#list) return;
    const isAsked = this.#head === undefined && !this.#incoming && !this.#byLog;
    if (name !== this.#name) {
      const former = this.#name;
      this.#name = name;
      this.#isReplaced = false;
      this.#port.tell({ type: "renamed", name, former });
      if (isAsked) this.#subscribe(false);
    }
    this.#awaitsName = false;
    this.#catchUp();
  }

  /**
   * An error that leaves the connection open.
   * @param {Down<"error">} message
   */
  error({ code, request, list }) {
    const name = ERRORS[code];
    if (name === "notSubscribed") {
      if (list !== this.#list || list === 0) return;
      this.#list = this.#sent = undefined;
      this.#subscribe(false);
    } else if (request === this.#request && name === "noSuchList" && this.#replica.log !== NO_LOG && !this.#byLog) {
      this.#subscribe(true);
    } else if (request === this.#request) {
      const isWaited = name === "noSuchList" && this.#replica.pending.length > 0;
      // A deleted list is asked for again, as it may come back: until then, it is still the deleted one.
      const isDeleted = name === "noSuchList" && this.#ended === "listDeleted";
      this.#end(isWaited ? "editsWait" : isDeleted ? "listDeleted" : name);
    }
  }

  /** @param {Down<"presence">} message */
  presence({ list, entries }) {
    if (list === this.#list) this.#people.hear(entries);
  }

  // Private

  /** @param {boolean} byLog whether the list is asked for by its log id */
  #subscribe(byLog) {
    const request = this.#port.nextRequest();
    this.#request = request;
    this.#byLog = byLog;
    this.#isLive = false;
    this.#people.forget();
    this.#head = this.#incoming = undefined;
    const { log, revision } = this.#replica;
    const name = byLog ? "" : this.#name;
    const known = this.#hasDiverged ? { logID: withoutHistory(log), revision: 0 } : { logID: log, revision };
    this.#port.send({ type: "subscribe", request, name, ...known, wants: 3 });
  }

  /** @param {{ head: number, digest: string }} resumed */
  #resume({ head, digest }) {
    this.#incoming = undefined;
    this.#head = head;
    if (head === this.#replica.revision && digest !== this.#replica.confirmed.digest) this.#diverge(head);
    else this.#catchUp();
  }

  /** @param {Down<"subscribed">} message @param {Incoming["start"]} start */
  #await({ request, logID, lastSequence, isLastRefused }, start) {
    this.#incoming = { start, log: logID, last: lastSequence, isLastRefused, items: [] };
    if (start.count === 0) this.chunk({ type: "chunk", request, items: [] });
  }

  #catchUp() {
    if (this.#isLive || this.#head === undefined || this.#incoming || this.#hasDiverged) return;
    if (this.#replica.revision < this.#head || this.#awaitsName) return;
    this.#isLive = true;
    this.#replica.renumber(this.#last);
    const edit = this.#replica.inFlight;
    if (edit && this.#sent !== edit.sequence) this.#sendInFlight();
    else this.submit();
  }

  #sendInFlight() {
    const edit = this.#replica.inFlight;
    if (edit?.sequence === undefined || this.#list === undefined) return;
    const { revision } = this.#replica;
    const { sequence, exact, seen, delta } = edit;
    this.#sent = sequence;
    edit.sender = this.#author;
    this.#base = exact ?? revision;
    const how = exact !== undefined ? 1 : seen < revision ? 1 + revision - seen : 0;
    /** @type {Up} */
    const submission = { type: "submit", list: this.#list, base: this.#base, sequence, how, delta };
    const size = encodeUp(submission).length;
    if (size <= this.#port.longestFrame()) return this.#port.send(submission);
    // The server would close the connection, and each later one.
    const tooLarge = { reason: REASONS.indexOf("itemTooLarge"), first: size, second: this.#port.longestFrame() };
    this.#replica.takeBack(edit, this.#replica.confirmed, tooLarge, this.#author);
    this.submit();
  }

  /** @param {Commit} commit under one's own sequence, of another program */
  #usedTwice({ revision, sequence }) {
    this.#port.tell({ type: "usedTwice", revision });
    this.#resubmit(sequence);
  }

  /** @param {number} last a sequence that another program has used */
  #resubmit(last) {
    this.#replica.share();
    if (this.#hasDiverged) return;
    this.#replica.renumber(last);
    if (this.#isLive) this.#sendInFlight();
  }

  /** @param {number} [revision] people are not told without it */
  #diverge(revision) {
    this.#hasDiverged = true;
    if (revision !== undefined) this.#port.tell({ type: "diverged", revision });
    this.#subscribe(false);
  }

  /** @param {string} reason */
  #end(reason) {
    const isNews = this.#ended !== reason;
    this.lost(this.#isWelcome);
    this.#ended = reason;
    if (isNews) this.#port.tell({ type: "ended", reason });
  }
}
