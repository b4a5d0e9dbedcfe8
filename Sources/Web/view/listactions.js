// What a person does with the items of a list. Everything is an edit of the list that the person sees, and goes out
// when the server can be reached.

import { compose } from "../client/compose.js";
import { insertedItems } from "../client/components.js";
import { apply, invert } from "../client/delta.js";
import { LINK, TASK } from "../client/item.js";
import { amount, lineOf, nameOf, newCard, newItem } from "./content.js";
import { ask, confirmThat, openMenu } from "./dialogs.js";
import { branchesOf, changing, deleting, inserting, moving, runsOf } from "./edits.js";
import { openItem } from "./itemdialog.js";
import { ownCommits, recall } from "./older.js";
import { errorText, summaryOf } from "./sentences.js";
import { sortedBy } from "./sorting.js";
import { TextEditing } from "./textediting.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./edits.js').Run} Run */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/components.js').Delta} Delta */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */

/** So many items are looked up one by one. */
const FEW = 100;

/**
 * Items that were cut or copied, for all lists.
 * @type {Item[]}
 */
let clipboard = [];

export class ListActions {
  #app;
  #open;
  #grid;
  #screen;
  /**
   * What the person has changed since the last drawing.
   * @type {Set<string>}
   */
  #own = new Set();
  /** @type {ReadonlySet<string>} */
  #waiting = new Set();
  /** The texts that are edited in their rows. */
  texts;
  /** What was undone and redone so far: one after the other. */
  #turned = Promise.resolve();

  /** @param {App} app @param {OpenList} open @param {Grid} grid @param {ListScreen} screen */
  constructor(app, open, grid, screen) {
    this.#app = app;
    this.#open = open;
    this.#grid = grid;
    this.#screen = screen;
    this.texts = new TextEditing(app, open, grid, screen, (delta, said) => this.#edit(delta, said));
  }

  get #view() {
    return this.#open.replica.view;
  }

  /**
   * Whether the person has changed an item just now.
   * @param {string} id
   */
  isOwn(id) {
    return this.#own.has(id);
  }

