// The list of one client: what the server has confirmed, what is pending, and what the person sees. Section 5 of the
// protocol's page, without the connection. It is pure: what happens is told to `tell`, and nothing else leaves it.

import { isSameDelta } from "./codec.js";
import { NOTHING, insertedItems, weightOf } from "./components.js";
import { apply, invert } from "./delta.js";
import { diff } from "./diff.js";
import { List } from "./list.js";
import { OwnWork, missing } from "./overridden.js";
import { Pending, became, hasItemsOf } from "./pending.js";
import { DoesNotFit } from "./splices.js";
import { superseded } from "./superseded.js";
import { transform } from "./transform.js";
import { UndoHistory } from "./undohistory.js";

/** @typedef {import('./codec.js').Commit} Commit */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./keeping.js').Kept} Kept */
/** @typedef {import('./superseded.js').Lost} Lost */
/** @typedef {import('./overridden.js').LostOfItem} LostOfItem */
/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./pending.js').Step} Step */
/**
 * What people, or the program around, are told. A reason is a number of section 8. A commit of one's own comes with its
 * edit and the list's log id, but not if only a snapshot shows that there is one. An item that was overridden comes as
 * the person left it. If the server has an earlier state of the list now, it comes with the items that are gone.
 * @typedef {{ type: "committed", sequence: number, revision: number, own?: { log: string, edit: Edit } } | { type:
 *   "rejected", reason: number, first: number, second: number, edit: Edit } | { type: "overridden", item: string,
 *   lost: Lost, was: import('./item.js').Item | undefined, author: number, revision: number } | { type: "kept", words:
 *   Kept } | { type: "usedTwice", revision: number } | { type: "diverged", revision: number } | { type: "restored",
 *   gone: readonly import('./item.js').Item[] } | { type: "renamed", name: string, former: string } | { type: "ended",
 *   reason: string } | { type: "disconnected" }} Told
 */
/**
 * A snapshot that has arrived.
 * @typedef {{ items: List, revision: number, log: string, last: number, isLastRefused: boolean }} Snapshot
 */

/**
 * A list that the server had, and what was assumed to be committed since; whose journal has those edits.
 * @typedef {{ log: string, revision: number, digest: string, assumed: Edit[], awaits: string }} Origin
 */

/** The log id of a client that has nothing. */
export const NO_LOG = "0".repeat(16);
const REVISION_MOVED = { reason: 9, first: 0, second: 0 };
/** The most of others' commits that are remembered for whoever tells of them. */
const MOST_FOLLOWED = 64;
const REASON_FORGOTTEN = { reason: 14, first: 0, second: 0 };
/** The most bytes of an edit, about: every server takes as many in one frame. */
const LARGEST = 4 << 20;

/** An edit that has to be divided. */
export class TooLarge extends DoesNotFit {
  /** @param {number} bytes */
  constructor(bytes) {
    super(`The edit has about ${bytes} bytes; at most ${LARGEST} can be sent as one. Divide it.`);
  }
}

export class Replica {
  /** @type {(told: Told) => void} */
  #tell = () => {};
  #log = NO_LOG;
  #confirmed = List.empty;
  #revision = 0;
  #view = List.empty;
  #pending = new Pending();
  #isShared = false;
  #history = new UndoHistory();
  #work = new OwnWork();
  #joins = true;
  /**
   * What the list was made of, from the time when edits were assumed until a snapshot comes.
   * @type {Origin | undefined}
   */
  #origin;
  /**
   * Others' newest commits that nobody has asked for yet.
   * @type {{ commit: Commit, before: List, after: List }[]}
   */
  #followed = [];
  /** At most so many of the pending edits that are stored were sent by others, until the server has said how many. */
  #restored = 0;

  /**
   * A replica as it was kept. Throws `DoesNotFit` if the edits do not fit the list.
   * @param {{ log: string, revision: number, confirmed: List, used: number, isShared: boolean, edits: readonly Edit[],
   *   awaits?: string }} kept
   */
  static restored({ log, revision, confirmed, used, isShared, edits, awaits }) {
    const replica = new Replica();
    replica.#log = log;
    replica.#revision = revision;
    replica.#confirmed = replica.#view = confirmed;
    replica.#pending = new Pending(edits, used);
    replica.#isShared = isShared;
    replica.#history = UndoHistory.ofWaiting(confirmed, edits);
    for (const edit of edits) replica.#view = apply(replica.#view, edit.delta);
    replica.assume(edits.filter(({ isAssumed }) => isAssumed).length, awaits);
    replica.#restored = replica.pending.length;
    return replica;
  }

