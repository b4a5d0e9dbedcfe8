// The screen of one list: its rows, what one can do with them, and what others do.

import { NO_LOG, isSameList } from "../client/replica.js";
import { Bottom } from "./bottom.js";
import { amount, numeral } from "./content.js";
import { isDialogOpen } from "./dialogs.js";
import { button, fill, h, setAttribute, setText, signButton } from "./dom.js";
import { hearGestures } from "./gestures.js";
import { Grid } from "./grid.js";
import { touchedBy } from "./edits.js";
import { roleFor } from "./keys.js";
import { ListActions } from "./listactions.js";
import { Looking } from "./looking.js";
import { Company, NewsMarks } from "./news.js";
import { NoticeBar } from "./noticebar.js";
import { showConnection, showHelp, showListMenu, showPeople, showShare } from "./pagedialogs.js";
import { errorText } from "./sentences.js";
import { recall, remember } from "./tabmemory.js";
import { dayOf } from "./taskwords.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/list.js').List} List */

/** How long it may take until a screen that will go has gone, in ms. */
const LEAVING = 5000;

export class ListScreen {
  #app;
  #open;
  #grid;
  #bottom;
  #company;
  actions;
  /** How the person looks at the list. */
  looking;
  /**
   * The list that the rows show.
   * @type {List | undefined}
   */
  #shown;
  /** Whether it has more than what this device has made itself. */
  #isKnown = false;
  /** Whether the person expects other rows. */
  #isAsked = true;
  #news;
  #notices;
  /** @type {ReadonlySet<string>} the items that other tabs have changed */
  #theirs = new Set();
  /** @type {ReadonlySet<string>} without a connection: the items that only this device has as they are */
  #waiting = new Set();
  /** @type {import('../client/list.js').List | undefined} the list in which they were found */
  #waitingIn;
  #hasResumed = false;
  /** Whether the person is where it was when it left the list. */
  #isBack = false;
  /** @type {{ place?: import('./grid.js').Place } | undefined} where the person was, if the screen will go */
  #left;
  #today = dayOf(new Date());
  #timer;
  /** The log of the list that is shown. */
  #log = NO_LOG;

  // Elements

  element = h("main", { class: "list" });
  #title = h("h1", { dir: "auto", tabIndex: -1 });
  #count = h("span", { class: "count" });
  #state = h("p", { class: "empty" });
  #undo = signButton("↶", "Undo", () => this.perform("undo"));
  #redo = signButton("↷", "Redo", () => this.perform("redo"));

