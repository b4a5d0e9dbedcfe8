// One tab of a browser, among others that may be frozen, ended, or opened twice: which client id is its own, whose
// edits it sends besides, and what it keeps. It is pure: the time, chance, and the answers of storage and locks go in,
// effects come out.
//
// Each tab has a client id of its own, whose lock it holds while it is seen: `Beginning` finds it, `Own` sends under
// it, and `Heirs` send what others have left. Whoever takes a journal over becomes its holder in the storage, so that
// nothing of its former owner is stored later, and therefore not sent: an edit is sent under one client id only.

import { Beginning } from "./beginning.js";
import { Claims } from "./claims.js";
import { Heirs } from "./heirs.js";
import { Line } from "./line.js";
import { Neighbours } from "./neighbours.js";
import { Opened, OpenedLists } from "./opened.js";
import { Own } from "./own.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./heirs.js').Claimed} Claimed */
/** @typedef {import('./heirs.js').Copy} Copy */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Job} Job */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./messages.js').Up} Up */
/** @typedef {import('./neighbours.js').Found} Found */
/** @typedef {import('./neighbours.js').Left} Left */
/** @typedef {import('./own.js').Who} Who */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./replica.js').Told} Told */
/** @typedef {import('./session.js').Identity} Identity */
/**
 * What the program around has to do, in this order. `look` is answered by `looked`, `lock` and `verify` by `locked`,
 * `claim` by `claimed`: it becomes the holder and reads the rows in one transaction. `copy` is answered by `copied`,
 * `write` by `wrote`; `connect` by `connected` or `lost`. Nothing answers the others: `announce` tells the other tabs
 * to look, `forget` deletes the owner's row of a journal without rows, if it has that holder; `leave` gives a journal
 * to an heir, or deletes it, and then all look.
 * @typedef {{ do: "look" | "announce" } | { do: "lock" | "unlock" | "verify", client: string } | { do: "forget",
 *   client: string, holder: string } | { do: "claim", client: string, owner: Owner } | { do: "leave", client: string,
 *   holder: string, heir?: Who } | { do: "write", line: number, write: number, job: Job } | { do: "copy", name: string
 *   } | { do: "keep", copy: Copy, former?: string } | { do: "connect" | "close", line: number } | { do: "send", line:
 *   number, bytes: Uint8Array } | { do: "tell", list: Opened, told: Told } | { do: "answer", message: Down }} Effect
 */
/**
 * Where chance comes from: `draw` gives a client id, 32 hexadecimal digits that nobody can guess.
 * @typedef {{ chance: () => number, draw: () => string }} Chance
 */

/** A copy is kept this long after a change. */
const COPY_AFTER = 3000;

export class Tab {
  #chance;
  /** @type {Effect[]} */
  #effects = [];
  #lines = 0;
  #lists = new OpenedLists();
  /** @type {Own} */
  #own;
  #beginning;
  #claims;
  /** @type {Heirs} */
  #heirs;
  /** @type {Neighbours} */
  #neighbours;
  #now = 0;

