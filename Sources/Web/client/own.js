// What a tab does under its own client id, and what becomes of it: the person edits, is elsewhere or somebody else;
// another tab takes the journal over; the storage is wiped. If it has to, it goes on with the lists under another id.

import { Opened, remainder } from "./opened.js";
import { Replica } from "./replica.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Heard} Heard */
/** @typedef {import('./line.js').Line} Line */
/** @typedef {import('./neighbours.js').Neighbours} Neighbours */
/** @typedef {import('./opened.js').OpenedLists} OpenedLists */
/** @typedef {import('./session.js').Identity} Identity */
/** @typedef {import('./tabs.js').Chance} Chance */
/** @typedef {import('./tabs.js').Effect} Effect */
/** @typedef {{ person: string, token: string }} Who */
/**
 * What it asks of its tab.
 * @typedef {object} Port
 * @property {(identity: Omit<Identity, "program">, kept?: readonly Kept[]) => Line} line
 * @property {(effect: Effect) => void} push
 */

/** How long a tab waits for its lock after a loss of the storage, and how often it asks. */
const LOCK_DEADLINE = 10_000;
const LOCK_EVERY = 1000;
/** How long a hidden tab stays connected. */
const HIDDEN_FOR = 300_000;

export class Own {
  #who;
  #chance;
  #lists;
  #neighbours;
  #port;
  /** @type {Line | undefined} */
  #line;
  /** A reason not to go on, since nobody may send what is pending. */
  #stopped = "";
  /**
   * When everything that was stored was found to be gone, until it is stored again; and when to ask for the lock again.
   * @type {number | undefined}
   */
  #wipedSince;
  #verifyAt = Infinity;
  /** Whether another tab had the lock since the last write: a storage that fails then cannot tell what it has taken. */
  #isDoubtful = false;
  #pauseAt = Infinity;

  /**
   * @param {Who} who @param {Chance} chance @param {OpenedLists} lists @param {Neighbours} neighbours
   * @param {Port} port
   */
  constructor(who, chance, lists, neighbours, port) {
    this.#who = who;
    this.#chance = chance;
    this.#lists = lists;
    this.#neighbours = neighbours;
    this.#port = port;
  }

  get line() {
    return this.#line;
  }

  get client() {
    return this.#line?.client ?? "";
  }

  get person() {
    return this.#who.person;
  }

  get token() {
    return this.#who.token;
  }

  get stopped() {
    return this.#stopped;
  }

