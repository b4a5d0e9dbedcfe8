// What tabs that have ended have left: their journals are sent one after the other, each under its own client id, on a
// connection of its own. One that cannot be sent stays as it is, and keeps none of the others waiting.

import { Adoption } from "./adoption.js";
import { readJournals } from "./journal.js";
import { Line } from "./line.js";

/** @typedef {import('./journal.js').Key} Key */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./session.js').Effect} Effect */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/** @typedef {{ name: string, log: string, revision: number, items: List }} Copy a list that the storage has */
/** @typedef {{ key: Key, row: any }} Row */
/** @typedef {{ rows: Row[], copies: Copy[] }} Claimed rows of one client id, and copies of the lists they are about */
/**
 * What the heirs ask of their tab.
 * @typedef {object} Port
 * @property {(kept: readonly Kept[], owner: Owner) => Line} line a line to the server
 * @property {(line: Line, effects: Effect[]) => void} run
 * @property {(request: { do: "lock" | "unlock" | "claim" | "forget", client: string }) => void} push
 */
/** @typedef {{ kept: Kept, adoption: Adoption }} Open a list whose edits are not pending yet */

/** A journal that makes no progress for so long has to wait for its next turn. */
const PATIENCE = 60_000;

export class Heirs {
  #port;
  /** @type {Owner[]} */
  #queue = [];
  /**
   * Why a journal cannot be sent.
   * @type {Map<string, string>}
   */
  #refused = new Map();

  // Of the journal whose turn it is

  /** @type {Owner | undefined} */
  #owner;
  /** @type {Line | undefined} */
  #line;
  /** @type {Open[]} */
  #open = [];
  /** @type {Subscription[]} */
  #followed = [];
  /** @type {string | undefined} */
  #failure;
  #until = Infinity;

  /** @param {Port} port */
  constructor(port) {
    this.#port = port;
  }

  get line() {
    return this.#line;
  }

  get deadline() {
    return Math.min(this.#until, this.#line?.session.deadline ?? Infinity);
  }

  /** @param {string} client whether its journal stays, and is not tried again */
  hasRefused(client) {
    return this.#refused.has(client);
  }

  /**
   * Journals that may belong to nobody. Their order is kept.
   * @param {Owner[]} owners @param {number} now
   */
  find(owners, now) {
    this.#queue = owners.filter(({ client }) => client !== this.#owner?.client && !this.#refused.has(client));
    this.#next(now);
  }

  /** Nothing more is sent. */
  stop() {
    this.#queue = [];
    this.#end(0);
  }

  /** @param {string} client @param {boolean} isHeld @param {number} now */
  locked(client, isHeld, now) {
    if (client !== this.#owner?.client || this.#line) return;
    if (isHeld) return this.#port.push({ do: "claim", client });
    this.#owner = undefined;
    this.#next(now);
  }

  /** @param {string} client @param {Claimed | undefined} claimed @param {number} now */
  claimed(client, claimed, now) {
    const owner = this.#owner;
    if (!owner || client !== owner.client || this.#line) return;
    if (!claimed) return this.#end(now);
    if (claimed.rows.length === 0) return this.#finish(now);
    const [journal] = readJournals(claimed.rows);
    if ("refused" in journal) {
      this.#failure = journal.refused;
      return this.#finish(now);
    }
    const line = this.#port.line(journal.lists, owner);
    const nextRequest = () => line.session.nextRequest();
    this.#line = line;
    this.#open = journal.lists.map(kept => {
      const copy = claimed.copies.find(({ log, revision }) => log === kept.log && revision === kept.revision);
      return { kept, adoption: new Adoption(kept, nextRequest, copy?.items) };
    });
    this.#port.run(line, line.session.tick(now, 0));
  }

  /** The server has welcomed the line. */
  opened() {
    for (const one of [...this.#open]) this.#step(one, one.adoption.begin());
  }

  /** @param {Down} message */
  answer(message) {
    for (const one of [...this.#open]) this.#step(one, one.adoption.answer(message));
  }

  /**
   * The line has heard something.
   * @param {number} now
   */
  heard(now) {
    this.#until = now + PATIENCE;
  }

  /**
   * The line cannot go on.
   * @param {string} reason @param {number} now
   */
  fail(reason, now) {
    this.#failure = reason;
    this.#finish(now);
  }

  /**
   * Somebody else has the journal.
   * @param {number} now
   */
  taken(now) {
    this.#end(now);
  }

  /** @param {number} now */
  tick(now) {
    if (now >= this.#until) this.#end(now);
    else if (this.#line) this.#port.run(this.#line, this.#line.session.tick(now, 0.5));
  }

  /**
   * After each event: is everything sent?
   * @param {number} now
   */
  settle(now) {
    const line = this.#line;
    if (!line || this.#open.length > 0) return;
    const waiting = this.#followed.filter(one => !one.hasEnded && !(one.isLive && isSent(line, one)));
    if (waiting.length > 0 || !line.isQuiet) return;
    if (this.#followed.some(one => !isSent(line, one))) this.#failure ??= "editsWait";
    this.#finish(now);
  }

  /** @param {number} now */
  #next(now) {
    if (this.#owner) return;
    this.#owner = this.#queue.shift();
    if (!this.#owner) return;
    this.#until = now + PATIENCE;
    this.#port.push({ do: "lock", client: this.#owner.client });
  }

  /** @param {Open} one @param {import('./adoption.js').Step} step */
  #step(one, step) {
    const { session } = /** @type {Line} */ (this.#line);
    const { now } = session;
    if (step?.do === "ask") {
      for (const message of step.messages) this.#port.run(/** @type {Line} */ (this.#line), session.ask(message, now));
    } else if (step) {
      this.#open = this.#open.filter(other => other !== one);
      if (step.do === "fail") this.#failure = step.reason;
      else this.#followed.push(session.follow(step.name, step.replica, one.kept.list));
      this.#port.run(/** @type {Line} */ (this.#line), session.tick(now, 0));
    }
  }

  /**
   * All is sent, or cannot be.
   * @param {number} now
   */
  #finish(now) {
    if (this.#owner && this.#failure) this.#refused.set(this.#owner.client, this.#failure);
    else if (this.#owner) this.#port.push({ do: "forget", client: this.#owner.client });
    this.#end(now);
  }

  /** @param {number} now */
  #end(now) {
    const [owner, line] = [this.#owner, this.#line];
    this.#owner = this.#line = this.#failure = undefined;
    this.#open = [];
    this.#followed = [];
    this.#until = Infinity;
    if (line) this.#port.run(line, line.session.pause(line.session.now));
    if (owner) this.#port.push({ do: "unlock", client: owner.client });
    this.#next(now);
  }
}

/** @param {Line} line @param {Subscription} subscription */
function isSent(line, subscription) {
  return line.session.replica(subscription).pending.length === 0;
}