  /**
   * Whether something may be left to undo, or to redo.
   * @param {boolean} isUndo
   */
  mayTurn(isUndo) {
    const { canUndo, canRedo } = this.#open.replica;
    const own = ownCommits(this.#app.client, this.#open);
    if (isUndo) return canUndo || own.length > 0;
    return canRedo || (!canUndo && own.length > 0 && own[own.length - 1][1] !== "");
  }

  forgetOwn() {
    this.#own.clear();
  }

  /** The items that only this device has. */
  get waiting() {
    return this.#waiting;
  }

  /** Something has changed: the text that is edited is as others have made it. */
  follow() {
    const isOffline = this.#app.client.connection.state !== "online";
    const pending = isOffline ? this.#open.replica.pending : [];
    this.#waiting = new Set(pending.flatMap(({ delta }) => insertedItems(delta)).map(item => item.id));
    this.texts.follow();
  }

  /** @param {string} action of `keys.js` */
  perform(action) {
    const { rows } = this.#grid;
    const page = Math.max(1, Math.floor(innerHeight / 60));
    switch (action) {
      case "down":
      case "selectDown":
        return this.#grid.move(1, action === "selectDown");
      case "up":
      case "selectUp":
        return this.#grid.move(-1, action === "selectUp");
      case "top":
        return this.#grid.goTo(0);
      case "end":
        return this.#grid.goTo(rows.count - 1);
      case "pageDown":
        return this.#grid.move(page);
      case "pageUp":
        return this.#grid.move(-page);
      case "range":
        return this.#grid.toggleRange();
      case "pick":
        this.#grid.pick();
        return this.#grid.togglePick(this.#grid.current);
      case "selectAll":
        return this.#grid.selectAll();
      case "add":
        return this.#screen.composer.begin(undefined);
      case "addBelow":
      case "addAbove":
        return this.#beginBeside(action === "addAbove");
      case "deal":
        return this.#insert([newCard()], this.#view.count, "A card is dealt.");
      case "undo":
        return this.#turn(true);
      case "redo":
        return this.#turn(false);
      case "paste":
        return this.#paste();
      case "sort":
        return this.#sort();
      case "untickAll":
      case "clearTicked":
        return this.#withTicked(action === "clearTicked");
    }
    if (rows.count === 0 || this.#grid.current === undefined) return;
    if (this.#selection().length > 0) this.#performOnItems(action);
    else if (this.#open.shown.theirs.has(this.#grid.current)) this.#say("Another tab has not sent this item yet.");
  }

  /**
   * New items. They come beside a place, or at the end.
   * @param {import('./content.js').Written[]} written @param {import('./composer.js').Place | undefined} place
   */
  add(written, place) {
    const index = place ? this.#view.indexOf(place.id) : -1;
    const base = index < 0 ? 0 : this.#view.shownLevel(index);
    const most = this.#open.subscription.rules?.maximumLevel ?? 15;
    const items = written.map(one => newItem(one, Math.min(base + (one.level ?? 0), most)));
    const below = index < 0 ? this.#view.count : index + 1 + this.#view.subItems(index);
    const gap = place?.isAbove && index >= 0 ? index : below;
    const what = items.length === 1 ? nameOf(items[0]) : amount(items.length, "item");
    const isAdded = this.#insert(items, gap, `Added ${what}.`);
    if (isAdded && index < 0) scrollTo(0, document.documentElement.scrollHeight);
    return isAdded;
  }

  /** @param {Item} item that is ticked */
  untick(item) {
    const index = this.#view.indexOf(item.id);
    if (index < 0) return;
    this.#edit(changing(this.#view, [[index, index + 1]], () => ({ done: false })), `Unticked ${nameOf(item)}.`);
  }

  /**
   * Moves an item, or all that are selected with it, above or below another.
   * @param {string} id @param {string | undefined} target @param {boolean} isBelow
   */
  dropBeside(id, target, isBelow) {
    const refusal = this.#app.refusal(this.#open.name, 3);
    if (refusal) return this.#app.toast(refusal);
    const at = target === undefined ? -1 : this.#view.indexOf(target);
    if (at < 0) return;
    const gap = isBelow ? at + 1 + this.#hiddenBelow(at) : at;
    this.#grid.setCurrent(id);
    this.#move(gap, this.#view.shownLevel(at));
  }

  // Private: the selection

  /**
   * The items that are selected, with what is folded beneath them.
   * @returns {Run[]}
   */
  #selection() {
    const indexes = this.#indexesOf(this.#grid.selectedIds);
    return runsOf(indexes.flatMap(index => Array.from({ length: 1 + this.#hiddenBelow(index) }, (_, i) => index + i)));
  }

  /**
   * Where items are in the list. The rows show how it was when they were drawn, and may have items of other tabs, which
   * can be changed once the server has them. O(n), but for few items
   * @param {string[]} ids
   */
  #indexesOf(ids) {
    if (ids.length < FEW) return ids.map(id => this.#view.indexOf(id)).filter(index => index >= 0);
    const wanted = new Set(ids);
    return [...this.#view].flatMap((item, index) => (wanted.has(item.id) ? [index] : []));
  }

  /** The selected items with all their sub-items. */
  #branches() {
    return branchesOf(this.#view, this.#selection());
  }

  /**
   * How many sub-items of an item are folded.
   * @param {number} index
   */
  #hiddenBelow(index) {
    return this.#screen.folded.has(this.#view.at(index).id) ? this.#view.subItems(index) : 0;
  }

  /** @param {readonly Run[]} runs */
  #items(runs) {
    return runs.flatMap(([from, to]) => this.#view.slice(from, to));
  }

  /** @param {readonly Run[]} runs */
  #nameOf(runs) {
    const items = this.#items(runs);
    return items.length === 1 ? nameOf(items[0]) : amount(items.length, "item");
  }

  // Private: editing

  /** @param {string} action */
  #performOnItems(action) {
    switch (action) {
      case "open":
        return openItem(this.#app, this.#open, this.#grid.current ?? "", name => this.#screen.perform(name));
      case "edit":
        return this.texts.begin();
      case "tick":
        return this.#tick();
      case "delete":
        return this.#delete(this.#selection());
      case "moveUp":
        return this.#step(-1);
      case "moveDown":
        return this.#step(1);
      case "moveTop":
        return this.#move(0);
      case "moveEnd":
        return this.#move(this.#view.count);
      case "moveTo":
        return this.#askPlace();
      case "indent":
        return this.#shift(1);
      case "outdent":
        return this.#shift(-1);
      case "cut":
      case "copy":
        return this.#take(action === "cut");
      case "toList":
      case "copyToList":
        return this.#askList(action === "toList");
    }
  }

  /**
   * Makes an edit, and says so. False if it does not fit.
   * @param {Delta} delta @param {string} [said]
   */
  #edit(delta, said) {
    if (delta.length === 0) return false;
    const before = this.#view;
    if (!this.#app.act(this.#open, replica => replica.edit(delta))) return false;
    this.#noteOwn(before);
    if (said) this.#app.speech.say(said);
    this.#screen.update();
    return true;
  }

  /** @param {List} before */
  #noteOwn(before) {
    for (const { id } of this.#view.unlike(before)) this.#own.add(id);
  }

  /** @param {Item[]} items @param {number} gap @param {string} said */
  #insert(items, gap, said) {
    return this.#edit(inserting(items, gap, gap === this.#view.count ? "before" : "after"), said);
  }

  /** @param {boolean} isUndo */
  #turn(isUndo) {
    this.#turned = this.#turned.then(() => this.#turnNow(isUndo)).catch(error => this.#say(errorText(error.name)));
  }

  /** @param {boolean} isUndo */
  async #turnNow(isUndo) {
    const { replica, subscription } = this.#open;
    const isLeft = () => (isUndo ? replica.canUndo : replica.canRedo);
    const nothing = `Nothing of yours is left to ${isUndo ? "undo" : "redo"}`;
    if (!isLeft() && this.mayTurn(isUndo)) {
      if (subscription.isLive) await this.#app.hasTaken(this.#open, []);
      if (!subscription.isLive || replica.pending.length > 0) {
        return this.#say(`${nothing} on this device; older edits need the server.`);
      }
      if (!(await recall(this.#app.client, this.#open, isUndo))) return;
    }
    if (!isLeft()) return this.#say(`${nothing}.`);
    const before = this.#view;
    /** @type {Delta} */
    let delta = [];
    if (!this.#app.act(this.#open, replica => (delta = isUndo ? replica.undo() : replica.redo()))) return;
    this.#noteOwn(before);
    // The words of the history for the edit that was undone.
    if (isUndo) this.#say(`Undone: ${summaryOf({ delta: invert(before, delta) }, this.#view, before)}.`);
    else this.#say(`Redone: ${summaryOf({ delta }, before, this.#view)}.`);
  }

  #tick() {
    const runs = this.#selection();
    const tasks = this.#items(runs).filter(item => item.kind === TASK);
    if (tasks.length === 0) return this.#app.toast("Only tasks can be ticked.");
    const done = tasks.some(item => !item.fields().done);
    this.#screen.hold(tasks.map(item => item.id));
    const isOther = (/** @type {Item} */ item) => item.kind === TASK && item.fields().done !== done;
    const change = changing(this.#view, runs, item => (isOther(item) ? { done } : undefined));
    const what = tasks.length === 1 ? tasks[0].text : amount(tasks.length, "task");
    this.#edit(change, `${done ? "Ticked" : "Unticked"} ${what}.`);
  }

  /** @param {Run[]} runs */
  #delete(runs) {
    const what = this.#nameOf(runs);
    this.#grid.deselect();
    if (this.#edit(deleting(runs))) this.#app.toast(`Deleted ${what}.`, { text: "Undo", act: () => this.#turn(true) });
  }

  /**
   * Past one neighbour with all beneath it.
   * @param {number} way
   */
  #step(way) {
    const runs = this.#branches();
    const [from, to] = [runs[0][0], runs[runs.length - 1][1]];
    const level = this.#view.shownLevel(from);
    if (way > 0) {
      if (to >= this.#view.count || this.#view.shownLevel(to) < level) return this.#say("It is the last one here.");
      return this.#move(to + 1 + this.#view.subItems(to));
    }
    let gap = from - 1;
    while (gap > 0 && this.#view.shownLevel(gap) > level) gap--;
    if (gap < 0 || this.#view.shownLevel(gap) < level) return this.#say("It is the first one here.");
    this.#move(gap);
  }

  /**
   * Moves the selection into a gap, to a level.
   * @param {number} gap @param {number} [level]
   */
  #move(gap, level) {
    const runs = this.#branches();
    const place = runs.find(([from, to]) => gap > from && gap < to);
    if (place) return;
    const delta = moving(runs, gap, gap > 0 ? "after" : "before");
    const id = this.#view.at(runs[0][0]).id;
    const by = level === undefined ? 0 : level - this.#view.shownLevel(runs[0][0]);
    const moved = apply(this.#view, delta);
    const first = moved.indexOf(id);
    const leveled = this.#leveling(moved, [[first, first + this.#items(runs).length]], by);
    if (!this.#edit(compose(delta, leveled))) return;
    const at = this.#view.indexOf(id);
    this.#app.speech.say(`Moved to ${at + 1} of ${this.#view.count}.`);
    this.#grid.setCurrent(id);
    requestAnimationFrame(() => this.#grid.isEditing || this.#grid.focus());
  }

  /** @param {number} by */
  #shift(by) {
    const runs = this.#branches();
    const at = runs[0][0];
    const level = this.#view.shownLevel(at);
    const most = this.#open.subscription.rules?.maximumLevel ?? 15;
    if (by < 0 && level === 0) return this.#say("It is at the first level.");
    const isInmost = at === 0 || level > this.#view.shownLevel(at - 1) || level >= most;
    if (by > 0 && isInmost) return this.#say("It cannot go further in.");
    this.#edit(this.#leveling(this.#view, runs, by));
    this.#app.speech.say(`Level ${level + by + 1}.`);
  }

  /** @param {List} list @param {readonly Run[]} runs @param {number} by */
  #leveling(list, runs, by) {
    if (by === 0) return [];
    const most = this.#open.subscription.rules?.maximumLevel ?? 15;
    return changing(list, runs, (item, index) => {
      const level = Math.min(Math.max(list.shownLevel(index) + by, 0), most);
      return level === item.level ? undefined : { level };
    });
  }

  /** @param {string} text */
  #say(text) {
    this.#app.toast(text);
  }

  #askPlace() {
    const { count } = this.#view;
    ask("Move to", { label: `A number from 1 to ${count}`, ok: "Move" }, answer => {
      const number = Number.parseInt(answer, 10);
      if (!(number >= 1 && number <= count)) return this.#say(`There is no number ${answer}.`);
      const [from] = this.#branches()[0];
      this.#move(number - 1 > from ? number : number - 1);
    });
  }

  /** @param {boolean} isAbove */
  #beginBeside(isAbove) {
    const index = this.#view.indexOf(this.#grid.current ?? "");
    if (index < 0) return this.#screen.composer.begin(undefined);
    const item = this.#view.at(index);
    this.#screen.composer.begin({ id: item.id, isAbove, line: nameOf(item) });
  }

  // Private: several items

  /** @param {boolean} isCut */
  #take(isCut) {
    const runs = this.#selection();
    clipboard = this.#items(runs);
    // So that other programs get the texts, if the browser allows it.
    navigator.clipboard?.writeText(clipboard.map(lineOf).join("\n")).catch(() => {});
    if (isCut) this.#delete(runs);
    else this.#app.toast(`Copied ${this.#nameOf(runs)}.`);
    this.#grid.deselect();
  }

  #paste() {
    if (clipboard.length === 0) return this.#say("Nothing was cut or copied.");
    const index = this.#view.indexOf(this.#grid.current ?? "");
    const items = clipboard.map(copyOf);
    const gap = index < 0 ? this.#view.count : index + 1 + this.#hiddenBelow(index);
    this.#insert(items, gap, `Pasted ${amount(items.length, "item")}.`);
  }

  /** @param {boolean} isClearing */
  #withTicked(isClearing) {
    const ticked = runsOf([...this.#view].flatMap((item, i) => (item.kind === TASK && item.fields().done ? [i] : [])));
    if (ticked.length === 0) return this.#say("Nothing is ticked.");
    const what = this.#nameOf(ticked);
    if (!isClearing) {
      const undo = { text: "Undo", act: () => this.#turn(true) };
      if (this.#edit(changing(this.#view, ticked, () => ({ done: false })))) this.#app.toast(`Unticked ${what}.`, undo);
      return;
    }
    const words = `${what} will be deleted for everybody. Undo brings them back.`;
    confirmThat("Delete what is ticked?", words, "Delete", () => this.#delete(ticked));
  }

  #sort() {
    const sort = (/** @type {"text" | "done"} */ order) => {
      const delta = sortedBy(this.#view, order);
      if (!this.#edit(delta)) return this.#say("The list is in this order already.");
      this.#app.toast("Sorted.", { text: "Undo", act: () => this.#turn(true) });
    };
    openMenu("Sort the list", [["By text", () => sort("text")], ["Ticked last", () => sort("done")]]);
  }

  /** @param {boolean} isMove */
  async #askList(isMove) {
    const runs = this.#branches();
    const ids = this.#items(runs).map(item => item.id);
    const suggestions = (await this.#app.listNames()).filter(name => name !== this.#open.name);
    const ok = isMove ? "Move" : "Copy";
    ask(`${ok} ${this.#nameOf(runs)} to`, { label: "A list", ok, suggestions }, name => this.#send(name, ids, isMove));
  }

  /** @param {string} name @param {string[]} ids @param {boolean} isMove */
  async #send(name, ids, isMove) {
    const refusal = this.#app.refusal(name, 2);
    if (refusal) return this.#say(refusal);
    const target = await this.#app.liveList(name);
    if (!target) return this.#say(`“${name}” cannot be opened right now. Nothing was ${isMove ? "moved" : "copied"}.`);
    const copies = this.#items(runsOf(this.#indexesOf(ids))).map(copyOf);
    if (copies.length === 0) return;
    if (!this.#app.act(target, replica => replica.edit(inserting(copies, replica.view.count, "before")))) return;
    // Nothing goes here before it is there.
    if (!(await this.#app.hasTaken(target, copies))) {
      return this.#say(`“${name}” has not taken the items. Nothing was deleted here.`);
    }
    if (isMove) this.#edit(deleting(runsOf(this.#indexesOf(ids))));
    this.#app.toast(`${isMove ? "Moved" : "Copied"} ${amount(copies.length, "item")} to “${name}”.`);
  }
}

/**
 * The same item with another id.
 * @param {Item} item
 */
function copyOf(item) {
  const { card } = item.fields();
  if (card !== undefined) return newCard(card);
  const { kind, text, level } = item;
  const { url, done } = item.fields();
  return newItem({ kind, text, url: kind === LINK ? new TextDecoder().decode(url) : "", done }, level);
}