  /** @param {App} app @param {OpenList} open */
  constructor(app, open) {
    this.#app = app;
    this.#open = open;
    this.#grid = new Grid(open.name, id => this.#marksOf(id), () => this.#marked);
    this.looking = new Looking(app, this.#grid, this);
    this.#company = new Company(app, open, this.#grid);
    this.actions = new ListActions(app, open, this.#grid, this);
    this.#bottom = new Bottom(app, open, this.#grid, this);
    this.#news = new NewsMarks(open, this.#grid, () => app.draw());
    this.#grid.onmove = () => this.#company.placeSoon();
    this.#grid.onmark = () => this.#bottom.draw();
    this.#notices = new NoticeBar(app, open, ({ lost, isOne, item, present = "" }) => {
      const refusal = app.refusal(open, 2);
      if (refusal) return void app.toast(`${refusal} What you wrote: “${lost}”`);
      if (this.actions.texts.putBack(item, present, lost)) {
        this.actions.edits.offerUndo("Your words are back.");
        return true;
      }
      this.composer.begin(undefined);
      // It may be there already.
      const note = "These words were overridden or not taken; Enter adds them.";
      if (!this.composer.text.includes(lost)) this.composer.bring(lost, note, isOne);
      return false;
    });
    const more = signButton("⋯", "More for this list", () => showListMenu(app, this));
    fill(this.element, h("div", { class: "title" }, this.#title, this.#count),
      h("div", { class: "bar" }, this.#undo, this.#redo, this.looking.search, more),
      this.#notices.element, this.#state, this.#grid.element, ...this.#bottom.elements);
    hearGestures(app, this.#grid, this);
    this.#timer = setInterval(() => this.#look(), 1000);
  }

  get name() {
    return this.#open.name;
  }

  get open() {
    return this.#open;
  }

  get composer() {
    return this.#bottom.composer;
  }

  /**
   * How many items there are, and what else one may want to know of all of them.
   * @returns {string}
   */
  get countText() {
    if (!this.#open.hasCopy && !this.#open.subscription.isLive) return this.#app.clients.roleWords(this.name);
    const { count } = this.#open.shown.list;
    const hidden = this.looking.isFiltering ? `${numeral(this.#grid.rows.count)} of ` : "";
    const news = this.#news.count > 0 ? `, ${this.#news.count} new` : "";
    const role = this.#app.clients.roleWords(this.name);
    return `${hidden}${amount(count, "item")}${this.looking.ways}${news}${role ? ` · ${role}` : ""}`;
  }

  /** Tells others where the person is. */
  place() {
    this.#company.place();
  }

  /** The screen is shown: the focus is at its beginning, or where one came from. */
  begin() {
    this.#title.focus({ preventScroll: true });
  }

  /** What had the focus is gone. */
  refocus() {
    if (this.#grid.isEditing) return;
    if (this.#grid.rows.count > 0) this.#grid.focus();
    else this.begin();
  }

  /** @param {string} id */
  goToItem(id) {
    const row = this.#grid.rows.rowOf(id);
    if (row >= 0) this.#grid.goTo(row);
    else this.#app.toast("That item is folded, filtered out or gone.");
  }

  get isTyping() {
    return this.composer.text !== "" || this.#grid.isEditing;
  }

  /** The screen will go: this is where the person was. */
  leaving() {
    this.#left = { place: this.#grid.place };
    setTimeout(() => (this.#left = undefined), LEAVING);
  }

  /** The screen or the page goes: what is being typed is saved. */
  hide() {
    this.actions.texts.save();
    this.#bottom.keep();
    rememberPlace(this.name, this.#left ? this.#left.place : this.#grid.place);
  }

  /**
   * The person looks at the list in another way.
   * @param {boolean} [isAsked] whether the person has asked for that now
   */
  lookAgain(isAsked = true) {
    this.#shown = undefined;
    this.#isAsked = isAsked;
    this.#app.draw();
  }

  draw() {
    const { subscription, shown, replica } = this.#open;
    // Another list has got the name while one was away.
    const isAnother = ![this.#log, replica.log].includes(NO_LOG) && !isSameList(replica.log, this.#log);
    if (replica.log !== NO_LOG) this.#log = replica.log;
    if (isAnother) return this.#app.replaced(this.#open);
    const view = shown.list;
    this.#theirs = shown.theirs;
    this.#findWaiting();
    this.#company.look();
    if (view !== this.#shown && !this.#grid.field?.isHeld) this.#drawRows(view);
    else this.#grid.mark();
    setText(this.#title, this.name);
    setText(this.#count, this.countText);
    this.#drawState(view.count);
    this.#undo.disabled = !this.actions.edits.mayTurn(true);
    this.#redo.disabled = !this.actions.edits.mayTurn(false);
    this.composer.disable(subscription.ended ? "" : this.#app.clients.refusal(this.name, 2));
    this.#bottom.draw();
    this.#notices.draw();
    this.actions.texts.follow();
    this.#hasResumed ||= this.actions.texts.resume();
    if (subscription.isLive) this.#news.begin(this.#app.client);
    this.#company.hear();
  }

  /** @param {string} former name of the list */
  renamed(former) {
    this.actions.texts.renamed(former);
    this.#bottom.renamed(former);
    setAttribute(this.#grid.element, "aria-label", this.name);
  }

  close() {
    clearInterval(this.#timer);
    this.looking.close();
    this.#company.close();
    // What is saved with a link that has ended is never sent: the next screen goes on with what was typed.
    if (this.#app.client.connection.state === "stopped") this.#grid.endEditing();
    this.hide();
    this.#bottom.close();
    this.actions.edits.endSaid();
    this.#grid.close();
  }

  /** @param {string} action of `keys.js` */
  perform(action) {
    // What was typed comes first: it is what is undone, for example.
    this.#grid.field?.leave();
    const refusal = this.#app.refusal(this.#open, roleFor(action));
    if (refusal) return this.#app.toast(refusal);
    const act = this.#actions[action];
    if (act) act();
    else this.actions.perform(action);
  }

  /**
   * One copies, cuts or pastes as everywhere. Of several rows, a browser would copy neither levels nor ticks; a part of
   * one text is its affair, and so is where one writes.
   * @param {Event} event
   */
  exchange(event) {
    const { type, clipboardData } = /** @type {ClipboardEvent} */ (event);
    const isHere = this.#grid.hasFocus || (type === "paste" && document.activeElement === this.#title);
    if (!isHere || this.#grid.isEditing || isDialogOpen()) return;
    const marked = this.#grid.markedIds;
    if (type === "paste") {
      const text = clipboardData?.getData("text/plain") ?? "";
      // Files are no items.
      if (text === "" && clipboardData?.types.length) return;
      this.actions.paste(text);
    } else if (marked.length === 1 || (type === "cut" && marked.length > 0)) return;
    else if (type === "cut") this.perform("cut");
    else this.actions.copy("", marked);
    if (type !== "paste") clipboardData?.setData("text/plain", this.actions.copied);
    event.preventDefault();
  }

  // Private: drawing

  /** @param {List} view */
  #drawRows(view) {
    const before = this.#grid.rows;
    const wasShown = this.#shown && this.#isKnown;
    this.#shown = view;
    this.#isKnown = this.#open.hasCopy || this.#open.subscription.isLive;
    const rows = this.looking.rowsOf(view);
    const own = this.actions.edits.takeOwn();
    this.#grid.show(rows, own.size > 0 ? "edit" : wasShown || !this.#isAsked ? "others" : "view");
    this.#isAsked = true;
    if (rows.count > 0 && !this.#isBack) {
      this.#isBack = true;
      const place = recall(placeOf(this.name));
      if (place && document.activeElement === this.#title) this.#grid.goBack(place);
    }
    if (!wasShown) return;
    for (const { id } of rows.unlike(before)) {
      if (!own.has(id)) this.#grid.view(id)?.flash();
    }
  }

  /** @param {number} count */
  #drawState(count) {
    const { hasCopy, subscription } = this.#open;
    const { ended } = subscription;
    const isEmpty = this.#grid.rows.count === 0;
    setAttribute(this.#state, "hidden", !isEmpty && ended === "");
    if (ended !== "") return setText(this.#state, errorText(ended));
    if (!isEmpty) return;
    if (count > 0) {
      if (this.#state.firstChild?.textContent === this.looking.nothingFound) return;
      return fill(this.#state, this.looking.nothingFound, button("Show all", () => this.looking.endFiltering()));
    }
    setText(this.#state, hasCopy || subscription.isLive ? "The list is empty." : this.#app.waitingWords);
  }

  #findWaiting() {
    const { pending, view } = this.#open.replica;
    const isOffline = this.#app.client.connection.state !== "online";
    if (this.#waitingIn === (isOffline ? view : undefined)) return;
    this.#waiting = isOffline ? touchedBy(pending.map(({ delta }) => delta), view) : new Set();
    this.#waitingIn = isOffline ? view : undefined;
  }

  /**
   * @param {string} id
   * @returns {import('./grid.js').OwnersMarks}
   */
  #marksOf(id) {
    return {
      isFolded: this.looking.isFolded(id),
      hidden: this.looking.hiddenBelow(id, this.#open.shown.list),
      news: this.#news.of(id),
      people: this.#company.places.get(id) ?? [],
      isWaiting: this.#waiting.has(id) || this.#theirs.has(id),
      me: this.#app.clients.me,
      today: this.#today,
    };
  }

  /**
   * The items that have other marks than most, some of them more than once.
   * @returns {string[]}
   */
  get #marked() {
    const { places } = this.#company;
    return [...this.looking.folded, ...this.#news.ids, ...places.keys(), ...this.#waiting, ...this.#theirs];
  }

  // Private: what is new

  /** Once a second: another day may have begun, and what was seen is not new any more. */
  #look() {
    const today = dayOf(new Date());
    if (today !== this.#today) {
      this.#today = today;
      this.#app.draw();
    }
    this.#news.look(this.#app.client, Date.now());
  }

  /** @param {number} way */
  #toNews(way) {
    const id = this.#news.next(way, this.#open.shown.list, item => !this.looking.hides(item));
    if (id === undefined) {
      return this.#app.toast(this.#news.count > 0 ? "What is new is filtered out." : "Nothing here is new.");
    }
    const row = this.#grid.rows.rowOf(id);
    if (row >= 0) return this.#grid.goTo(row);
    this.looking.unfold(id);
    this.#grid.arriveAt(id);
  }

  // Private: what the person does

  /**
   * What needs no item, and changes nothing in the list.
   * @type {Record<string, (() => unknown) | undefined>}
   */
  #actions = {
    back: () => this.#back(),
    fold: () => this.looking.fold(),
    foldAll: () => this.looking.foldAll(),
    filter: () => this.looking.search.focus(),
    hideTicked: () => this.looking.turn("hideTicked"),
    tickedLast: () => this.looking.turn("tickedLast"),
    mine: () => this.looking.turn("mine"),
    nextNew: () => this.#toNews(1),
    previousNew: () => this.#toNews(-1),
    history: () => this.#app.go({ list: this.name, view: "history" }),
    people: () => showPeople(this.#app, this.#open),
    notices: () => this.#notices.showAll(),
    share: () => showShare(this.#app, this.name),
    connection: () => showConnection(this.#app),
    help: () => showHelp(this.#app),
  };

  #back() {
    if (this.#grid.isSelecting) this.#grid.deselect();
    else if (this.looking.isFiltering) this.looking.endFiltering();
    else this.#app.go({});
  }
}

/** @param {string} list */
function placeOf(list) {
  return `place ${list}`;
}

/**
 * Where the person is in a list, once it is shown again.
 * @param {string} list @param {import('./grid.js').Place | undefined} place
 */
export function rememberPlace(list, place) {
  remember(placeOf(list), place);
}
