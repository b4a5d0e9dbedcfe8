// What tabs that have ended have left: their journals are sent one after the other, each under its own client id, on a
// connection of its own. One that cannot be sent stays as it is, and keeps none of the others waiting.

import { Adoption } from "./adoption.js";
import { readJournals } from "./journal.js";
import { isOf } from "./opened.js";

/** @typedef {import('./claims.js').Claims} Claims */
/** @typedef {import('./journal.js').Key} Key */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Heard} Heard */
/** @typedef {import('./line.js').Line} Line */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./session.js').Identity} Identity */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/** @typedef {import('./tabs.js').Effect} Effect */
/** @typedef {{ name: string, log: string, revision: number, items: List }} Copy a list that the storage has */
/** @typedef {{ key: Key, row: any }} Row */
/** @typedef {{ rows: Row[], copies: Copy[] }} Claimed rows of one client id, and copies of the lists they are about */
/**
 * What the heirs ask of their tab.
 * @typedef {object} Port
 * @property {(identity: Omit<Identity, "program">, kept: readonly Kept[]) => Line} line a line to the server
 * @property {(effect: Effect) => void} push
 * @property {(client: string) => Owner | undefined} owner
 * @property {Claims} claims
 */
/** @typedef {{ kept: Kept, adoption: Adoption }} Open a list whose edits are not pending yet */

/** A journal that makes no progress for so long has to wait for its next turn. */
const TIMEOUT = 60_000;

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

  /** @param {string} client why its journal stays, and is not tried again, if that is so */
  refusal(client) {
    return this.#refused.get(client);
  }

  /**
   * Journals that may belong to nobody. Their order is kept.
   * @param {Owner[]} owners @param {number} now
   */
  find(owners, now) {
    this.#queue = owners.filter(({ client }) => client !== this.#owner?.client && !this.#refused.has(client));
    this.#next(now);
  }

  /** @param {string} client @param {boolean} isHeld @param {number} now */
  locked(client, isHeld, now) {
    if (client !== this.#owner?.client || this.#line) return;
    if (isHeld) return this.#port.claims.claim(this.#port.owner(client));
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
    if (journal.refused) {
      this.#failure = journal.refused;
      return this.#finish(now);
    }
    const { person, token } = owner;
    const line = this.#port.line({ client, person, token, idle: 0 }, journal.lists);
    const nextRequest = () => line.session.nextRequest();
    this.#line = line;
    this.#open = journal.lists.map(kept => {
      const copy = claimed.copies.find(copy => isOf(copy, kept));
      return { kept, adoption: new Adoption(kept, nextRequest, copy?.items) };
    });
    line.run(session => session.tick(now, 0));
  }

  /**
   * What becomes of a line, which may be one of before.
   * @param {Line} line @param {Heard} effect @param {number} now
   */
  hear(line, effect, now) {
    if (line !== this.#line) return;
    this.#until = now + TIMEOUT;
    switch (effect.do) {
      case "open":
        for (const one of [...this.#open]) this.#step(one, one.adoption.begin());
        return;
      case "answer":
        for (const one of [...this.#open]) this.#step(one, one.adoption.answer(effect.message));
        return;
      case "stop":
        this.#failure = effect.reason;
        return this.#finish(now);
      case "draw":
        this.#end(now);
    }
  }

  /**
   * A write of the line is answered.
   * @param {number} write @param {string} outcome @param {number} now
   */
  wrote(write, outcome, now) {
    if (outcome !== "stored") return this.#end(now);
    this.#until = now + TIMEOUT;
    this.#line?.wrote(write, true);
  }

  /** @param {number} now */
  tick(now) {
    if (now >= this.#until) this.#end(now);
    else if (now >= this.deadline) this.#line?.run(session => session.tick(now, 0.5));
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
    this.#until = now + TIMEOUT;
    this.#port.push({ do: "lock", client: this.#owner.client });
  }

  /** @param {Open} one @param {import('./adoption.js').Step} step */
  #step(one, step) {
    const line = /** @type {Line} */ (this.#line);
    const { now } = line.session;
    if (step?.do === "ask") {
      for (const message of step.messages) line.run(session => session.ask(message, now));
    } else if (step) {
      this.#open = this.#open.filter(other => other !== one);
      if (step.do === "fail") this.#failure = step.reason;
      else this.#followed.push(line.session.follow(step.name, step.replica, one.kept.list));
      line.run(session => session.tick(now, 0));
    }
  }

  /**
   * All is sent, or cannot be.
   * @param {number} now
   */
  #finish(now) {
    if (this.#owner && this.#failure) this.#refused.set(this.#owner.client, this.#failure);
    else if (this.#owner) this.#port.claims.forget(this.#owner.client, this.#line?.holder);
    this.#end(now);
  }

  /** @param {number} now */
  #end(now) {
    const [owner, line] = [this.#owner, this.#line];
    this.#owner = this.#line = this.#failure = undefined;
    this.#open = [];
    this.#followed = [];
    this.#until = Infinity;
    line?.run(session => session.pause(session.now));
    if (owner) this.#port.push({ do: "unlock", client: owner.client });
    this.#next(now);
  }
}

/** @param {Line} line @param {Subscription} subscription */
function isSent(line, subscription) {
  return line.session.replica(subscription).pending.length === 0;
}
