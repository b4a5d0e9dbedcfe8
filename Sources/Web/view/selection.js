// The items of a list with which something is done: those that are selected, or else the current one. They can be moved
// with all beneath them, and further in or out.

import { compose } from "../client/compose.js";
import { apply } from "../client/delta.js";
import { amount, copyOf, nameOf } from "./content.js";
import { ask } from "./dialogs.js";
import { branchesOf, changing, moving, runsOf } from "./edits.js";
import { makeDraggable } from "./gestures.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./edits.js').Run} Run */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./looking.js').Looking} Looking */
/** @typedef {import('./ownedits.js').OwnEdits} OwnEdits */
/** @typedef {import('../client/list.js').List} List */

/** So many items are looked up one by one. */
const FEW = 100;

export class Selection {
  #app;
  #edits;
  #grid;
  #looking;
  /**
   * What something is done with now, if it was selected before.
   * @type {string[] | undefined}
   */
  #held;

  /**
   * @param {App} app @param {OwnEdits} edits @param {Grid} grid
   * @param {Looking} looking
   */
  constructor(app, edits, grid, looking) {
    this.#app = app;
    this.#edits = edits;
    this.#grid = grid;
    this.#looking = looking;
    makeDraggable(grid.element, id => {
      if (!grid.isSelecting || !grid.selectedIds.includes(id)) {
        grid.deselect();
        grid.setCurrent(id);
      }
      return this.later((target, isBelow) => this.#dropBeside(target, isBelow));
    });
  }

  get #view() {
    return this.#edits.view;
  }

