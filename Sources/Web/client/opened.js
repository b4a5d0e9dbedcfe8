// The lists that are open in a tab, and what becomes of one when the tab goes on under another client id.

import { NO_LOG, Replica } from "./replica.js";

/** @typedef {import('./fields.js').Focus} Focus */
/** @typedef {import('./heirs.js').Claimed} Claimed */
/** @typedef {import('./heirs.js').Copy} Copy */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./session.js').Session} Session */
/** @typedef {import('./subscription.js').Subscription} Subscription */

/** Why a list is held: others' edits have to be sent before. */
const AWAITS = "awaits";

/** A list that is open in the tab. */
export class Opened {
  subscription;
  replica;
  /** Whether the view has opened it; else it was left by the tab that this one goes on as. */
  isWanted;
  /**
   * Whose edits have to be sent before those of this list.
   * @type {string | undefined}
   */
  awaits;
  /** The revision of the copy that the storage has, or is about to get, and under which name. */
  #copied;
  #copiedName;
  /** When the next copy is due. */
  #copyAt = Infinity;
  /**
   * Where the person is.
   * @type {Focus | undefined}
   */
  focus;

  /** @param {Subscription} subscription @param {Replica} replica @param {boolean} isWanted */
  constructor(subscription, replica, isWanted) {
    this.subscription = subscription;
    this.replica = replica;
    this.isWanted = isWanted;
    this.#copied = replica.revision;
    this.#copiedName = subscription.name;
  }

  get name() {
    return this.subscription.name;
  }

  get isLive() {
    return this.subscription.isLive;
  }

  /** Whether there is something to show. */
  get hasCopy() {
    return this.isLive || this.replica.log !== NO_LOG;
  }

  /** Whether nobody needs it any more, as all that was left is sent. */
  get isDone() {
    return !this.isWanted && this.replica.pending.length === 0;
  }

  /** When `takeCopy` is due. */
  get copyAt() {
    return this.#copyAt;
  }

  /**
   * A copy of the storage, unless more is known already.
   * @param {Copy} copy
   */
  begin(copy) {
    this.replica.begin(copy);
    if (this.replica.revision === copy.revision) this.#copied = copy.revision;
  }

  /**
   * What the server has may be another now: a copy is due at this time at the latest.
   * @param {number} time
   */
  copyBy(time) {
    // The copy of a list that has ended is gone, and another one is due if it is back.
    if (this.subscription.hasEnded) this.#copied = 0;
    if (!this.#isCopied) this.#copyAt = Math.min(this.#copyAt, time);
  }

  /**
   * The copy that the storage has to get, if one is due; and the name under which it had one before, if that was
   * another.
   * @param {number} now
   * @returns {{ copy: Copy, former: string | undefined } | undefined}
   */
  takeCopy(now) {
    if (now < this.#copyAt) return undefined;
    this.#copyAt = Infinity;
    const { log, revision, confirmed } = this.replica;
    const { hasDiverged, isHeld, hasEnded } = this.subscription;
    if (this.#isCopied || revision === 0 || hasDiverged || isHeld || hasEnded) return undefined;
    const former = this.#copiedName === this.name ? undefined : this.#copiedName;
    [this.#copied, this.#copiedName] = [revision, this.name];
    return { copy: { name: this.name, log, revision, items: confirmed }, former };
  }

  get #isCopied() {
    return this.replica.revision === this.#copied && this.name === this.#copiedName;
  }

  /**
   * The list goes on in another session, with what is left of it.
   * @param {Session} session @param {Replica} replica @param {boolean} isAway whether nobody sees where the person is
   * @param {string} [awaits] whose edits have to be sent before
   */
  refollow(session, replica, isAway, awaits = this.awaits) {
    this.replica = replica;
    this.subscription = session.follow(this.name, replica);
    this.awaits = awaits;
    if (awaits !== undefined) this.subscription.hold(AWAITS);
    if (this.focus && !isAway) this.subscription.people.place(this.focus);
  }

  /** What had to be sent before has been sent. */
  release() {
    this.awaits = undefined;
    this.subscription.release(AWAITS);
  }
}

/** All that are open, under whichever client id they go on. */
export class OpenedLists {
  /** @type {readonly Opened[]} */
  #all = [];

  get all() {
    return this.#all;
  }

  /** When `takeCopies` is due. */
  get deadline() {
    return Math.min(...this.#all.map(({ copyAt }) => copyAt));
  }

  get havePending() {
    return this.#all.some(({ replica }) => replica.pending.length > 0);
  }

  /** @param {string} name */
  named(name) {
    return this.#all.find(one => one.name === name);
  }

  /**
   * What people see of a list that is followed, if only under another client id.
   * @param {Subscription} list
   */
  of(list) {
    return this.#all.find(({ subscription }) => subscription === list) ?? this.named(list.name);
  }

  /** @param {Opened} opened */
  add(opened) {
    this.#all = [...this.#all, opened];
  }

  /** @param {Opened} opened */
  remove(opened) {
    this.#all = this.#all.filter(other => other !== opened);
  }

  /** Another tab may have sent what was stored, and the storage may not work to tell. */
  suspect() {
    for (const { replica } of this.#all) replica.suspect();
  }

  /** @param {boolean} joins whether edits that wait may be joined */
  join(joins) {
    for (const { replica } of this.#all) replica.join(joins);
  }

  /** @param {number} time when copies are due at the latest */
  copyBy(time) {
    for (const one of this.#all) one.copyBy(time);
  }

  /** @param {number} now */
  takeCopies(now) {
    return this.#all.flatMap(one => one.takeCopy(now) ?? []);
  }
}

/**
 * Whether a copy is of the revision on which a journal's edits were made.
 * @param {{ log: string, revision: number }} copy @param {Kept} kept
 */
export function isOf({ log, revision }, kept) {
  return log === kept.log && revision === kept.revision;
}

/**
 * A list of a journal as it was, if its copy is there.
 * @param {Kept} kept @param {Claimed | undefined} claimed
 */
export function restored(kept, claimed) {
  const copy = claimed?.copies.find(copy => isOf(copy, kept) && copy.items.digest === kept.digest);
  if (!copy && kept.revision > 0) return undefined;
  try {
    return Replica.restored({ ...kept, confirmed: copy?.items ?? new Replica().confirmed });
  } catch {
    return undefined;
  }
}

/**
 * A replica that has what the server has confirmed, and nothing else.
 * @param {Replica} replica
 */
function copyOf({ log, revision, confirmed }) {
  const copy = new Replica();
  copy.begin({ log, revision, items: confirmed });
  return copy;
}

/**
 * What is left of a list for a tab whose journal has been taken over: what was never stored. That was never sent.
 * @param {Replica} replica @param {string} client whose journal that is
 * @returns {{ replica: Replica, isHeld: boolean }} held, if it was made upon what was stored
 */
export function remainder(replica, client) {
  const stored = replica.pending.filter(({ isStored }) => isStored).length;
  if (stored > 0 && stored === replica.pending.length) return { replica: copyOf(replica), isHeld: false };
  if (stored > 0) replica.assume(stored, client);
  for (const edit of replica.pending) edit.isWritten = edit.isStored = false;
  replica.startAgain();
  return { replica, isHeld: stored > 0 };
}