  /**
   * @param {{ person: string, token?: string, program: string, holder: string, chance: Chance }} options `holder` names
   *   the tab
   */
  constructor({ person, token = "", program, holder, chance }) {
    /** @param {Effect} effect */
    const push = effect => void this.#effects.push(effect);
    const claims = (this.#claims = new Claims(holder, push));
    /** @type {(by: () => Own | Heirs) => (identity: Omit<Identity, "program">, kept?: readonly Kept[]) => Line} */
    const makeLine = by => (identity, kept) => {
      /** @type {import('./line.js').Port} */
      const port = {
        push,
        tell: (followed, told) => {
          // What an ended tab has left may be about a list that this one does not show.
          const list = this.#lists.of(followed) ?? new Opened(followed, line.session.replica(followed), false);
          push({ do: "tell", list, told });
        },
        hear: effect => by().hear(line, effect, this.#now),
      };
      const line = new Line(this.#lines++, claims.holderOf(identity.client), { ...identity, program }, port, kept);
      return line;
    };
    this.#chance = chance;
    this.#neighbours = new Neighbours(client => this.#heirs.refusal(client), push);
    const port = { push, line: makeLine(() => this.#own) };
    this.#own = new Own({ person, token }, chance, this.#lists, this.#neighbours, port);
    this.#beginning = new Beginning(this.#own, claims, push);
    const line = makeLine(() => this.#heirs);
    this.#heirs = new Heirs({ push, line, claims, owner: client => this.#neighbours.owner(client) });
  }

  // What there is to see

  get hasBegun() {
    return this.#own.line !== undefined;
  }

  get client() {
    return this.#own.client;
  }

  /** As which holder the tab writes its own journal. */
  get holder() {
    return this.#own.line?.holder ?? "";
  }

  /** The number of the tab's own line. */
  get ownLine() {
    return this.#own.line?.number ?? -1;
  }

  get person() {
    return this.#own.person;
  }

  /** Why no connection helps, if that is so. */
  get stopped() {
    return this.#own.stopped;
  }

  /** What the connection is doing. */
  get state() {
    return this.stopped ? "stopped" : this.#own.line?.session.state ?? "waiting";
  }

  /** Whether edits were sent that the storage does not have. */
  get isUnsafe() {
    return this.#own.line?.isUnsafe ?? false;
  }

  get opened() {
    return this.#lists.all;
  }

  /**
   * The journals of other tabs, ended or not, as they were when the tab last looked; of this person.
   * @returns {Left[]}
   */
  get others() {
    return this.#neighbours.journals(this.#own.token, this.client);
  }

  /**
   * Who else has journals on this device, under other tokens: a client with that token sends them.
   * @returns {{ person: string, token: string }[]}
   */
  get foreign() {
    return this.#neighbours.foreign(this.#own.token);
  }

  /** When `tick` is due. */
  get deadline() {
    const parts = [this.#beginning, this.#neighbours, this.#own, this.#heirs, this.#lists];
    return Math.min(...parts.map(({ deadline }) => deadline));
  }

  // What the program around asks for

  /** @param {number} now */
  begin(now) {
    return this.#at(now, () => {
      this.#beginning.begin(now);
      this.#neighbours.look(now);
    });
  }

  /**
   * Opens a list, or gives the one that is open. The tab must have begun.
   * @param {string} name in NFC @param {number} now
   * @returns {Opened}
   */
  open(name, now) {
    this.#now = now;
    return this.#own.open(name);
  }

  /**
   * Lists that have ended may be there again.
   * @param {number} now
   */
  revive(now) {
    return this.#at(now, () => this.#own.begun.run(session => session.revive()));
  }

  /**
   * Nobody looks at a list any more: it is followed until what of it is pending is sent.
   * @param {Opened} opened @param {number} now
   */
  leave(opened, now) {
    return this.#at(now, () => {
      opened.isWanted = false;
    });
  }

  /**
   * A list is no longer followed. What of it is pending is forgotten.
   * @param {Opened} opened @param {number} now
   */
  forget(opened, now) {
    return this.#at(now, () => this.#own.close(opened, now));
  }

  /**
   * The person edits. Throws what the action throws, and then nothing has happened.
   * @param {Opened} opened @param {(replica: Replica) => void} action @param {number} now
   */
  act(opened, action, now) {
    return this.#at(now, () => this.#own.begun.run(session => session.act(opened.subscription, action, now)));
  }

  /** @param {Opened} opened @param {Focus} focus @param {number} now */
  place(opened, focus, now) {
    return this.#at(now, () => this.#own.place(opened, focus, now));
  }

  nextRequest() {
    return this.#own.begun.session.nextRequest();
  }

  /** @param {Up} message @param {number} now */
  ask(message, now) {
    return this.#at(now, () => this.#own.begun.run(session => session.ask(message, now)));
  }

  /**
   * @param {string} person another name @param {number} now
   */
  introduce(person, now) {
    return this.#at(now, () => this.#own.introduce(person, now));
  }

  /**
   * What another tab has left, and nobody sends, is deleted.
   * @param {string} client @param {number} now
   */
  discard(client, now) {
    return this.#at(now, () => this.#claims.leave(client));
  }

  /**
   * Somebody else sends what is stored under the tab's token, which the server does not take.
   * @param {Who} heir @param {number} now
   */
  bequeath(heir, now) {
    return this.#at(now, () => {
      for (const { owner: { client } } of this.others) this.#claims.leave(client, heir);
      const { client } = this;
      if (this.#own.yield(now)) this.#claims.leave(client, heir);
    });
  }

  // What the storage and the locks answer

  /** @param {Found | undefined} found nothing if the storage does not answer @param {number} now */
  looked(found, now) {
    return this.#at(now, () => {
      this.#neighbours.see(found);
      const { line, token, client, person } = this.#own;
      if (!line) {
        const mine = found ? this.others.filter(({ owner, refused }) => owner.person === person && !refused) : [];
        return this.#beginning.looked(mine, found?.copies ?? []);
      }
      // What was there when the tab looked before says nothing about a journal that has been taken over since.
      if (found) this.#own.release();
      const left = this.#neighbours.left(token, client);
      if (found && line.session.isOpen) this.#heirs.find(left, now);
      this.#neighbours.await(left, now);
    });
  }