  /** @param {(told: Told) => void} tell who is told from now on */
  listen(tell) {
    this.#tell = tell;
  }

  get log() {
    return this.#log;
  }

  get revision() {
    return this.#revision;
  }

  get confirmed() {
    return this.#confirmed;
  }

  /** What the person sees. */
  get view() {
    return this.#view;
  }

  get inFlight() {
    return this.#pending.inFlight;
  }

  /** What the pending edits were made upon, if the server never had it. */
  get origin() {
    return this.#origin;
  }

  /** The last sequence that is used. */
  get used() {
    return this.#pending.used;
  }

  /** Whether another program uses the client id. */
  get isShared() {
    return this.#isShared;
  }

  /**
   * All edits that are not committed, in their order.
   * @returns {readonly Edit[]}
   */
  get pending() {
    return this.#pending.all;
  }

  get canUndo() {
    return this.#history.canUndo;
  }

  get canRedo() {
    return this.#history.canRedo;
  }

  // What the person does

  /**
   * An edit of the view; an exact one insists on the present revision, a whole one is not joined with others. Throws
   * `DoesNotFit`, and then nothing has happened, as with `undo` and `redo`.
   * @param {Delta} delta @param {"exact" | "whole"} [how]
   */
  edit(delta, how) {
    const inverse = invert(this.#view, delta);
    this.#apply(delta);
    this.#pending.add(delta, inverse, this.#revision, how, "");
    this.#history.record(inverse);
  }

  /** @returns {Delta} what it has done */
  undo() {
    return this.#take("undo");
  }

  /** @returns {Delta} what it has done */
  redo() {
    return this.#take("redo");
  }

  /**
   * What was done before the replica was made can be taken back, too. Nothing may be pending, or left to undo.
   * @param {UndoHistory} past as of `confirmed`
   */
  remember(past) {
    this.#history.prepend(past);
  }

  // What is submitted

  /**
   * The next edit goes into flight.
   * @returns {Edit | undefined}
   */
  launch() {
    return this.#pending.launch(this.#joins);
  }

  /**
   * Whether edits that wait may be joined. Without a storage they are not, so that whoever restores what was stored
   * before can tell from the last sequence how many of them were sent.
   * @param {boolean} joins
   */
  join(joins) {
    this.#joins = joins;
  }

  /**
   * Every sequence up to this one is used, and whose edits used them is settled.
   * @param {number} last
   */
  renumber(last) {
    this.#restored = 0;
    this.#pending.renumber(last);
  }

  /**
   * A commit may show that another program has sent stored edits. Gives whether only a snapshot shows what became of
   * the edits, because that program had them in other parts.
   * @param {Commit} commit @param {number} author one's own
   */
  recognize(commit, author) {
    const isExpected = this.#restored === 0 || commit.author !== author || this.isAnswer(commit, author);
    if (isExpected || this.#pending.recognize(commit)) return false;
    const added = insertedItems(commit.delta);
    const count = this.pending.map(({ delta }) => hasItemsOf(delta, added)).lastIndexOf(true) + 1;
    this.assume(count);
    return count > 0;
  }

  /** Another program has submitted under the client id. */
  share() {
    this.#isShared = true;
  }

  /** The client has another id, of which no sequence is used. Nothing that is in flight may have been sent. */
  startAgain() {
    this.#pending.recall();
    this.#pending.startAgain();
    this.#isShared = false;
  }

  /**
   * A copy of the list that was kept, if nothing is known yet.
   * @param {{ log: string, revision: number, items: List }} copy
   */
  begin({ log, revision, items }) {
    if (this.#log !== NO_LOG || this.#view !== List.empty || this.pending.length > 0) return;
    this.#log = log;
    this.#revision = revision;
    this.#confirmed = this.#view = items;
  }

  /**
   * The first pending edits are, or will be, committed by somebody else: only a snapshot shows where. The others wait.
   * @param {number} count @param {string} [awaits] who commits them, unless they are committed
   */
  assume(count, awaits = "") {
    if (count === 0) return;
    const { log, revision, confirmed } = this;
    const edits = this.pending.slice(0, count);
    for (const edit of edits) {
      this.#confirmed = apply(this.#confirmed, edit.delta);
      this.#pending.remove(edit);
      edit.sequence = undefined;
      edit.isAssumed = true;
    }
    this.#pending.recall();
    const { assumed, ...origin } = this.#origin ?? { log, revision, digest: confirmed.digest, assumed: [] };
    this.#origin = { ...origin, assumed: [...assumed, ...edits], awaits };
    this.#log = withoutHistory(this.#log);
    this.#revision = this.#restored = 0;
    this.#work = new OwnWork();
  }

  /**
   * What is stored may have been sent by somebody else, and the storage may not have told yet what it has. Until the
   * server has said how many of the restored edits were sent, later ones are not suspected: what it knows beyond those
   * may be edits that the program before had and could not store, and those would be taken for the later ones.
   */
  suspect() {
    if (this.#restored === 0) this.#restored = Infinity;
    // Whoever has sent these edits has used a sequence for each, so none may be dropped.
    for (const edit of this.pending) edit.inverse = undefined;
  }

  /**
   * The server may know more sequences than were used here: another program has sent edits that are stored, and perhaps
   * edits of its own after them. Each has used a sequence. A snapshot does not show which, but an edit whose items are
   * not there may be a later one.
   * @param {number} last the last sequence of which the server knows @param {List} items of the snapshot
   */
  settleRestored(last, items) {
    const restored = Math.min(this.#restored, this.pending.filter(({ isStored }) => isStored).length);
    const sent = (this.inFlight ? 1 : 0) + last - this.used;
    if (restored === 0 || last <= this.used) return;
    const edits = this.pending.slice(0, Math.min(restored, sent));
    this.assume(edits.map(({ delta }) => mayBeIn(items, delta)).lastIndexOf(true) + 1);
    this.renumber(last);
  }

  /** Another tab has taken a step, perhaps one that is to be taken here next: the commits tell what can be undone. */
  forgetSteps() {
    this.#history.noteOverridden();
    if (this.pending.length === 0) this.#history.settle();
  }

  /** The newest steps of which nothing is left, as after a refusal, are steps no more. */
  skipSteps() {
    this.#history.skip(this.#view);
  }

  // What the server says

  /**
   * Whether a commit is the answer to what is in flight.
   * @param {Commit} commit @param {number} author one's own
   */
  isAnswer(commit, author) {
    const edit = this.inFlight;
    return edit !== undefined && commit.author === (edit.sender ?? author) && commit.sequence === edit.sequence;
  }

  /**
   * Whether an answer is about another edit than what is in flight.
   * @param {Commit} commit
   */
  isOthers(commit) {
    return !commit.refused && this.inFlight !== undefined && !became(this.inFlight.delta, commit.delta);
  }

  /**
   * The list after a commit, or nothing if it is not the server's.
   * @param {Commit} commit
   * @returns {List | undefined}
   */
  after(commit) {
    try {
      const list = apply(this.#confirmed, commit.delta);
      return list.count === commit.count && list.digest === commit.digest ? list : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * One's own edit has become a commit.
   * @param {Commit} commit @param {List} list after it
   */
  acknowledge(commit, list) {
    const edit = this.inFlight;
    const before = this.#confirmed;
    if (!edit) return;
    const isSame = isSameDelta(edit.delta, commit.delta);
    // A list that is the same is one list, so that its blocks are kept and hashed once.
    this.#advance(commit, isSame && this.pending.length === 1 ? this.#view : list);
    this.#pending.remove(edit);
    if (this.pending.length === 0) this.#history.settle();
    this.#work.record(commit, before);
    if (!isSame) {
      // A card has been dealt.
      const expected = apply(before, edit.delta);
      this.#carry(diff(expected, list), expected, this.pending);
    }
    const own = { log: this.#log, edit };
    this.#tell({ type: "committed", sequence: commit.sequence, revision: commit.revision, own });
  }

  /**
   * What is in flight has been refused, by a commit.
   * @param {Commit} commit @param {List} list after it
   */
  refuse(commit, list) {
    if (this.inFlight && commit.refused) this.takeBack(this.inFlight, this.#confirmed, commit.refused, commit.author);
    this.#advance(commit, list);
  }

  /**
   * Somebody else's commit.
   * @param {Commit} commit @param {List} list after it @param {number} author one's own
   */
  follow(commit, list, author) {
    const before = this.#confirmed;
    this.#advance(commit, list);
    const followed = { commit, before, after: list };
    if (commit.author !== author) this.#followed = [...this.#followed.slice(1 - MOST_FOLLOWED), followed];
    const lost = this.#work.overridden(commit, before);
    if (commit.author !== author) this.#tellOverridden(lost, commit.author, commit.revision);
    this.#carry(commit.delta, before, this.pending, commit.author, list);
  }

  /** Others' newest commits since this was asked last, with the list before and after each. */
  takeFollowed() {
    const followed = this.#followed;
    this.#followed = [];
    return followed;
  }

  /**
   * A snapshot takes the place of the confirmed list.
   * @param {Snapshot} snapshot @param {number} author one's own
   */
  restart({ items, revision, log, last, isLastRefused }, author) {
    this.settleRestored(last, items);
    const isSame = isSameList(log, this.#log);
    if (!isSame) this.#history.clear();
    const base = isSame ? this.#settle(items, revision, last, isLastRefused, author) : this.#confirmed;
    if (this.inFlight) this.inFlight.crossed = true;
    const isOtherThen = revision === this.#revision && items.digest !== this.#confirmed.digest;
    if (log !== this.#log || revision < this.#revision || isOtherThen) this.#forgetSeen(base, author);
    this.#confirmed = items;
    this.#revision = revision;
    this.#log = log;
    this.#origin = undefined;
    this.#work = new OwnWork();
    const isAlone = this.pending.length === 0 && !this.canUndo && !this.canRedo;
    if (isAlone) this.#view = items;
    else this.#carry(diff(base, items), base, this.pending, 0);
    this.renumber(last);
  }

  /**
   * A pending edit that will not be committed is undone beneath the later ones. If several were joined, they are
   * submitted again one by one: a refusal may be about only one of them.
   * @param {Edit} edit @param {List} base on which the first pending edit was made
   * @param {{ reason: number, first: number, second: number }} rejection @param {number} author one's own
   */
  takeBack(edit, base, rejection, author) {
    const pending = this.pending;
    const place = pending.indexOf(edit);
    for (const before of pending.slice(0, place)) base = apply(base, before.delta);
    const after = apply(base, edit.delta);
    const later = pending.slice(place + 1);
    if (edit.parts && edit === this.inFlight) {
      for (const part of edit.parts) base = apply(base, part);
      this.#pending.divide();
      return this.#carry(diff(after, base), after, later, author);
    }
    this.#pending.remove(edit);
    this.#tell({ type: "rejected", ...rejection, edit });
    this.#carry(invert(base, edit.delta), after, later, author);
  }

  // Private

  /** @param {Delta} delta of the person */
  #apply(delta) {
    const weight = weightOf(delta);
    if (weight > LARGEST) throw new TooLarge(weight);
    this.#view = apply(this.#view, delta);
  }

  /**
   * If the step reverses the last edit that waits exactly, neither of them is submitted: what others do to the items
   * meanwhile stays.
   * @param {"undo" | "redo"} step
   * @returns {Delta} what it has done
   */
  #take(step) {
    const level = this.#history.next(step, this.#view);
    if (!level) return NOTHING;
    const inverse = invert(this.#view, level.delta);
    this.#apply(level.delta);
    const dropped = this.#pending.dropLast(level.delta);
    if (!dropped) this.#pending.add(level.delta, inverse, this.#revision, undefined, level.isWithdrawn ? "" : step);
    this.#history.made(step, level, inverse, dropped?.step === "");
    for (const words of level.kept) this.#tell({ type: "kept", words });
    return level.delta;
  }

  /** @param {Commit} commit @param {List} list */
  #advance(commit, list) {
    this.#confirmed = list;
    this.#revision = commit.revision;
  }

  /**
   * Somebody's edit of `base`, on which the first of `pending` was made: what is left of it changes the view.
   * @param {Delta} delta @param {List} base @param {readonly Edit[]} pending
   * @param {number} [author] nobody is told without one @param {List} [after] `base` with the edit
   */
  #carry(delta, base, pending, author, after) {
    for (const edit of pending) {
      this.#judgeLost(superseded(base, delta, edit.delta), author);
      base = apply(base, edit.delta);
      if (edit.parts) edit.parts = carried(edit.parts, delta);
      edit.inverse = undefined;
      [edit.delta, delta] = [transform(edit.delta, delta, true), transform(delta, edit.delta, false)];
    }
    this.#view = after && pending.length === 0 ? after : apply(this.#view, delta);
    this.#history.follow(delta);
    if (this.pending.length === 0) this.#history.settle();
  }

  /**
   * What a pending edit, the second one, and somebody's edit override of each other.
   * @param {import('./superseded.js').Superseded[]} all @param {number} [author] nobody is told without one
   */
  #judgeLost(all, author) {
    const lost = all.filter(({ loser }) => loser === "second");
    if (lost.length < all.length) this.#history.noteOverridden();
    if (author === undefined) return;
    this.#tellOverridden(lost.map(({ item, loser, ...lost }) => ({ item, lost })), author, this.#revision);
  }

  /** @param {LostOfItem[]} lost @param {number} author @param {number} revision */
  #tellOverridden(lost, author, revision) {
    for (const one of lost) {
      const index = this.#view.indexOf(one.item);
      const was = index < 0 ? undefined : this.#view.at(index);
      this.#tell({ type: "overridden", ...one, was, author, revision });
    }
  }

  /**
   * What a snapshot of the same list says about what is in flight: the list on which the pending edits are now.
   * @param {List} items @param {number} revision @param {number} last @param {boolean} isLastRefused
   * @param {number} author
   */
  #settle(items, revision, last, isLastRefused, author) {
    const edit = this.inFlight;
    const base = this.#confirmed;
    if (!edit || edit.sequence === undefined) return base;
    if (edit.sequence === last && isLastRefused) {
      this.takeBack(edit, base, REASON_FORGOTTEN, author);
      return base;
    }
    if (edit.sequence > last || (edit.sequence < last && !hasItemsOf(edit.delta, items))) return base;
    const after = apply(base, edit.delta);
    this.#pending.remove(edit);
    this.#tell({ type: "committed", sequence: edit.sequence, revision });
    this.#tellOverridden(missing(edit.delta, base, after, items), 0, revision);
    return after;
  }

  /**
   * What the pending edits' authors saw is gone.
   * @param {List} base @param {number} author
   */
  #forgetSeen(base, author) {
    for (const edit of this.pending) if (edit.exact !== undefined) this.takeBack(edit, base, REVISION_MOVED, author);
    for (const edit of this.pending) edit.seen = 0;
  }
}

/**
 * Edits that follow each other, after somebody's edit of the list on which the first was made.
 * @param {readonly Delta[]} edits @param {Delta} theirs
 */
function carried(edits, theirs) {
  return edits.map(edit => {
    const mine = transform(edit, theirs, true);
    theirs = transform(theirs, edit, false);
    return mine;
  });
}

/**
 * Whether a list may be one to which an edit was made: an edit that inserts nothing leaves no trace.
 * @param {List} list @param {Delta} delta
 */
function mayBeIn(list, delta) {
  return insertedItems(delta).length === 0 || hasItemsOf(delta, list);
}

/**
 * The log id of a list without that of its history, so that a snapshot comes.
 * @param {string} log
 */
export function withoutHistory(log) {
  return NO_LOG.slice(8) + log.slice(8);
}

/**
 * Whether a log id names a history, too.
 * @param {string} log
 */
export function hasHistory(log) {
  return withoutHistory(log) !== log;
}

/**
 * Whether two log ids name the same list: their lower 32 bits do.
 * @param {string} a @param {string} b
 */
export function isSameList(a, b) {
  return a.slice(8) === b.slice(8);
}