  /** The selected items alone. */
  get shownRuns() {
    return runsOf(this.indexesOf(this.#held ?? this.#grid.selectedIds));
  }

  /** The selected items, with what is folded beneath them. */
  get runs() {
    const indexes = this.indexesOf(this.#held ?? this.#grid.selectedIds);
    return runsOf(indexes.flatMap(index => Array.from({ length: 1 + this.hiddenBelow(index) }, (_, i) => index + i)));
  }

  /** How many items are selected, with those that are folded beneath them. O(1) if nothing is folded. */
  get count() {
    return this.#looking.folded.size > 0 ? sizeOf(this.runs) : this.#grid.selectedCount;
  }

  /**
   * For what a menu or a question is about: it names what is selected now, and others may have changed the list when it
   * is answered. What they have deleted is left alone, and nothing that has come into its place is touched.
   * @template {unknown[]} T
   * @param {(...answer: T) => void} act @param {string[]} [ids] what it is about
   * @returns {(...answer: T) => void}
   */
  later(act, ids = this.#held ?? this.#grid.selectedIds) {
    const { current } = this.#grid;
    return (...answer) => {
      const left = this.itemsOf(runsOf(this.indexesOf(ids))).map(({ id }) => id);
      if (left.length === 0) return this.#app.toast("Somebody has deleted that meanwhile. Nothing was done.");
      if (!this.#grid.isSelecting && this.#view.indexOf(current ?? "") >= 0) this.#grid.setCurrent(current);
      this.#held = left;
      act(...answer);
      this.#held = undefined;
    };
  }

  /** The selected items with all their sub-items. */
  get branches() {
    return branchesOf(this.#view, this.runs);
  }

  /** Where the current item is, or -1. */
  get current() {
    return this.#view.indexOf(this.#grid.current ?? "");
  }

  /**
   * Where items are in the list. The rows show how it was when they were drawn, and may have items of other tabs, which
   * can be changed once the server has them. O(n), but for few items
   * @param {string[]} ids
   */
  indexesOf(ids) {
    if (ids.length < FEW) return ids.map(id => this.#view.indexOf(id)).filter(index => index >= 0);
    const wanted = new Set(ids);
    return [...this.#view].flatMap((item, index) => (wanted.has(item.id) ? [index] : []));
  }

  /**
   * How many sub-items of an item are folded.
   * @param {number} index
   */
  hiddenBelow(index) {
    return this.#looking.isFolded(this.#view.at(index).id) ? this.#view.subItems(index) : 0;
  }

  /** @param {readonly Run[]} runs */
  itemsOf(runs) {
    return runs.flatMap(([from, to]) => this.#view.slice(from, to));
  }

  /**
   * Items with other ids, at the levels at which they are shown.
   * @param {readonly Run[]} runs
   */
  copiesOf(runs) {
    const view = this.#view;
    return runs.flatMap(([from, to]) => view.slice(from, to).map((item, i) => copyOf(item, view.shownLevel(from + i))));
  }

  /**
   * The level next to one that is wanted at which items in a gap take no sub-items of others, and are not hidden.
   * @param {List} list @param {number} gap @param {number} below where the first item is that comes after them
   * @param {number} wanted
   */
  levelAt(list, gap, below, wanted) {
    const next = this.#view.indexOf(below < list.count ? list.at(below).id : "");
    const least = next < 0 ? 0 : this.#view.shownLevel(next);
    let most = gap === 0 ? 0 : list.shownLevel(gap - 1) + 1;
    for (let at = gap - 1, parent = most; parent > 0; at--) {
      const level = list.shownLevel(at);
      if (level >= parent) continue;
      parent = level;
      if (this.#looking.isFolded(list.at(at).id)) most = level;
    }
    return Math.max(least, Math.min(wanted, most));
  }

  /** @param {readonly Run[]} runs */
  nameOf(runs) {
    const items = this.itemsOf(runs);
    return items.length === 1 ? nameOf(items[0]) : amount(items.length, "item");
  }

  // Moving

  /**
   * Past one neighbour with all beneath it, and past those that one does not see there.
   * @param {number} way
   */
  step(way) {
    const runs = this.branches;
    let [start, end] = [runs[0][0], runs[runs.length - 1][1]];
    const view = this.#view;
    const item = view.at(start);
    let level = Infinity;
    for (const [from, to] of runs) for (let i = from; i < to; i++) level = Math.min(level, view.shownLevel(i));
    const isPassed = () => this.#looking.areTogether(item, view.at(start))
      && view.slice(start, end).some(({ id }) => this.#grid.rows.rowOf(id) >= 0)
      && !this.#strayFrom(view, way > 0 ? end : start, level);
    // Below an item that is further out, one becomes its sub-item, as in a terminal.
    const isWhole = (/** @type {number} */ at) =>
      view.shownLevel(at) === level || this.#looking.isFolded(view.at(at).id);
    do {
      if (way > 0) {
        start = end;
        if (start < view.count) end = start + 1 + (isWhole(start) ? view.subItems(start) : 0);
      } else {
        end = start--;
        while (start > 0 && view.shownLevel(start) > level) start--;
      }
      if (start < 0 || start >= view.count) {
        return this.#app.toast(`It is the ${way > 0 ? "last" : "first"} one here.`);
      }
    } while (!isPassed());
    this.move(way > 0 ? end : start);
  }

  /**
   * Moves the selection into a gap, to a level near that one, or near the one it has. False if it is there.
   * @param {number} gap @param {number} [level]
   */
  move(gap, level) {
    const runs = this.branches;
    if (runs.some(([from, to]) => gap > from && gap < to)) return false;
    const delta = moving(runs, gap, gap > 0 ? "after" : "before");
    const ids = this.#held ?? this.#grid.selectedIds;
    const { id } = this.#view.at(runs[0][0]);
    const own = this.#view.shownLevel(runs[0][0]);
    const moved = apply(this.#view, delta);
    const first = moved.indexOf(id);
    const end = first + sizeOf(runs);
    const to = this.levelAt(moved, first, end, level ?? own);
    if (this.#isStray(moved, first, to)) return false;
    const leveled = this.#leveling(moved, [[first, end]], to - own);
    if (!this.#edits.make(compose(delta, leveled))) return false;
    this.#looking.unfold(id);
    const at = this.#view.indexOf(id);
    this.#app.speech.say(`Moved to ${at + 1} of ${this.#view.count}.`);
    this.#grid.follow(this.itemsOf(runsOf(this.indexesOf(ids))).map(item => item.id));
    requestAnimationFrame(() => this.#grid.isEditing || this.#grid.focus());
    return true;
  }

  /** To a number that the person says. */
  askPlace() {
    ask("Move to", { label: `A number from 1 to ${this.#view.count}`, ok: "Move" }, this.later(answer => {
      const number = /^\s*\d+\s*$/.test(answer) ? Number(answer) : NaN;
      if (!(number >= 1 && number <= this.#view.count)) return this.#app.toast(`There is no number ${answer}.`);
      const runs = this.branches;
      const gap = Math.min(number - 1, this.#view.count - sizeOf(runs));
      this.move(runs.reduce((gap, [from, to]) => (from <= gap ? gap + to - from : gap), gap));
    }));
  }

  /**
   * Further in, or out.
   * @param {number} by
   */
  shift(by) {
    const runs = this.branches;
    const at = runs[0][0];
    const level = this.#view.shownLevel(at);
    const delta = this.#leveling(this.#view, runs, by);
    if (delta.length === 0) return this.#app.toast(`It is at the ${by < 0 ? "first" : "last"} level.`);
    const isInmost = at === 0 || level > this.#view.shownLevel(at - 1) || level >= this.#edits.most;
    if (by > 0 && isInmost) return this.#app.toast("It cannot go further in.");
    if (by > 0 && this.#isStray(this.#view, at, level + 1)) return;
    this.#edits.make(delta);
    this.#looking.unfold(this.#view.at(at).id);
    this.#app.speech.say(`Level ${this.#view.shownLevel(at)}.`);
  }

  // Private

  /**
   * The item to which something at a level in a gap belongs.
   * @param {List} list @param {number} gap @param {number} level
   */
  #parentAt(list, gap, level) {
    let at = level === 0 ? -1 : gap - 1;
    while (at >= 0 && list.shownLevel(at) >= level) at--;
    return at < 0 ? undefined : list.at(at);
  }

  /**
   * The item to which the selection would belong in a gap, if that item is not shown above it and is not what it
   * belongs to already.
   * @param {List} list @param {number} gap @param {number} level
   */
  #strayFrom(list, gap, level) {
    if (!this.#looking.isPartial) return undefined;
    const view = this.#view;
    const at = this.branches[0][0];
    const above = this.#parentAt(list, gap, level);
    const isSeen = !above || (!this.#looking.hides(above) && this.#looking.areTogether(view.at(at), above));
    return isSeen || above.id === this.#parentAt(view, at, view.shownLevel(at))?.id ? undefined : above;
  }

  /**
   * Whether there is such an item, which is then named.
   * @param {List} list @param {number} gap @param {number} level
   */
  #isStray(list, gap, level) {
    const above = this.#strayFrom(list, gap, level);
    if (above) this.#app.toast(`It would belong to “${nameOf(above)}”, which is not shown above it.`);
    return above !== undefined;
  }

  /**
   * Moves what is selected above or below an item.
   * @param {string} target @param {boolean} isBelow
   */
  #dropBeside(target, isBelow) {
    let at = this.#view.indexOf(target);
    if (at < 0) return this.#app.toast("Somebody has deleted that row meanwhile. Nothing was moved.");
    const item = this.#view.at(this.branches[0][0]);
    const isApart = () => !this.#looking.areTogether(item, this.#view.at(at));
    if (isApart()) {
      // Between the ticked tasks and the others: the row on the other side says where.
      const { rows } = this.#grid;
      const row = rows.rowOf(target) + (isBelow ? 1 : -1);
      if (row >= 0 && row < rows.count) at = this.#view.indexOf(rows.at(row).id);
      if (at < 0 || isApart()) return this.#app.toast("Ticked tasks are shown last. Nothing was moved.");
      isBelow = !isBelow;
    }
    // Beside its own sub-items, it stays.
    if (this.branches.some(([from, to]) => from <= at && at < to)) return;
    const gap = isBelow ? at + 1 + this.hiddenBelow(at) : at;
    const name = this.nameOf(this.branches);
    // A finger may have dragged when it meant to scroll.
    if (this.move(gap, this.#view.shownLevel(at))) this.#edits.offerUndo(`Moved ${name}.`);
  }

  /** @param {List} list @param {readonly Run[]} runs @param {number} by */
  #leveling(list, runs, by) {
    if (by === 0) return [];
    // Sub-items go as far as their item, which may have less room.
    let [last, root, room] = [-1, Infinity, by];
    return changing(list, runs, (item, index) => {
      const shown = list.shownLevel(index);
      if (index !== last + 1 || shown <= root) [root, room] = [shown, Math.max(by, -shown)];
      last = index;
      const level = Math.min(shown + room, this.#edits.most);
      return level === item.level ? undefined : { level };
    });
  }
}

/** @param {readonly Run[]} runs */
function sizeOf(runs) {
  return runs.reduce((sum, [from, to]) => sum + to - from, 0);
}
