// One tab of a browser, among others that may be frozen, ended, or opened twice: which client id is its own, whose
// edits it sends besides, and what it keeps. It is pure: the time, chance, and the answers of storage and locks go in,
// effects come out.
//
// Each tab has a client id of its own, whose lock it holds while it is seen. A tab that begins goes on as one that has
// ended, if the storage has all that is needed for it; else it draws a new id. What others have left is sent by
// `Heirs`. Whoever takes a journal over becomes its holder in the storage, so that nothing of its former owner is
// stored later, and therefore not sent: an edit is sent under one client id only.

import { Claims } from "./claims.js";
import { Heirs } from "./heirs.js";
import { readJournals } from "./journal.js";
import { Line } from "./line.js";
import { Neighbours } from "./neighbours.js";
import { Opened, copyOf, isOf, remainder, restored } from "./opened.js";
import { Replica } from "./replica.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./heirs.js').Claimed} Claimed */
/** @typedef {import('./heirs.js').Copy} Copy */
/** @typedef {import('./heirs.js').Row} Row */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./line.js').Job} Job */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {import('./messages.js').Down} Down */
/** @typedef {import('./messages.js').Up} Up */
/** @typedef {import('./replica.js').Told} Told */
/** @typedef {import('./session.js').Effect} SessionEffect */
/** @typedef {import('./subscription.js').Subscription} Subscription */
/** @typedef {{ name: string, log: string, revision: number, digest: string }} CopyHead */
/**
 * What the storage has: the rows of all journals, who holds them, and which copies there are.
 * @typedef {{ rows: Row[], owners: Owner[], copies: CopyHead[] }} Found
 */
/**
 * What the program around has to do, in this order. `look` is answered by `looked`, `lock` and `verify` by `locked`,
 * `claim` by `claimed`: it becomes the holder and reads the rows in one transaction. `copy` is answered by `copied`,
 * `write` by `wrote`; `connect` by `connected` or `lost`. Nothing answers the others: `announce` tells the other tabs
 * to look, `forget` deletes the owner's row of a journal without rows, if it has that holder.
 * @typedef {{ do: "look" | "announce" } | { do: "lock" | "unlock" | "verify", client: string } | { do: "forget",
 *   client: string, holder: string } | { do: "claim", client: string, owner: Owner } | { do: "write", line: number,
 *   write: number, job: Job } | { do: "copy", name: string } | { do: "keep", copy: Copy } | { do: "connect" | "close",
 *   line: number } | { do: "send", line: number, bytes: Uint8Array } | { do: "tell", list: Opened, told: Told } | { do:
 *   "answer", message: Down }} Effect
 */
/**
 * Where chance comes from: `draw` gives a client id, 32 hexadecimal digits that nobody can guess.
 * @typedef {{ chance: () => number, draw: () => string }} Chance
 */

/** The storage has to answer within this time, or the tab begins without it. */
const BEGIN_DEADLINE = 1500;
/** How often a tab looks for what others have left, at last and at first. */
const LOOK_EVERY = 60_000;
const LOOK_FIRST = 1000;
/** How long a tab waits for its lock after a loss of the storage, and how often it asks. */
const LOCK_DEADLINE = 10_000;
const LOCK_EVERY = 1000;
/** How soon it looks after another tab has written. */
const ANNOUNCED = 200;
/** How long a hidden tab stays connected. */
const HIDDEN_FOR = 300_000;
/** A copy is kept this long after a change. */
const COPY_AFTER = 3000;

export class Tab {
  #person;
  #token;
  #program;
  #claims;
  #chance;
  /** @type {Effect[]} */
  #effects = [];
  #lines = 0;
  /** @type {Line | undefined} */
  #own;
  /** @type {Opened[]} */
  #opened = [];
  #heirs;
  #neighbours;
  /** A reason not to go on, since nobody may send what is pending. */
  #stopped = "";

