// What a person does with the items of a list, by the names of `keys.js`.

import { isSame } from "../client/bytes.js";
import { TASK } from "../client/item.js";
import { amount, copyOf, leastLevel, markdownOf, nameOf, newCard, newItem } from "./content.js";
import { ask, confirmThat, openMenu } from "./dialogs.js";
import { changing, inserting, removing, runsOf, sortedBy } from "./edits.js";
import { OwnEdits } from "./ownedits.js";
import { openItem } from "./pagedialogs.js";
import { errorText } from "./sentences.js";
import { Selection } from "./selection.js";
import { TextEditing } from "./textediting.js";

/** @typedef {import('./composer.js').Place} Place */
/** @typedef {import('./app.js').App} App */
/** @typedef {import('./edits.js').Run} Run */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./keys.js').ActionName} ActionName */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {Record<string, (() => unknown) | undefined>} Actions by the names of actions */

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
  #selection;
  edits;
  /** The texts that are edited in their rows. */
  texts;
  /** @type {{ ticks: boolean } | undefined} what was selected when an action was asked for earlier */
  #asked;

  /** @param {App} app @param {OpenList} open @param {Grid} grid @param {ListScreen} screen */
  constructor(app, open, grid, screen) {
    this.#app = app;
    this.#open = open;
    this.#grid = grid;
    this.#screen = screen;
    this.edits = new OwnEdits(app, open, id => {
      screen.looking.unfold(id);
      grid.arriveAt(id);
    });
    this.texts = new TextEditing(app, open, grid, screen, this.edits);
    this.#selection = new Selection(app, this.edits, grid, screen.looking);
  }

  get #view() {
    return this.edits.view;
  }

  /** @param {string} action of `keys.js` */
  perform(action) {
    const act = this.#anywhere[action];
    if (act) return void act();
    const { current } = this.#grid;
    if (this.#grid.rows.count === 0 || current === undefined) return;
    if (this.#selection.runs.length > 0) {
      const isBehind = /^(edit|tick)/.test(action) && this.#isChangedElsewhere;
      if (isBehind) this.#app.toast("Another tab has not sent this change yet.");
      else this.#onItems[action]?.();
    } else if (this.#grid.isPicking) this.#app.toast("Nothing is selected.");
    else if (this.#open.shown.theirs.has(current)) this.#app.toast("Another tab has not sent this item yet.");
  }

  /** Whether all that is selected is shown as another tab has changed it, which has not sent that yet. */
  get #isChangedElsewhere() {
    const { list } = this.#open.shown;
    const view = this.#view;
    return list !== view && this.#grid.selectedIds.every(id => {
      const [shown, own] = [list.indexOf(id), view.indexOf(id)];
      return shown >= 0 && own >= 0 && !isSame(list.at(shown).content, view.at(own).content);
    });
  }

  /** How many items are selected, with those that are folded beneath them. */
  get selectedCount() {
    return this.#selection.count;
  }

  /**
   * Whether an action is about the current item.
   * @param {string} action
   */
  isOnItem(action) {
    const more = /^(up|down|page|select(Up|Down)|range|pick|fold|add(Below|Above)|paste)/;
    return this.#onItems[action] !== undefined || more.test(action);
  }

  /** For a menu: performs an action on what is selected now, whatever others make of the list until it is chosen. */
  later() {
    const ticks = this.#ticks;
    return this.#selection.later((/** @type {ActionName} */ action) => {
      this.#asked = { ticks };
      this.#screen.perform(action);
      this.#asked = undefined;
    });
  }

  /** Items are selected one by one from now on. */
  pickAny() {
    this.#grid.pick();
  }

  /**
   * New items. They come beside a place, or at the end. Gives the last of them, or nothing if they cannot be.
   * @param {import('./content.js').Written[]} written @param {import('./composer.js').Place | undefined} place
   */
  add(written, place) {
    const index = place ? this.#view.indexOf(place.id) : -1;
    const below = index < 0 ? this.#view.count : index + 1 + this.#selection.hiddenBelow(index);
    const gap = place?.isAbove && index >= 0 ? index : below;
    const base = index < 0 ? 0 : this.#selection.levelAt(this.#view, gap, gap, this.#view.shownLevel(index));
    const items = written.map(one => newItem(one, Math.min(base + (one.level ?? 0), this.edits.most)));
    const what = items.length === 1 ? nameOf(items[0]) : amount(items.length, "item");
    const isAdded = this.edits.insert(items, gap, `Added ${what}.`);
    if (isAdded) this.#grid.arriveAt(items[items.length - 1].id);
    const { looking } = this.#screen;
    if (isAdded && items.every(item => looking.hides(item))) {
      const showAll = { text: "Show all", act: () => looking.endFiltering() };
      looking.endSaid = this.#app.toast(`Added ${what}, which is filtered out.`, showAll);
    }
    return isAdded ? items[items.length - 1] : undefined;
  }

  /**
   * Copies what is selected, or other items.
   * @param {string} where the copy is, if not everywhere @param {string[]} [ids]
   */
  copy(where, ids = []) {
    const runs = ids.length > 0 ? runsOf(this.#selection.indexesOf(ids)) : this.#selection.branches;
    if (runs.length === 0) return;
    this.#app.toast(`Copied ${this.#selection.nameOf(this.#copy(runs))}${where}.`);
    this.#grid.deselect();
  }

  /** What was cut or copied, as a text for other programs. */
  get copied() {
    return markdownOf(clipboard);
  }

  /**
   * Pastes what was cut or copied here, or the lines of another text, below the current item.
   * @param {string} text what the browser has, if it has anything
   */
  paste(text) {
    const isOwn = text === "" || text.replaceAll("\r\n", "\n") === this.copied;
    if (isOwn) return this.#screen.perform("paste");
    const id = this.#grid.current;
    this.#screen.composer.addLines(text, id === undefined ? undefined : { id, isAbove: false, line: "" });
  }

  /** @param {Item} item that is ticked */
  untick(item) {
    const index = this.#view.indexOf(item.id);
    return index >= 0 && this.#untick([[index, index + 1]], `Unticked ${nameOf(item)}.`);
  }

  // Private

  /**
   * What needs no item.
   * @type {Actions}
   */
  #anywhere = {
    down: () => this.#grid.move(1),
    up: () => this.#grid.move(-1),
    selectDown: () => this.#grid.move(1, true),
    selectUp: () => this.#grid.move(-1, true),
    top: () => this.#grid.goTo(0),
    end: () => this.#grid.goTo(this.#grid.rows.count - 1),
    pageDown: () => this.#grid.move(this.#grid.pageRows),
    pageUp: () => this.#grid.move(-this.#grid.pageRows),
    range: () => this.#grid.toggleRange(),
    pick: () => {
      this.#grid.pick();
      this.#grid.togglePick(this.#grid.current);
    },
    selectAll: () => this.#grid.selectAll(),
    add: () => {
      this.#grid.deselect();
      this.#begin(undefined);
    },
    addBelow: () => this.#beginBeside(false),
    addAbove: () => this.#beginBeside(true),
    deal: () =>
      this.#screen.open.subscription.rules?.deck
        ? this.edits.insert([newCard()], this.#view.count, "A card is dealt.")
        : this.#app.toast("This list has no deck."),
    undo: () => this.edits.turn(true),
    redo: () => this.edits.turn(false),
    paste: () => this.#paste(),
    sort: () => this.#sort(),
    untickAll: () => this.#withTicked(false),
    clearTicked: () => this.#withTicked(true),
  };

  /**
   * What is done with the selected items.
   * @type {Actions}
   */
  #onItems = {
    open: () => openItem(this.#app, this.#open, this.#grid.current ?? "", this.later()),
    edit: () => this.texts.begin(),
    editAddress: () => this.texts.askAddress(),
    tick: () => this.#tick(),
    delete: () => this.#delete(this.#selection.runs),
    deleteBranch: () => this.#delete(this.#selection.branches),
    moveUp: () => this.#selection.step(-1),
    moveDown: () => this.#selection.step(1),
    moveTop: () => this.#selection.move(0),
    moveEnd: () => this.#selection.move(this.#view.count),
    moveTo: () => this.#selection.askPlace(),
    indent: () => this.#selection.shift(1),
    outdent: () => this.#selection.shift(-1),
    cut: () => this.#delete(this.#copy(this.#selection.branches)),
    copy: () => this.copy(navigator.clipboard ? "" : ", for this page only"),
    toList: () => this.#askList(true),
    copyToList: () => this.#askList(false),
  };

  /** @param {boolean} isAbove */
  #beginBeside(isAbove) {
    const index = this.#selection.current;
    if (index < 0) return this.#begin(undefined);
    const item = this.#view.at(index);
    this.#grid.deselect();
    this.#begin({ id: item.id, isAbove, line: nameOf(item) });
  }

  /** @param {Place | undefined} place */
  #begin(place) {
    if (this.#open.takesOnlyCards) this.#app.toast("This list takes only cards. Deal one instead.");
    else this.#screen.composer.begin(place);
  }

  /** Whether to tick what is selected, and not to untick it: one of the tasks is shown without a tick. */
  get #ticks() {
    const { list } = this.#open.shown;
    return this.#grid.selectedIds.some(id => {
      const index = list.indexOf(id);
      return index >= 0 && list.at(index).kind === TASK && !list.at(index).fields().done;
    });
  }

  #tick() {
    const runs = this.#selection.shownRuns;
    const tasks = this.#selection.itemsOf(runs).filter(item => item.kind === TASK);
    if (tasks.length === 0) return this.#app.toast("Only tasks can be ticked.");
    const done = this.#asked?.ticks ?? this.#ticks;
    this.#screen.looking.hold(tasks.map(item => item.id));
    const isOther = (/** @type {Item} */ item) => item.kind === TASK && item.fields().done !== done;
    const change = changing(this.#view, runs, item => (isOther(item) ? { done } : undefined));
    const what = tasks.length === 1 ? tasks[0].text : amount(tasks.length, "task");
    this.edits.make(change, `${done ? "Ticked" : "Unticked"} ${what}.`);
  }

  /** @param {readonly Run[]} runs @param {string} [said] */
  #untick(runs, said) {
    return this.edits.make(changing(this.#view, runs, () => ({ done: false })), said);
  }

  /** @param {Run[]} runs */
  #delete(runs) {
    const what = this.#selection.nameOf(runs);
    this.#grid.deselect();
    if (this.edits.make(removing(this.#view, runs))) this.edits.offerUndo(`Deleted ${what}.`);
  }

  /** @param {boolean} isClearing */
  #withTicked(isClearing) {
    const isTicked = (/** @type {Item} */ item) => item.kind === TASK && item.fields().done === true;
    const ticked = runsOf([...this.#view].flatMap((item, i) => (isTicked(item) ? [i] : [])));
    if (ticked.length === 0) return this.#app.toast("Nothing is ticked.");
    const what = this.#selection.nameOf(ticked);
    if (!isClearing) return this.#untick(ticked) && this.edits.offerUndo(`Unticked ${what}.`);
    const words = `${what} will be deleted for everybody. Undo brings them back.`;
    const asked = this.#selection.itemsOf(ticked).map(({ id }) => id);
    confirmThat("Delete what is ticked?", words, "Delete", () => {
      // Others may have changed the list while the question was open, and unticked something.
      const still = this.#selection.indexesOf(asked).filter(index => isTicked(this.#view.at(index)));
      if (still.length === 0) this.#app.toast("Nothing of it is ticked any more.");
      else this.#delete(runsOf(still));
    });
  }

  #sort() {
    const sort = (/** @type {"text" | "done"} */ order) => {
      if (this.edits.make(sortedBy(this.#view, order))) this.edits.offerUndo("Sorted.");
      else this.#app.toast("The list is in this order already.");
    };
    openMenu("Sort the list", [["By text", () => sort("text")], ["Ticked last", () => sort("done")]]);
  }

  // Private: several items

  /** @param {Run[]} runs */
  #copy(runs) {
    clipboard = this.#selection.copiesOf(runs);
    // So that other programs get the texts, if the browser allows it.
    navigator.clipboard?.writeText(this.copied).catch(() => {});
    return runs;
  }

  #paste() {
    if (clipboard.length === 0) return this.#app.toast("Nothing was cut or copied.");
    const { current } = this.#selection;
    const gap = current < 0 ? this.#view.count : current + 1 + this.#selection.hiddenBelow(current);
    const by = this.#selection.levelAt(this.#view, gap, gap, clipboard[0].level) - clipboard[0].level;
    const items = clipboard.map(item => copyOf(item, Math.min(Math.max(0, item.level + by), this.edits.most)));
    if (this.edits.insert(items, gap, `Pasted ${amount(items.length, "item")}.`)) {
      this.#grid.arriveAt(items[items.length - 1].id);
    }
  }

  /** @param {boolean} isMove */
  #askList(isMove) {
    const runs = this.#selection.branches;
    const ids = this.#selection.itemsOf(runs).map(item => item.id);
    const ok = isMove ? "Move" : "Copy";
    const title = `${ok} ${this.#selection.nameOf(runs)} to`;
    const suggestions = this.#app.clients.listNames().then(names => names.filter(name => name !== this.#open.name));
    ask(title, { label: "A list", ok, suggestions }, name => this.#send(name, ids, isMove));
  }

  /** @param {string} name @param {string[]} ids @param {boolean} isMove */
  async #send(name, ids, isMove) {
    name = name.normalize("NFC");
    if (isMove && name === this.#open.name) return this.#app.toast("The items are in this list. Nothing was moved.");
    const client = await this.#app.clients.asker(name);
    if (/^(offline|stopped)$/.test(client.connection.state)) {
      return this.#app.toast(`${notNow(name)} Nothing was done.`);
    }
    const target = client.open(name);
    // One may go elsewhere meanwhile.
    const release = this.#app.hold(this.#open, target);
    await this.#sendTo(client, target, ids, isMove).finally(release);
  }

  /** @param {Client} client @param {OpenList} target @param {string[]} ids @param {boolean} isMove */
  async #sendTo(client, target, ids, isMove) {
    const { name, subscription } = target;
    const [done, verb] = isMove ? ["Moved", "moved"] : ["Copied", "copied"];
    await this.#app.isAnswered(target);
    if (!subscription.isLive) {
      const reason = subscription.hasEnded ? errorText(subscription.ended) : notNow(name);
      return this.#app.toast(`${reason} Nothing was ${verb}.`);
    }
    const runs = runsOf(this.#selection.indexesOf(ids));
    const originals = new Map(this.#selection.itemsOf(runs).map(item => [item.id, item]));
    const copied = this.#selection.copiesOf(runs);
    // Nothing of the other list takes them for its sub-items.
    const least = leastLevel(copied);
    const copies = copied.map(item => copyOf(item, item.level - least));
    if (copies.length === 0) return this.#app.toast("Somebody has deleted that meanwhile. Nothing was done.");
    if (!this.#app.act(target, 2, replica => replica.edit(inserting(copies, replica.view.count, "before"), "whole"))) {
      return;
    }
    // Nothing goes here before it is there, however long that takes. Why it was refused is told with the refusal.
    for (let isFirst = true; !(await this.#app.isSent(target)); isFirst = false) {
      const obstacle = client.obstacle(target);
      if (obstacle) return this.#app.toast(`${errorText(obstacle)} The items stay here.`);
      const then = isMove ? " Keep this page open: the items are deleted here once they are there." : "";
      if (isFirst) this.#app.toast(`“${name}” has not answered yet.${then}`);
    }
    if (!copies.every(({ id }) => target.replica.confirmed.indexOf(id) >= 0)) return;
    // What was changed since it was copied is only here.
    const left = isMove ? this.#selection.indexesOf(ids) : [];
    const gone = left.filter(index => {
      const item = this.#view.at(index);
      return isSame(item.content, originals.get(item.id)?.content ?? new Uint8Array(0));
    });
    if (gone.length > 0 && !this.edits.make(removing(this.#view, runsOf(gone)))) return;
    const stayed = left.length - gone.length;
    const end = stayed > 0 ? ` ${amount(stayed, "item")} changed meanwhile and stayed here, too.`
      : isMove ? " To take it back, undo in both lists." : "";
    this.#app.toast(`${done} ${amount(copies.length, "item")} to “${name}”.${end}`);
  }
}

/** @param {string} name of a list */
function notNow(name) {
  return `“${name}” cannot be opened right now.`;
}