  /**
   * Whether the tab holds a lock now; again if it had lost it.
   * @param {string} client @param {boolean | "again"} isHeld @param {number} now
   */
  locked(client, isHeld, now) {
    return this.#at(now, () => {
      if (this.#beginning.locked(client, isHeld !== false)) return;
      if (client === this.#own.line?.client) this.#own.locked(isHeld, now);
      else this.#heirs.locked(client, isHeld !== false, now);
    });
  }

  /** @param {string} client @param {Claimed | undefined} claimed nothing if it failed @param {number} now */
  claimed(client, claimed, now) {
    return this.#at(now, () => {
      if (!this.#beginning.claimed(client, claimed)) this.#heirs.claimed(client, claimed, now);
    });
  }

  /** @param {string} name @param {Copy | undefined} copy @param {number} now */
  copied(name, copy, now) {
    return this.#at(now, () => copy && this.#lists.named(name)?.begin(copy));
  }

  /**
   * A write is answered. What has failed, the storage writes again before the next; then the answer comes again. It is
   * `wiped` if the storage is another one than before.
   * @param {number} line @param {number} write @param {"stored" | "taken" | "failed" | "wiped"} outcome
   * @param {number} now
   */
  wrote(line, write, outcome, now) {
    return this.#at(now, () => {
      const one = this.#lineOf(line);
      if (one?.awaits(write)) (one === this.#own.line ? this.#own : this.#heirs).wrote(write, outcome, now);
    });
  }

  // What the network says

  /** @param {number} line @param {number} now */
  connected(line, now) {
    return this.#at(now, () => this.#lineOf(line)?.run(session => session.connected(now)));
  }

  /** @param {number} line @param {number} now */
  lost(line, now) {
    return this.#at(now, () => {
      this.#lineOf(line)?.run(session => session.lost(now, this.#chance.chance()));
      this.#lists.copyBy(now);
    });
  }

  /** @param {number} line @param {Uint8Array} bytes nobody may write to them later @param {number} now */
  received(line, bytes, now) {
    return this.#at(now, () => {
      this.#lineOf(line)?.run(session => session.received(bytes, now, this.#chance.chance()));
      this.#lists.copyBy(now + COPY_AFTER);
    });
  }

  // Time and the page

  /** @param {number} now */
  tick(now) {
    return this.#at(now, () => {
      for (const part of [this.#beginning, this.#neighbours, this.#own, this.#heirs]) part.tick(now);
      this.#keepCopies();
    });
  }

  /**
   * The tab is no longer seen.
   * @param {number} now
   */
  hidden(now) {
    return this.#at(now, () => {
      this.#own.hidden(now);
      this.#lists.copyBy(now);
      this.#keepCopies();
    });
  }

  /**
   * The tab is seen again, or was frozen, or the device has slept, or the network is back: nothing of what was true
   * before has to be true now.
   * @param {number} now
   */
  woke(now) {
    return this.#at(now, () => this.#own.woke(now));
  }

  /**
   * Another tab has written.
   * @param {number} now
   */
  announced(now) {
    return this.#at(now, () => this.#neighbours.announced(now));
  }

  // Private

  /**
   * Something happens. Gives what is to be done then.
   * @param {number} now @param {() => void} event
   */
  #at(now, event) {
    this.#now = now;
    event();
    this.#heirs.settle(now);
    this.#own.settle(now);
    return this.#effects.splice(0);
  }

  /** @param {number} number */
  #lineOf(number) {
    return [this.#own.line, this.#heirs.line].find(line => line?.number === number);
  }

  #keepCopies() {
    for (const due of this.#lists.takeCopies(this.#now)) this.#effects.push({ do: "keep", ...due });
  }
}
