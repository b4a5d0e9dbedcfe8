// One connection after the other to a server, for one client id: bytes and the time go in, effects come out. There is
// no clock, no chance, no socket and no storage in here: times are numbers of milliseconds, chance is an argument.

import { Malformed } from "./bytes.js";
import { FrameReader, Outbox, framed } from "./frames.js";
import { decodeDown, encodeUp, errorOf } from "./messages.js";
import { Backoff, LONGEST_ADVICE } from "./backoff.js";
import { NO_LOG, Replica, isSameList } from "./replica.js";
import { Subscription } from "./subscription.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./messages.js').Up} Up */
/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./replica.js').Told} Told */
/**
 * Who connects. The client id is 32 hexadecimal digits, drawn at random, and its secret.
 * @typedef {object} Identity
 * @property {string} client
 * @property {string} person
 * @property {string} program
 * @property {string} [token]
 * @property {number} [idle] how long it may be silent, in ms
 */
/**
 * What the program around has to do, in this order. `connect` makes a connection, and `connected` or `lost` answers it;
 * `open` says that the server has welcomed the client; `send` sends bytes; `close` closes the connection, and nothing
 * of it may be answered afterwards; `write` writes to the storage, and `stored` answers it; `tell` is about a list;
 * `answer` is a message that the program may have asked for; `stop` says that no connection helps; `draw` asks for
 * another client id, which `take` answers.
 * @typedef {{ do: "connect" } | { do: "open" } | { do: "send", bytes: Uint8Array } | { do: "close" } | { do: "write",
 *   write: number, changes: unknown } | { do: "tell", list: Subscription, told: Told } | { do: "answer", message: Down
 *   } | { do: "stop", reason: string } | { do: "draw" }} Effect
 */
/** @typedef {{ subscription: Subscription, replica: Replica, number: number }} Followed a list that is followed */
/**
 * What is to be written to the storage, if anything has changed.
 * @typedef {(lists: readonly Followed[]) => unknown} Keep
 */

const VERSION = 5;
/** Why a list is held: it is followed already. */
const TWIN = "twin";
const WELCOME_DEADLINE = 10_000;
/** How long an answer to a probe may take. */
const PROBE_DEADLINE = 2500;
/** After a sleep, a connection that has been tried for longer is tried anew. */
const FRESH = 3000;
/** All tabs of a device come back at once: each waits for a part of this. */
const SPREAD = 300;

export class Session {
  #identity;
  #keep;
  /** @type {Effect[]} */
  #effects = [];
  /** @type {Followed[]} */
  #lists = [];
  #requests = 0;
  #numbers = 0;
  #isDrawing = false;
  #backoff = new Backoff();
  #outbox;

  // Of the connection

  /** @type {"waiting" | "connecting" | "greeting" | "open" | "paused" | "stopped"} */
  #state = "waiting";
  #frames = new FrameReader();
  #retryAt = 0;
  #greetBy = Infinity;
  #probeBy = Infinity;
  #advisedUntil = 0;
  #idle = Infinity;
  #longestFrame = 0;
  #sentAt = 0;
  #receivedAt = 0;
  #author = 0;
  #now = 0;
  #chance = 0;

  /**
   * It connects at once.
   * @param {Identity} identity @param {Keep} [keep] without it, nothing is written
   */
  constructor(identity, keep) {
    this.#identity = identity;
    this.#keep = keep;
    this.#outbox = new Outbox(bytes => this.#effects.push({ do: "send", bytes }));
  }

  /** Whether the server has welcomed the client. */
  get isOpen() {
    return this.#state === "open";
  }

  /** The time of the last event. */
  get now() {
    return this.#now;
  }

  /** What the connection is doing. */
  get state() {
    return this.#state;
  }

  get client() {
    return this.#identity.client;
  }

  /**
   * The edits of all lists that are not committed.
   * @returns {Edit[]}
   */
  get pending() {
    return this.#lists.flatMap(({ replica }) => replica.pending);
  }