  // Of the beginning

  #beginBy = Infinity;
  /** @type {Owner[]} */
  #candidates = [];
  /** @type {Owner | undefined} */
  #candidate;

  #now = 0;
  #lookAt = Infinity;
  /**
   * When everything that was stored was found to be gone, until it is stored again; and when to ask for the lock again.
   * @type {number | undefined}
   */
  #wipedSince;
  #verifyAt = Infinity;
  #lookWait = LOOK_FIRST;
  #isLooking = false;
  #pauseAt = Infinity;

  /**
   * @param {{ person: string, token?: string, program: string, holder: string, chance: Chance }} options `holder` names
   *   the tab
   */
  constructor({ person, token = "", program, holder, chance }) {
    this.#person = person;
    this.#token = token;
    this.#program = program;
    this.#claims = new Claims(holder);
    this.#chance = chance;
    this.#heirs = new Heirs({
      line: (kept, owner) => this.#line({ ...owner, idle: 0 }, kept),
      run: (line, effects) => this.#run(line, effects),
      push: request => this.#push(request),
    });
    this.#neighbours = new Neighbours(client => this.#heirs.hasRefused(client));
  }

  // What there is to see

  get hasBegun() {
    return this.#own !== undefined;
  }

  get client() {
    return this.#own?.client ?? "";
  }

  /** As which holder the tab writes its own journal. */
  get holder() {
    return this.#own?.holder ?? "";
  }

  /** The number of the tab's own line. */
  get ownLine() {
    return this.#own?.number ?? -1;
  }

  get person() {
    return this.#person;
  }

  /** Why no connection helps, if that is so. */
  get stopped() {
    return this.#stopped;
  }

  /** What the connection is doing. */
  get state() {
    return this.#stopped ? "stopped" : this.#own?.session.state ?? "waiting";
  }

  /** Whether edits were sent that the storage does not have. */
  get isUnsafe() {
    return this.#own?.isUnsafe ?? false;
  }

  /** @returns {readonly Opened[]} */
  get opened() {
    return this.#opened;
  }

  /**
   * The journals of other tabs, ended or not, as they were when the tab last looked; of this person.
   * @returns {{ owner: Owner, lists: Kept[] }[]}
   */
  get others() {
    return this.#neighbours.journals(this.#token, this.client);
  }

  /**
   * Who else has journals on this device, under other tokens: a client with that token sends them.
   * @returns {{ person: string, token: string }[]}
   */
  get foreign() {
    return this.#neighbours.foreign(this.#token);
  }

  /** How many journals nobody can read, or send. */
  get refused() {
    return this.#neighbours.refused;
  }

  /** When `tick` is due. */
  get deadline() {
    const copies = this.#opened.map(({ copyAt }) => copyAt);
    const session = this.#stopped ? Infinity : this.#own?.session.deadline ?? Infinity;
    const own = [this.#beginBy, this.#lookAt, this.#verifyAt, this.#pauseAt, session];
    return Math.min(...own, this.#heirs.deadline, ...copies);
  }

  // What the program around asks for

  /** @param {number} now */
  begin(now) {
    this.#now = now;
    this.#beginBy = now + BEGIN_DEADLINE;
    this.#look();
    return this.#finish();
  }

  /**
   * Opens a list, or gives the one that is open. The tab must have begun.
   * @param {string} name in NFC @param {number} now
   * @returns {Opened}
   */
  open(name, now) {
    this.#now = now;
    const known = this.#opened.find(one => one.name === name && !one.subscription.hasEnded);
    const opened = known ?? this.#follow(name, new Replica(), true);
    opened.isWanted = true;
    if (!known) this.#push({ do: "copy", name });
    return opened;
  }

  /**
   * A list is no longer followed. What of it is pending is forgotten.
   * @param {Opened} opened @param {number} now
   */
  forget(opened, now) {
    this.#now = now;
    this.#opened = this.#opened.filter(other => other !== opened);
    const own = this.#mine();
    this.#run(own, own.session.unfollow(opened.subscription, now));
    return this.#finish();
  }

  /**
   * The person edits. Throws what the action throws, and then nothing has happened.
   * @param {Opened} opened @param {(replica: Replica) => void} action @param {number} now
   */
  act(opened, action, now) {
    this.#now = now;
    const own = this.#mine();
    this.#run(own, own.session.act(opened.subscription, action, now));
    return this.#finish();
  }

  /** @param {Opened} opened @param {Focus} focus @param {number} now */
  place(opened, focus, now) {
    this.#now = now;
    const own = this.#mine();
    opened.focus = focus;
    if (this.#pauseAt === Infinity) this.#run(own, own.session.place(opened.subscription, focus, now));
    return this.#finish();
  }

  nextRequest() {
    return this.#mine().session.nextRequest();
  }

  /** @param {Up} message @param {number} now */
  ask(message, now) {
    this.#now = now;
    const own = this.#mine();
    this.#run(own, own.session.ask(message, now));
    return this.#finish();
  }

  /**
   * Another name, or another token. What is pending is sent under the token under which it was made.
   * @param {string} person @param {string} token @param {number} now
   */
  introduce(person, token, now) {
    this.#now = now;
    const own = this.#mine();
    const isSame = token === this.#token;
    this.#person = person;
    this.#token = token;
    if (!isSame) this.#heirs.stop();
    if (isSame || this.#opened.every(({ replica }) => replica.pending.length === 0)) {
      own.change({ person, token });
      this.#stopped = "";
      this.#run(own, own.session.introduce(person, token, now, this.#chance.chance()));
    } else {
      this.#leave(own);
      const lists = this.#opened.map(one => [one, copyOf(one.replica)]);
      this.#becomeNew();
      for (const [one, replica] of /** @type {[Opened, Replica][]} */ (lists)) this.#refollow(one, replica);
    }
    this.#lookAt = now;
    return this.#finish();
  }

  // What the storage and the locks answer

  /** @param {Found | undefined} found nothing if the storage does not answer @param {number} now */
  looked(found, now) {
    this.#now = now;
    this.#isLooking = false;
    if (found) {
      this.#neighbours.see(found);
    }
    if (!this.#own) {
      this.#candidates = found && this.#beginBy < Infinity ? this.#resumable(found) : [];
      this.#tryNext();
    } else {
      this.#release();
      if (found && this.#own.session.isOpen) this.#heirs.find(this.#left(), now);
      if (this.#left().some(({ client }) => this.#neighbours.isLeft(client))) {
        // A lock may be held a little longer than its tab lives.
        this.#lookAt = Math.min(this.#lookAt, now + this.#lookWait);
        this.#lookWait = Math.min(this.#lookWait * 2, LOOK_EVERY);
      } else this.#lookWait = LOOK_FIRST;
    }
    return this.#finish();
  }

  /**
   * Whether the tab holds a lock now.
   * @param {string} client @param {boolean} isHeld @param {number} now
   */
  locked(client, isHeld, now) {
    this.#now = now;
    if (client === this.#candidate?.client && !this.#own) {
      if (isHeld) this.#claim(this.#candidate);
      else this.#tryNext();
    } else if (client === this.#own?.client) {
      // Whoever has it cannot send anything before it has claimed the journal, which a write would notice.
      if (this.#wipedSince !== undefined) this.#againAfterWiping(this.#own, isHeld, this.#wipedSince);
      else if (!isHeld && this.#own.isUnsafe) this.#taken(this.#own);
    } else {
      this.#heirs.locked(client, isHeld, now);
    }
    return this.#finish();
  }

  /** @param {string} client @param {Claimed | undefined} claimed nothing if it failed @param {number} now */
  claimed(client, claimed, now) {
    this.#now = now;
    if (client === this.#candidate?.client && !this.#own) this.#resume(claimed);
    else this.#heirs.claimed(client, claimed, now);
    return this.#finish();
  }

  /** @param {string} name @param {Copy | undefined} copy @param {number} now */
  copied(name, copy, now) {
    this.#now = now;
    const opened = this.#opened.find(one => one.name === name);
    if (copy) opened?.begin(copy);
    return this.#finish();
  }

  /**
   * A write is answered. What has failed, the storage writes again before the next; then the answer comes again. It is
   * `wiped` if the storage is another one than before.
   * @param {number} line @param {number} write @param {"stored" | "taken" | "failed" | "wiped"} outcome
   * @param {number} now
   */
  wrote(line, write, outcome, now) {
    this.#now = now;
    const [own, heir] = [this.#own, this.#heirs.line];
    const one = own?.number === line ? own : heir?.number === line ? heir : undefined;
    if (!one || write <= one.ignored) return this.#finish();
    if (outcome !== "stored" && (one === heir || outcome !== "failed")) {
      if (one === heir) this.#heirs.taken(now);
      else if (outcome === "taken") this.#taken(one);
      else {
        // What kept two tabs apart is gone, too, but for the lock.
        this.#wipedSince ??= now;
        this.#push({ do: "verify", client: one.client });
      }
      return this.#finish();
    }
    const isFree = one.end(write, outcome === "stored");
    for (const { replica } of this.#opened) if (one === own) replica.join(outcome === "stored");
    if (isFree) this.#run(one, one.session.stored(write));
    if (outcome === "stored" && one === own) this.#push({ do: "announce" });
    return this.#finish();
  }

  // What the network says

  /** @param {number} line @param {number} now */
  connected(line, now) {
    this.#now = now;
    const one = this.#lineOf(line);
    if (one) this.#run(one, one.session.connected(now));
    return this.#finish();
  }

  /** @param {number} line @param {number} now */
  lost(line, now) {
    this.#now = now;
    const one = this.#lineOf(line);
    if (one) this.#run(one, one.session.lost(now, this.#chance.chance()));
    this.#copySoon(0);
    return this.#finish();
  }

  /** @param {number} line @param {Uint8Array} bytes nobody may write to them later @param {number} now */
  received(line, bytes, now) {
    this.#now = now;
    const one = this.#lineOf(line);
    if (one && one === this.#heirs.line) this.#heirs.heard(now);
    if (one) this.#run(one, one.session.received(bytes, now, this.#chance.chance()));
    this.#copySoon(COPY_AFTER);
    return this.#finish();
  }

  // Time and the page

  /** @param {number} now */
  tick(now) {
    this.#now = now;
    if (now >= this.#beginBy) {
      this.#beginBy = Infinity;
      if (!this.#own) this.#becomeNew();
    }
    if (now >= this.#lookAt) this.#look();
    if (now >= this.#verifyAt) {
      this.#verifyAt = Infinity;
      this.#push({ do: "verify", client: this.client });
    }
    if (now >= this.#pauseAt) this.#pause();
    const own = this.#own;
    if (own && !this.#stopped) this.#run(own, own.session.tick(now, this.#chance.chance()));
    if (now >= this.#heirs.deadline) this.#heirs.tick(now);
    this.#keepCopies();
    return this.#finish();
  }

  /**
   * The tab is no longer seen.
   * @param {number} now
   */
  hidden(now) {
    this.#now = now;
    if (this.#pauseAt === Infinity) {
      this.#pauseAt = now + HIDDEN_FOR;
      this.#showPlaces(true);
    }
    this.#copySoon(0);
    this.#keepCopies();
    return this.#finish();
  }

  /**
   * The tab is seen again, or was frozen, or the device has slept, or the network is back: nothing of what was true
   * before has to be true now.
   * @param {number} now
   */
  woke(now) {
    this.#now = now;
    const wasHidden = this.#pauseAt < Infinity;
    this.#pauseAt = Infinity;
    const own = this.#own;
    if (!own || this.#stopped) return this.#finish();
    this.#push({ do: "verify", client: own.client });
    // Another tab may have sent what was stored, and the storage may not work to tell.
    for (const { replica } of this.#opened) replica.suspect();
    this.#run(own, own.session.hurry(now, this.#chance.chance()));
    if (wasHidden) this.#showPlaces(false);
    this.#look();
    return this.#finish();
  }

  /**
   * Another tab has written.
   * @param {number} now
   */
  announced(now) {
    this.#now = now;
    this.#lookAt = Math.min(this.#lookAt, now + ANNOUNCED);
    this.#lookWait = LOOK_FIRST;
    return this.#finish();
  }

  // Private: beginning

  /**
   * The journals that can be gone on with at once, since their lists are in the storage as they were; the last first.
   * @param {Found} found
   */
  #resumable({ copies }) {
    const hasCopy = (/** @type {Kept} */ kept) => copies.some(copy => isOf(copy, kept) && copy.digest === kept.digest);
    const isThere = (/** @type {Kept} */ kept) => kept.awaits === undefined && (kept.revision === 0 || hasCopy(kept));
    const mine = this.others.filter(({ owner, lists }) => owner.person === this.#person && lists.every(isThere));
    return mine.map(({ owner }) => owner).reverse();
  }

  #tryNext() {
    this.#candidate = this.#candidates.shift();
    if (this.#candidate) this.#push({ do: "lock", client: this.#candidate.client });
    else this.#becomeNew();
  }

  /** @param {Claimed | undefined} claimed */
  #resume(claimed) {
    const { client } = /** @type {Owner} */ (this.#candidate);
    const [journal] = claimed ? readJournals(claimed.rows) : [];
    const lists = journal && "lists" in journal ? journal.lists.map(kept => restored(kept, claimed)) : [];
    if (!journal || !("lists" in journal) || lists.includes(undefined)) {
      // It may have gone on a little before it ended.
      this.#push({ do: "unlock", client });
      return this.#tryNext();
    }
    this.#own = this.#line({ client, person: this.#person, token: this.#token, idle: HIDDEN_FOR }, journal.lists);
    this.#beginBy = Infinity;
    for (const [i, { name, list }] of journal.lists.entries()) {
      this.#follow(name, /** @type {Replica} */ (lists[i]), false, list);
    }
  }

  /** A new client id. */
  #becomeNew() {
    const client = this.#chance.draw();
    this.#push({ do: "lock", client });
    this.#own = this.#line({ client, person: this.#person, token: this.#token, idle: HIDDEN_FOR });
    this.#beginBy = Infinity;
  }

  // Private: a journal that somebody else has

  /** Another tab has taken the journal over: what is stored is its business, and the rest goes out under a new id. */
  #taken(/** @type {Line} */ own) {
    // Some of it may have been sent, and nobody knows how much of that the other tab has.
    if (own.isUnsafe) return this.#stop(own);
    this.#leave(own);
    const lists = this.#opened.map(one => [one, remainder(one.replica, own.client)]);
    this.#becomeNew();
    for (const [one, rest] of /** @type {[Opened, ReturnType<typeof remainder>][]} */ (lists)) {
      this.#refollow(one, rest.replica, rest.isHeld ? own.client : undefined);
    }
    this.#lookAt = Math.min(this.#lookAt, this.#now + 1000);
  }

  /**
   * All that was stored is gone, and is written again, unless another tab has it, too.
   * @param {Line} own @param {boolean} isHeld whether the tab has its lock @param {number} since
   */
  #againAfterWiping(own, isHeld, since) {
    if (!isHeld && this.#now < since + LOCK_DEADLINE) {
      this.#verifyAt = this.#now + LOCK_EVERY;
      return;
    }
    this.#wipedSince = undefined;
    this.#verifyAt = Infinity;
    if (!isHeld) return this.#stop(own);
    own.startAgain();
    // Another tab may have sent some of it before.
    for (const { replica } of this.#opened) replica.suspect();
    this.#run(own, own.session.introduce(own.person, own.token, this.#now, this.#chance.chance()));
    // If nothing is pending, there is nothing to wait for.
    if (own.isFresh) this.#run(own, own.session.stored(own.ignored));
  }

  /**
   * Nothing of what is pending can be sent, since nobody knows what another tab sends of it.
   * @param {Line} own
   */
  #stop(own) {
    this.#run(own, own.session.pause(this.#now));
    this.#stopped = "taken";
  }

  /** @param {Line} own */
  #leave(own) {
    this.#run(own, own.session.pause(this.#now));
    this.#push({ do: "unlock", client: own.client });
    this.#own = this.#wipedSince = undefined;
    this.#verifyAt = Infinity;
  }

  /** @param {Opened} one @param {Replica} replica @param {string} [awaits] */
  #refollow(one, replica, awaits) {
    one.refollow(this.#mine().session, replica, this.#pauseAt < Infinity, awaits);
  }

  /** Lists whose earlier edits were sent by another tab. */
  #release() {
    for (const one of this.#opened) {
      if (one.awaits !== undefined && !this.#neighbours.isLeft(one.awaits)) one.release();
    }
    if (this.#own) this.#run(this.#own, this.#own.session.flush());
  }

  /** Whose journals may have been left, of this person. */
  #left() {
    return this.#neighbours.left(this.#token, this.client);
  }

  // Private

  #mine() {
    if (!this.#own) throw new Error("the tab has not begun");
    return this.#own;
  }

  /** @param {number} number */
  #lineOf(number) {
    return [this.#own, this.#heirs.line].find(line => line?.number === number);
  }

  /** @param {{ client: string, person: string, token: string, idle: number }} who @param {readonly Kept[]} [kept] */
  #line({ client, person, token, idle }, kept) {
    const holder = this.#claims.holderOf(client);
    return new Line(this.#lines++, holder, { client, person, token, program: this.#program, idle }, kept);
  }

  /** @param {string} name @param {Replica} replica @param {boolean} isWanted @param {number} [number] */
  #follow(name, replica, isWanted, number) {
    const { session } = this.#mine();
    const opened = new Opened(session.follow(name, replica, number), replica, isWanted);
    this.#opened.push(opened);
    return opened;
  }

  #look() {
    this.#lookAt = this.#now + (this.#isLooking ? ANNOUNCED : LOOK_EVERY);
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#push({ do: "look" });
  }

  #pause() {
    this.#pauseAt = this.#now + HIDDEN_FOR;
    const own = this.#own;
    if (!own) return;
    const isAlone = own.isUnsafe && this.#opened.some(({ replica }) => replica.pending.length > 0);
    this.#lookAt = Infinity;
    if (isAlone || this.#stopped) return;
    this.#run(own, own.session.pause(this.#now));
    // A tab that is seen may send what waits.
    this.#push({ do: "unlock", client: own.client });
  }

  /** @param {boolean} isAway */
  #showPlaces(isAway) {
    for (const { subscription, focus } of this.#opened) {
      if (focus && this.#own) subscription.people.place(isAway ? { place: 3 } : focus);
    }
    if (this.#own) this.#run(this.#own, this.#own.session.flush());
  }

  /** @param {number} delay */
  #copySoon(delay) {
    for (const one of this.#opened) one.copyBy(this.#now + delay);
  }

  #keepCopies() {
    for (const one of this.#opened) {
      const copy = one.takeCopy(this.#now);
      if (copy) this.#push({ do: "keep", copy });
    }
  }

  /** @param {Effect | { do: "lock" | "unlock" | "claim" | "forget", client: string }} effect */
  #push(effect) {
    if (effect.do === "claim" && !("owner" in effect)) this.#claim(this.#neighbours.owner(effect.client));
    else if (effect.do === "forget") this.#forgetOwner(effect.client);
    else this.#effects.push(/** @type {Effect} */ (effect));
  }

  /** @param {string} client */
  #forgetOwner(client) {
    const holder = this.#claims.take(client) ?? this.#heirs.line?.holder ?? "";
    this.#effects.push({ do: "forget", client, holder });
    this.#effects.push({ do: "announce" });
  }

  /** @param {Owner | undefined} owner */
  #claim(owner) {
    if (owner) this.#effects.push({ do: "claim", client: owner.client, owner: this.#claims.claim(owner) });
  }

  /** @param {Line} line @param {SessionEffect[]} effects */
  #run(line, effects) {
    for (const effect of effects) this.#do(line, effect);
  }

  /** @param {Line} line @param {SessionEffect} effect */
  #do(line, effect) {
    switch (effect.do) {
      case "write":
        return this.#write(line, effect);
      case "connect":
      case "close":
        return this.#push({ do: effect.do, line: line.number });
      case "send":
        return this.#push({ do: "send", line: line.number, bytes: effect.bytes });
      case "open":
        if (line === this.#own) this.#look();
        else if (line === this.#heirs.line) this.#heirs.opened();
        return;
      case "tell": {
        const isHeirs = line !== this.#own;
        const isIt = (/** @type {Opened} */ { name, subscription }) =>
          isHeirs ? name === effect.list.name : subscription === effect.list;
        const opened = this.#opened.find(isIt);
        if (opened) this.#push({ do: "tell", list: opened, told: effect.told });
        return;
      }
      case "answer":
        if (line === this.#own) this.#push({ do: "answer", message: effect.message });
        else if (line === this.#heirs.line) this.#heirs.answer(effect.message);
        return;
      case "stop":
        if (line === this.#own) this.#stopped = effect.reason;
        else if (line === this.#heirs.line) this.#heirs.fail(effect.reason, this.#now);
        return;
      case "draw":
        if (line === this.#own) this.#draw(line);
        else if (line === this.#heirs.line) this.#heirs.taken(this.#now);
    }
  }

  /** @param {Line} line @param {Extract<SessionEffect, { do: "write" }>} effect */
  #write(line, { write, changes }) {
    const job = { changes: /** @type {Job["changes"]} */ (changes), owner: line.owner, fresh: line.isFresh };
    line.begin(write, job.changes);
    line.isFresh = false;
    this.#push({ do: "write", line: line.number, write, job });
  }

  /**
   * Another program has the client id: all rows move to another one, in one transaction.
   * @param {Line} line
   */
  #draw(line) {
    const [former, client] = [line.client, this.#chance.draw()];
    this.#push({ do: "lock", client });
    const { deletes } = line.journal.rename(client);
    line.change({ client });
    const effects = line.session.take(client, this.#now);
    const write = effects.find(effect => effect.do === "write");
    const wasFresh = line.isFresh;
    line.isFresh = true;
    for (const effect of effects) {
      this.#do(line, effect);
      const last = this.#effects[this.#effects.length - 1];
      if (effect === write && last.do === "write" && !wasFresh) {
        last.job = { ...last.job, changes: { ...last.job.changes, deletes }, leaves: former };
      }
    }
    this.#push({ do: "unlock", client: former });
  }

  #finish() {
    this.#heirs.settle(this.#now);
    const own = this.#own;
    for (const one of own ? this.#opened : []) {
      const isSent = one.isLive && one.replica.pending.length === 0;
      if (one.isWanted || !isSent) continue;
      this.#opened = this.#opened.filter(other => other !== one);
      this.#run(/** @type {Line} */ (own), /** @type {Line} */ (own).session.unfollow(one.subscription, this.#now));
    }
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