  /** When `tick` is due. */
  get deadline() {
    const session = this.#stopped ? Infinity : this.#line?.session.deadline ?? Infinity;
    return Math.min(this.#verifyAt, this.#pauseAt, session);
  }

  /** Its line, once it has begun. */
  get begun() {
    if (!this.#line) throw new Error("the tab has not begun");
    return this.#line;
  }

  // A client id

  /** A new client id. */
  becomeNew() {
    const client = this.#chance.draw();
    this.#port.push({ do: "lock", client });
    this.#become(client);
  }

  /**
   * The tab goes on as one that has ended.
   * @param {string} client @param {readonly Kept[]} kept @param {readonly Replica[]} replicas of these
   */
  resume(client, kept, replicas) {
    this.#become(client, kept);
    for (const [i, { name, list }] of kept.entries()) this.#follow(name, replicas[i], false, list);
  }

  /**
   * What becomes of its line.
   * @param {Line} line @param {Heard} effect @param {number} now
   */
  hear(line, effect, now) {
    switch (effect.do) {
      case "open":
        return this.#neighbours.look(now);
      case "answer":
        return this.#port.push(effect);
      case "stop":
        this.#stopped = effect.reason;
        return;
      case "draw":
        line.move(this.#chance.draw(), now);
    }
  }

  // What the person does

  /**
   * A list is followed from now on; if it has ended, it is asked for again.
   * @param {string} name
   */
  open(name) {
    const known = this.#lists.all.find(one => one.name === name && !one.subscription.isReplaced);
    const opened = known ?? this.#follow(name, new Replica(), true);
    opened.isWanted = true;
    if (!known) this.#port.push({ do: "copy", name });
    // So is a list whose name another one had, with the edits that wait for it.
    this.begun.run(session => session.revive());
    return opened;
  }

  /** @param {Opened} opened @param {number} now */
  close(opened, now) {
    // What was shown is there without a connection, too.
    opened.copyBy(now);
    const due = opened.takeCopy(now);
    if (due) this.#port.push({ do: "keep", ...due });
    this.#lists.remove(opened);
    this.begun.run(session => session.unfollow(opened.subscription, now));
  }

  /** @param {Opened} opened @param {Focus} focus @param {number} now */
  place(opened, focus, now) {
    opened.focus = focus;
    if (this.#pauseAt === Infinity) this.begun.run(session => session.place(opened.subscription, focus, now));
  }

  /** @param {string} person @param {number} now */
  introduce(person, now) {
    this.#who = { ...this.#who, person };
    this.begun.change({ person });
    // What another tab may have sent is not sent under another name, either.
    if (this.#stopped === "taken") return;
    this.#stopped = "";
    this.#introduce(this.begun, now);
    this.#neighbours.lookAt(now);
  }

  /**
   * What is stored is another tab's business from now on, if that can be told from what was sent.
   * @param {number} now
   */
  yield(now) {
    const { hasStored, isUnsafe } = this.begun;
    if (hasStored && !isUnsafe) this.#taken(this.begun, now);
    return hasStored && !isUnsafe;
  }

  /**
   * The tab is no longer seen.
   * @param {number} now
   */
  hidden(now) {
    if (this.#pauseAt < Infinity) return;
    this.#pauseAt = now + HIDDEN_FOR;
    this.#showPlaces(true);
  }

  /** @param {number} now */
  woke(now) {
    const wasHidden = this.#pauseAt < Infinity;
    this.#pauseAt = Infinity;
    const line = this.#line;
    if (!line || this.#stopped) return;
    this.#verify();
    // Another tab may have sent what was stored, and the storage may not work to tell.
    this.#lists.suspect();
    line.run(session => session.retry(now, this.#chance.chance()));
    if (wasHidden) this.#showPlaces(false);
    this.#neighbours.look(now);
  }

  // What happens

  /** @param {number} now */
  tick(now) {
    if (now >= this.#verifyAt) {
      this.#verifyAt = Infinity;
      this.#verify();
    }
    if (now >= this.#pauseAt) this.#pause(now);
    if (!this.#stopped) this.#line?.run(session => session.tick(now, this.#chance.chance()));
  }

  /** @param {number} write @param {string} outcome @param {number} now */
  wrote(write, outcome, now) {
    const line = this.begun;
    if (outcome === "taken") return this.#taken(line, now);
    if (outcome === "wiped") {
      // What kept two tabs apart is gone, too, but for the lock.
      this.#wipedSince ??= now;
      return this.#verify();
    }
    const isStored = outcome === "stored";
    if (!isStored && this.#isDoubtful) return this.#stop(line, now);
    this.#isDoubtful = false;
    this.#lists.join(isStored);
    line.wrote(write, isStored);
    if (isStored) this.#port.push({ do: "announce" });
  }

  /** @param {boolean | "again"} isHeld whether the tab has its lock; again if it had lost it @param {number} now */
  locked(isHeld, now) {
    const line = this.begun;
    if (this.#wipedSince !== undefined) return this.#againAfterWiping(line, isHeld, this.#wipedSince, now);
    // Of a journal in which nothing was ever stored, nobody has taken anything.
    if (isHeld === true || (isHeld && !line.hasStored)) return;
    // Whoever has or had it cannot send anything before it has claimed the journal, which a write would notice.
    if (line.isUnsafe) this.#taken(line, now);
    else this.#isDoubtful = true;
  }

  /** Lists whose earlier edits were sent by another tab go on. */
  release() {
    for (const one of this.#lists.all) {
      if (one.awaits !== undefined && !this.#neighbours.isLeft(one.awaits)) one.release();
    }
    this.#line?.run(session => session.flush());
  }

  /**
   * After each event: lists that nobody has opened are followed until all is sent.
   * @param {number} now
   */
  settle(now) {
    for (const one of this.#line ? this.#lists.all : []) if (one.isDone) this.close(one, now);
  }

  // Private

  /** @param {string} client @param {readonly Kept[]} [kept] */
  #become(client, kept) {
    this.#line = this.#port.line({ ...this.#who, client, idle: HIDDEN_FOR }, kept);
  }

  /** @param {string} name @param {Replica} replica @param {boolean} isWanted @param {number} [number] */
  #follow(name, replica, isWanted, number) {
    const opened = new Opened(this.begun.session.follow(name, replica, number), replica, isWanted);
    this.#lists.add(opened);
    return opened;
  }

  #verify() {
    this.#port.push({ do: "verify", client: this.client });
  }

  /** @param {Line} line @param {number} now */
  #introduce(line, now) {
    line.run(session => session.introduce(line.person, line.token, now, this.#chance.chance()));
  }

  /**
   * Another tab has taken the journal over: what is stored is its business, and the rest goes out under a new id.
   * @param {Line} line @param {number} now
   */
  #taken(line, now) {
    // Some of it may have been sent, and nobody knows how much of that the other tab has.
    if (line.isUnsafe) return this.#stop(line, now);
    this.#leave(line, now);
    this.#neighbours.lookBy(now + 1000);
  }

  /**
   * All that was stored is gone, and is written again, unless another tab has it, too.
   * @param {Line} line @param {boolean | "again"} isHeld @param {number} since @param {number} now
   */
  #againAfterWiping(line, isHeld, since, now) {
    if (!isHeld && now < since + LOCK_DEADLINE) {
      this.#verifyAt = now + LOCK_EVERY;
      return;
    }
    this.#wipedSince = undefined;
    this.#verifyAt = Infinity;
    if (!isHeld) return this.#stop(line, now);
    line.startAgain();
    // Another tab may have sent some of it before.
    this.#lists.suspect();
    this.#introduce(line, now);
    line.skip();
  }

  /**
   * Nothing of what is pending can be sent, since nobody knows what another tab sends of it.
   * @param {Line} line @param {number} now
   */
  #stop(line, now) {
    line.run(session => session.pause(now));
    this.#stopped = "taken";
  }

  /**
   * The tab goes on under a new id, with what was not stored.
   * @param {Line} line @param {number} now
   */
  #leave(line, now) {
    this.#disconnect(line, now);
    this.#isDoubtful = false;
    this.#wipedSince = undefined;
    this.#verifyAt = Infinity;
    this.becomeNew();
    for (const one of this.#lists.all) {
      const { replica, isHeld } = remainder(one.replica, line.client);
      one.refollow(this.begun.session, replica, this.#pauseAt < Infinity, isHeld ? line.client : undefined);
    }
  }

  /** @param {number} now */
  #pause(now) {
    this.#pauseAt = now + HIDDEN_FOR;
    const line = this.#line;
    if (!line) return;
    const isAlone = line.isUnsafe && this.#lists.havePending;
    this.#neighbours.lookAt(Infinity);
    // A tab that is seen may send what waits.
    if (!isAlone && !this.#stopped) this.#disconnect(line, now);
  }

  /** @param {Line} line whose client id others may have @param {number} now */
  #disconnect(line, now) {
    line.run(session => session.pause(now));
    this.#port.push({ do: "unlock", client: line.client });
  }

  /** @param {boolean} isAway */
  #showPlaces(isAway) {
    for (const { subscription, focus } of this.#line ? this.#lists.all : []) {
      if (focus) subscription.people.place(isAway ? { place: 3 } : focus);
    }
    this.#line?.run(session => session.flush());
  }
}