  /** When `tick` is due, in ms. */
  get deadline() {
    if (this.#state === "stopped" || this.#state === "paused") return Infinity;
    if (this.#state === "waiting") return this.#retryAt;
    if (this.#state !== "open") return this.#greetBy;
    return Math.min(this.#sentAt + this.#idle / 3, this.#receivedAt + this.#idle, this.#probeBy);
  }

  // What the program around asks for. Each of these gives what is to be done now.

  /**
   * Follows a list.
   * @param {string} name in NFC @param {Replica} [replica] what is known of it
   * @param {number} [number] its number in the journal
   * @returns {Subscription}
   */
  follow(name, replica, number = this.#numbers) {
    /** @param {Told} what */
    const told = what => void this.#effects.push({ do: "tell", list: subscription, told: what });
    const known = replica ?? new Replica();
    known.listen(told);
    const subscription = new Subscription(name, known, {
      send: message => this.#send(message),
      nextRequest: () => ++this.#requests,
      longestFrame: () => this.#longestFrame,
      giveUp: () => this.#giveUp(0),
      tell: told,
    });
    this.#numbers = Math.max(this.#numbers, number + 1);
    this.#lists.push({ subscription, replica: known, number });
    if (this.isOpen) subscription.welcome(this.#author);
    return subscription;
  }

  /**
   * A list is no longer followed, and what of it is pending is forgotten.
   * @param {Subscription} list @param {number} now
   */
  unfollow(list, now) {
    this.#now = now;
    list.leave();
    this.#lists = this.#lists.filter(({ subscription }) => subscription !== list);
    return this.#finish();
  }

  /** @param {Subscription} list */
  replica(list) {
    const followed = this.#lists.find(({ subscription }) => subscription === list);
    if (!followed) throw new RangeError("the list is not followed");
    return followed.replica;
  }

  /**
   * The person changes what is pending: edits, undo, redo.
   * @param {Subscription} list @param {(replica: Replica) => void} action @param {number} now
   */
  act(list, action, now) {
    this.#now = now;
    action(this.replica(list));
    list.submit();
    return this.#finish();
  }

  /**
   * Asks the server for something; `answer` brings what it says.
   * @param {Up} message @param {number} now
   */
  ask(message, now) {
    this.#now = now;
    if (this.isOpen) this.#send(message);
    return this.#finish();
  }

  /** A number for a request. */
  nextRequest() {
    return ++this.#requests;
  }

  /**
   * Where the person is.
   * @param {Subscription} list @param {Focus} focus @param {number} now
   */
  place(list, focus, now) {
    this.#now = now;
    list.people.place(focus);
    return this.#finish();
  }

  /** Lists that have ended may be there again. */
  revive() {
    for (const { subscription } of this.#lists) subscription.revive();
    return this.#finish();
  }

  /** What has been asked for otherwise, of a subscription, is done now. */
  flush() {
    return this.#finish();
  }

  // What happens

  /**
   * There is a connection.
   * @param {number} now
   */
  connected(now) {
    this.#now = this.#sentAt = this.#receivedAt = now;
    this.#frames = new FrameReader();
    this.#state = "greeting";
    this.#greetBy = now + WELCOME_DEADLINE;
    const { client, person, program, token = "", idle = 0 } = this.#identity;
    const versions = { lowestVersion: VERSION, highestVersion: VERSION, capabilities: 0 };
    this.#send({ type: "hello", magic: "HAND", ...versions, client, person, program, token, idle });
    return this.#finish();
  }

  /**
   * The connection is lost, or could not be made.
   * @param {number} now @param {number} chance from 0 to 1
   */
  lost(now, chance) {
    this.#now = now;
    this.#chance = chance;
    if (this.#isTrying) this.#wait(0);
    return this.#finish();
  }

  /**
   * The page is shown, or the network is back, or the device has slept: what was taken for a connection may be none,
   * and there is no reason to wait.
   * @param {number} now @param {number} chance from 0 to 1
   */
  retry(now, chance) {
    this.#now = now;
    this.#chance = chance;
    const soon = Math.max(now + chance * SPREAD, this.#advisedUntil);
    if (this.#state === "open") {
      this.#probeBy = Math.min(this.#probeBy, now + PROBE_DEADLINE);
      this.#ping();
    } else if (this.#isTrying && now > this.#greetBy - WELCOME_DEADLINE + FRESH) {
      this.#giveUp(0);
    }
    if ((this.#state === "paused" || this.#state === "waiting") && !this.#isDrawing) {
      this.#state = "waiting";
      this.#retryAt = Math.min(this.#retryAt, soon);
    }
    return this.#finish();
  }

  /**
   * No connection is wanted until `retry`.
   * @param {number} now
   */
  pause(now) {
    this.#now = now;
    this.#giveUp(0);
    if (this.#state === "waiting") this.#state = "paused";
    this.#retryAt = Infinity;
    return this.#finish();
  }

  /**
   * The person has another name or another token, which the next connection says.
   * @param {string} person @param {string | undefined} token @param {number} now @param {number} chance from 0 to 1
   */
  introduce(person, token, now, chance) {
    this.#now = now;
    this.#identity = { ...this.#identity, person, token };
    this.#giveUp(0);
    this.#state = "waiting";
    this.#retryAt = Math.max(now + chance * SPREAD, this.#advisedUntil);
    return this.#finish();
  }

  /**
   * Bytes have arrived.
   * @param {Uint8Array} bytes nobody may write to them later @param {number} now @param {number} chance from 0 to 1
   */
  received(bytes, now, chance) {
    this.#now = now;
    this.#chance = chance;
    this.#receivedAt = now;
    this.#probeBy = Infinity;
    if (!this.#isConnected) return this.#finish();
    try {
      // Whatever a message makes of the connection, what follows it may be in the same bytes.
      this.#frames.read(bytes, body => {
        if (this.#isConnected) this.#handle(decodeDown(body));
      });
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.#misunderstand();
    }
    return this.#finish();
  }

  /**
   * The deadline is reached.
   * @param {number} now @param {number} chance from 0 to 1
   */
  tick(now, chance) {
    this.#now = now;
    this.#chance = chance;
    if (now < this.deadline) return this.#finish();
    if (this.#state === "waiting") {
      this.#state = "connecting";
      this.#greetBy = now + WELCOME_DEADLINE;
      this.#effects.push({ do: "connect" });
    } else if (this.#state === "open" && now < this.#receivedAt + this.#idle && now < this.#probeBy) {
      this.#ping();
    } else if (this.#state !== "stopped") {
      this.#giveUp(0);
    }
    return this.#finish();
  }

  /**
   * A write has reached the storage, and all writes before it.
   * @param {number} write
   */
  stored(write) {
    this.#outbox.stored(write);
    return this.#finish();
  }

  /**
   * Another client id, freshly drawn.
   * @param {string} client @param {number} now
   */
  take(client, now) {
    this.#now = now;
    this.#identity = { ...this.#identity, client };
    this.#isDrawing = false;
    for (const { replica } of this.#lists) replica.startAgain();
    if (this.#isConnected) this.#effects.push({ do: "close" });
    this.#disconnect();
    this.#state = "waiting";
    this.#retryAt = now;
    return this.#finish();
  }

  // Private

  /** Whether nothing is in flight. */
  get #isFree() {
    return this.#lists.every(({ replica }) => !replica.inFlight);
  }

  get #isConnected() {
    return this.#state === "greeting" || this.#state === "open";
  }

  get #isTrying() {
    return this.#isConnected || this.#state === "connecting";
  }

  /** @param {Down} message */
  #handle(message) {
    if (message.type === "error") return this.#error(message);
    if (message.type === "welcome" ? this.#state !== "greeting" : this.#state !== "open") {
      throw new Malformed("a message that may not come now");
    }
    switch (message.type) {
      case "welcome":
        return this.#welcome(message);
      case "pong":
        return;
      case "granted":
        this.#effects.push({ do: "answer", message });
        for (const { subscription } of this.#lists) subscription.revive();
        return;
      case "subscribed":
      case "chunk":
      case "renamed":
        this.#effects.push({ do: "answer", message });
        return this.#hear(message);
      case "commit":
      case "rejected":
      case "stale":
      case "acknowledged":
      case "presence":
        return this.#hear(message);
      default:
        this.#effects.push({ do: "answer", message });
    }
  }

  /** @param {Down} message about a list */
  #hear(message) {
    for (const { subscription } of this.#lists) subscription.hear(message);
  }

  /** @param {Extract<Down, { type: "welcome" }>} message */
  #welcome({ version, author, idleDeadline, frameBytes }) {
    if (version !== VERSION) return this.#stop("versionNotSupported");
    this.#state = "open";
    this.#backoff.welcomed(this.#now);
    this.#idle = idleDeadline;
    this.#longestFrame = frameBytes;
    this.#frames.accept(frameBytes);
    this.#author = author;
    this.#effects.push({ do: "open" });
    for (const { subscription } of this.#lists) subscription.welcome(author);
  }

  /** @param {Extract<Down, { type: "error" }>} message */
  #error(message) {
    const { name, closes, retries } = errorOf(message.code);
    if (!closes) {
      this.#hear(message);
      this.#effects.push({ do: "answer", message });
    } else if (!retries) {
      this.#stop(name);
    } else if (name === "replaced" && this.#backoff.isReplacedTooOften(this.#now)) {
      this.#yield(name);
    } else {
      this.#giveUp(message.retryAfter);
    }
  }

  /**
   * Another program has the client id: the session takes another one, unless that could make an edit twice.
   * @param {string} reason
   */
  #yield(reason) {
    if (!this.#isFree) return this.#stop(reason);
    this.#giveUp(0);
    this.#retryAt = Infinity;
    this.#draw();
  }

  /** Asks for another client id, once. */
  #draw() {
    if (!this.#isDrawing) this.#effects.push({ do: "draw" });
    this.#isDrawing = true;
  }

  /** Bytes that nobody understands are a fault that no connection mends. */
  #misunderstand() {
    if (this.#backoff.isMisunderstoodTooOften(this.#now)) this.#stop("malformedMessage");
    else this.#giveUp(0);
  }

  #ping() {
    this.#sentAt = this.#now;
    this.#outbox.overtake(framed(encodeUp({ type: "ping", nonce: 0 })));
  }

  /** @param {Up} message */
  #send(message) {
    this.#sentAt = this.#now;
    this.#outbox.send(framed(encodeUp(message)));
  }

  /** @param {number} retryAfter */
  #giveUp(retryAfter) {
    if (!this.#isTrying) return;
    this.#effects.push({ do: "close" });
    for (const { subscription } of this.#lists) {
      this.#effects.push({ do: "tell", list: subscription, told: { type: "disconnected" } });
    }
    this.#wait(retryAfter);
  }

  /** @param {number} retryAfter */
  #wait(retryAfter) {
    this.#disconnect();
    this.#state = "waiting";
    this.#retryAt = this.#now + this.#backoff.wait(this.#now, this.#chance, retryAfter);
    this.#advisedUntil = this.#now + Math.min(retryAfter, LONGEST_ADVICE);
  }

  /** @param {string} reason */
  #stop(reason) {
    this.#effects.push({ do: "close" }, { do: "stop", reason });
    this.#disconnect();
    this.#state = "stopped";
  }

  #disconnect() {
    this.#probeBy = Infinity;
    this.#outbox.clear();
    for (const { subscription } of this.#lists) subscription.lost();
  }

  /**
   * Of two that are one list, opened under its former name and under the present one, one is followed at a time, first
   * whichever has edits: all edits that a client sends to a list are one sequence.
   */
  #arrange() {
    const all = [...this.#lists].sort((a, b) => rankOf(b) - rankOf(a));
    for (const [i, { subscription, replica: { log } }] of all.entries()) {
      const isTwin = all.slice(0, i).some(({ subscription, replica }) =>
        log !== NO_LOG && isSameList(log, replica.log) && !subscription.isHeld && !subscription.hasEnded);
      if (isTwin) subscription.hold(TWIN);
      else subscription.release(TWIN);
    }
  }

  /** What is to be done: first the writes, then what waits for nothing. */
  #finish() {
    this.#arrange();
    const changes = this.#keep?.(this.#lists);
    if (changes) {
      const write = this.#outbox.begin();
      this.#effects.push({ do: "write", write, changes });
    }
    this.#outbox.flush();
    const isShared = this.#lists.some(({ replica }) => replica.isShared);
    if (this.#isConnected && isShared && this.#isFree) this.#draw();
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

/** @param {Followed} followed the higher, the sooner it is its turn */
function rankOf({ subscription, replica }) {
  return (replica.inFlight ? 4 : 0) + (replica.pending.length > 0 ? 2 : 0) + (subscription.isHeld ? 0 : 1);
}
