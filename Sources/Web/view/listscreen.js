// The screen of one list: its rows, what one can do with them, and what others do.

import { CARD, TASK } from "../client/item.js";
import { Composer } from "./composer.js";
import { amount, kindBeside, numeral } from "./content.js";
import { deedsOf, sentenceOf } from "./deeds.js";
import { isDialogOpen } from "./dialogs.js";
import { button, fill, h, setAttribute, setText, signButton } from "./dom.js";
import { makeDraggable } from "./drag.js";
import { Grid } from "./grid.js";
import { actionOf, roleFor } from "./keys.js";
import { ListActions } from "./listactions.js";
import { setSeen } from "./news.js";
import { NewsMarks } from "./newsmarks.js";
import { NoticeBar } from "./noticebar.js";
import { showConnection, showHelp, showListMenu, showPeople, showShare } from "./pagedialogs.js";
import { isFor } from "./row.js";
import { rowsOf } from "./rows.js";
import { SelectionBar } from "./selectionbar.js";
import { errorText, noticeOf } from "./sentences.js";
import { dayOf } from "./taskwords.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {import('../client/replica.js').Told} Told */

/** A task that was just ticked stays in its place for a moment, in ms. */
const SETTLING = 1200;
/** How often others are told where one is, in ms. */
const PLACING = 150;
/** How long after a key one hears how many items are found, in ms. */
const FINDING = 700;
const COLOURS = 6;

export class ListScreen {
  #app;
  #open;
  #grid;
  #actions;
  #composer;
  /**
   * The list that the rows show.
   * @type {List | undefined}
   */
  #shown;
  /**
   * How the person looks at it, and under which name.
   * @type {import('./rows.js').Look & { me: string } | undefined}
   */
  #looking;
  /** @type {Set<string>} */
  #folded = new Set();
  /** @type {Set<string>} */
  #held = new Set();
  #news;
  /** @type {Map<string, { name: string, isEditing: boolean, colour: number }[]>} */
  #places = new Map();
  #notices = new NoticeBar((lost, note) => {
    this.#composer.bring(lost, note);
    this.#composer.begin(undefined);
  });
  /** @type {import('./deeds.js').Followed[]} others' commits that were not told yet */
  #followed = [];
  /** @type {ReadonlySet<string>} the items that other tabs have changed */
  #theirs = new Set();
  #filter = "";
  #hidesTicked = false;
  #isTickedLast = false;
  #onlyMine = false;
  #isDrawing = false;
  #hasResumed = false;
  /** Under which name the list was opened. */
  #formerName;
  #frame = 0;
  #today = dayOf(new Date());
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #placing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #finding;
  #timer;

  // Elements

  element = h("main", { class: "list" });
  #title = h("h1", { dir: "auto", tabIndex: -1 });
  #count = h("span", { class: "count" });
  #state = h("p", { class: "empty" });
  #search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Show only items that contain" });
  #undo = signButton("↶", "Undo", () => this.perform("undo"));
  #redo = signButton("↷", "Redo", () => this.perform("redo"));
  #bar = h("div", { class: "bar" });
  #selection = new SelectionBar(action => this.perform(action), () => this.#endSelecting());
  #dealing = h("div", { class: "composer dealing", hidden: true });
  #deal = button("Deal a card", () => this.perform("deal"), { class: "primary" });
  #cards = h("span", { class: "count" });

  /** @param {App} app @param {OpenList} open */
  constructor(app, open) {
    this.#app = app;
    this.#open = open;
    this.#formerName = open.name;
    this.#grid = new Grid(open.name, id => this.#marksOf(id), () => this.#marked);
    this.#news = new NewsMarks(open, this.#grid, () => this.update());
    this.#grid.onmove = () => this.#placeSoon();
    this.#grid.onempty = () => this.#focusBottom();
    this.#grid.onmark = () => this.#drawBottom();
    this.#actions = new ListActions(app, open, this.#grid, this);
    this.#composer = new Composer({
      add: (items, place) => this.#actions.add(items, place),
      untick: item => this.#actions.untick(item),
      items: () => open.replica.view,
      usual: () => this.#usual(),
      typed: text => this.#app.client.settings.set(`composing ${open.name}`, text || undefined),
      left: () => this.#grid.focus(),
    });
    this.#composer.take(app.client.settings.get(`composing ${open.name}`) ?? "");
    this.#build();
    this.#timer = setInterval(() => this.#look(), 1000);
    this.update();
  }

  get name() {
    return this.#open.name;
  }

  get open() {
    return this.#open;
  }

  get composer() {
    return this.#composer;
  }

  get folded() {
    return this.#folded;
  }

  /**
   * Where the person is, for others.
   * @returns {import('../client/fields.js').Focus}
   */
  get focus() {
    const item = this.#grid.current;
    if (item === undefined || this.#open.replica.confirmed.indexOf(item) < 0) return { place: 0 };
    return { place: this.#grid.edited === item ? 2 : 1, item };
  }

  /** The screen is shown: the focus is at its beginning, or where one came from. */
  begin() {
    this.#title.focus({ preventScroll: true });
  }

  /** What had the focus is gone. */
  refocus() {
    if (this.#grid.isEditing) return;
    if (this.#grid.rows.count > 0) this.#grid.focus();
    else this.#focusBottom();
  }

  /** @param {string} id */
  goToItem(id) {
    const row = this.#grid.rows.rowOf(id);
    if (row >= 0) this.#grid.goTo(row);
  }

  get isTyping() {
    return this.#composer.text !== "" || this.#grid.isEditing;
  }

  /** The page is hidden: what is being typed is saved. */
  hide() {
    this.#actions.texts.save();
  }

  /** Something has changed; it is drawn with the next frame. */
  update() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    // Hidden pages have no frames.
    if (document.hidden) setTimeout(() => this.#draw());
    else this.#frame = requestAnimationFrame(() => this.#draw());
  }

  /** @param {Told} told */
  tell(told) {
    const id = "item" in told ? told.item : told.type === "kept" ? told.words.item : undefined;
    const index = id === undefined ? -1 : this.#open.replica.view.indexOf(id);
    const item = index < 0 ? undefined : this.#open.replica.view.at(index);
    if (told.type === "ended") return this.#app.ended(this.#open, told.reason);
    if (told.type === "renamed") {
      setSeen(this.#app.client, this.#formerName, undefined);
      return this.#app.go({ list: told.name });
    }
    const revision = told.type === "overridden" ? told.revision : 0;
    const author = told.type === "overridden" ? told.author : 0;
    this.#app.nameOf(this.#open, author, revision).then(who => {
      const notice = noticeOf(told, item, who);
      if (!notice) return;
      this.#app.speech.say(notice.text);
      this.#notices.add(notice);
    });
  }

  close() {
    cancelAnimationFrame(this.#frame);
    clearInterval(this.#timer);
    clearTimeout(this.#placing);
    clearTimeout(this.#finding);
    this.#actions.texts.save();
    this.#grid.close();
  }

  /** @param {string} action of `keys.js` */
  perform(action) {
    const refusal = this.#app.refusal(this.name, roleFor(action));
    if (refusal) return this.#app.speech.say(refusal), this.#app.toast(refusal);
    switch (action) {
      case "back":
        return this.#back();
      case "fold":
        return this.#fold(this.#grid.current);
      case "foldAll":
        return this.#foldAll();
      case "filter":
        return this.#search.focus();
      case "hideTicked":
        this.#hidesTicked = !this.#hidesTicked;
        return this.#looked(this.#hidesTicked ? "Ticked tasks are hidden." : "All items are shown.");
      case "tickedLast":
        this.#isTickedLast = !this.#isTickedLast;
        return this.#looked(this.#isTickedLast ? "Ticked tasks are shown last." : "Ticked tasks are in their places.");
      case "mine":
        this.#onlyMine = !this.#onlyMine;
        return this.#looked(this.#onlyMine ? "Only tasks that name you are shown." : "All items are shown.");
      case "nextNew":
        return this.#toNews(1);
      case "previousNew":
        return this.#toNews(-1);
      case "history":
        return this.#app.go({ list: this.name, view: "history" });
      case "people":
        return showPeople(this.#app, this.#open);
      case "notices":
        return this.#notices.showAll();
      case "share":
        return showShare(this.#app, this.name);
      case "connection":
        return showConnection(this.#app);
      case "help":
        return showHelp(this.#app);
      default:
        return this.#actions.perform(action);
    }
  }

  /**
   * Tasks that were just ticked stay in their places for a moment.
   * @param {string[]} ids
   */
  hold(ids) {
    if (!this.#isTickedLast) return;
    for (const id of ids) this.#held.add(id);
    setTimeout(() => {
      for (const id of ids) this.#held.delete(id);
      this.#shown = undefined;
      this.update();
    }, SETTLING);
  }

  // Private: what is built once

  #build() {
    const grid = this.#grid.element;
    makeDraggable(grid, {
      begin: id => this.#grid.setCurrent(id),
      drop: (id, target, isBelow) => this.#actions.dropBeside(id, target, isBelow),
    });
    grid.addEventListener("click", event => this.#click(event));
    grid.addEventListener("dblclick", () => this.#grid.isPicking || this.perform("edit"));
    this.element.addEventListener("keydown", event => this.#key(event));
    this.#search.addEventListener("input", () => {
      this.#filter = this.#search.value.toLowerCase();
      this.#looked();
      clearTimeout(this.#finding);
      this.#finding = setTimeout(() => this.#app.speech.say(this.#countText(this.#open.shown.list)), FINDING);
    });
    this.#search.addEventListener("keydown", event => {
      event.stopPropagation();
      if (event.key === "Escape") this.#back();
      if (event.key === "Enter") this.#grid.goTo(0);
    });
    const more = signButton("⋯", "More for this list", () => showListMenu(this));
    fill(this.#bar, this.#undo, this.#redo, this.#search, more);
    fill(this.#dealing, this.#deal, this.#cards);
    const title = h("div", { class: "title" }, this.#title, this.#count);
    fill(this.element, title, this.#bar, this.#notices.element, this.#state, grid,
      this.#composer.element, this.#dealing, this.#selection.element);
  }

  // Private: drawing

  #draw() {
    this.#isDrawing = false;
    const { subscription, shown } = this.#open;
    const view = shown.list;
    this.#theirs = shown.theirs;
    this.#places = this.#placesOfPeople();
    if (view !== this.#shown) this.#drawRows(view);
    else this.#grid.mark();
    setText(this.#title, this.name);
    setText(this.#count, this.#countText(view));
    this.#drawState(view.count);
    this.#undo.disabled = !this.#actions.mayTurn(true);
    this.#redo.disabled = !this.#actions.mayTurn(false);
    this.#composer.disable(this.#app.refusal(this.name, 2));
    this.#drawBottom();
    this.#actions.follow();
    this.#hasResumed ||= this.#actions.texts.resume();
    if (subscription.isLive) this.#news.begin(this.#app.client);
    this.#hearOthers();
    this.#app.seenNow();
  }

  /** @param {List} view */
  #drawRows(view) {
    const before = this.#grid.rows;
    const wasShown = this.#shown;
    this.#shown = view;
    const { me } = this.#app;
    if (this.#looking?.me !== me) {
      const [folded, held, isTickedLast] = [this.#folded, this.#held, this.#isTickedLast];
      this.#looking = { me, folded, held, isTickedLast, isWanted: this.#wanted() };
    }
    const rows = rowsOf(view, this.#looking);
    this.#grid.show(rows);
    if (!wasShown) return;
    for (const { id } of rows.unlike(before)) {
      if (this.#actions.isOwn(id)) continue;
      this.#grid.view(id)?.flash();
    }
    this.#actions.forgetOwn();
  }

  /** What others do is told. */
  #hearOthers() {
    const followed = this.#open.replica.takeFollowed();
    if (followed.length === 0 || document.hidden) return;
    this.#followed.push(...followed);
    this.#app.speech.tell(async () => {
      const all = this.#followed;
      this.#followed = [];
      const deeds = await Promise.all(all.map(async one =>
        deedsOf(one, await this.#app.nameOf(this.#open, one.commit.author, one.commit.revision))));
      return sentenceOf(deeds.flat());
    });
  }

  /** @returns {((item: Item) => boolean) | undefined} */
  #wanted() {
    const { me } = this.#app;
    if (this.#filter === "" && !this.#hidesTicked && !this.#onlyMine) return undefined;
    return item =>
      (this.#filter === "" || item.text.toLowerCase().includes(this.#filter)) &&
      (!this.#hidesTicked || item.kind !== TASK || item.fields().done !== true) &&
      (!this.#onlyMine || isFor(item, me));
  }

  /** @param {List} view */
  #countText(view) {
    const hidden = this.#wanted() ? `${numeral(this.#grid.rows.count)} of ` : "";
    const news = this.#news.count > 0 ? `, ${this.#news.count} new` : "";
    const role = this.#app.roleWords(this.name);
    return `${hidden}${amount(view.count, "item")}${news}${role ? ` · ${role}` : ""}`;
  }

  /** @param {number} count */
  #drawState(count) {
    const { hasCopy, subscription } = this.#open;
    const isEmpty = this.#grid.rows.count === 0;
    setAttribute(this.#state, "hidden", !isEmpty);
    if (!isEmpty) return;
    const isWaiting = !hasCopy && !subscription.isLive;
    const words = isWaiting ? this.#app.waitingWords : count > 0 ? "Nothing matches." : "The list is empty.";
    setText(this.#state, words);
  }

  /** What is at the bottom: where one types, the deck, or what one can do with what is selected. */
  #drawBottom() {
    const { rules } = this.#open.subscription;
    const { isSelecting, selectedCount } = this.#grid;
    const hasDeck = rules?.deck === true;
    const hadFocus = this.#selection.element.contains(document.activeElement);
    this.#composer.element.hidden = isSelecting || hasDeck;
    this.#dealing.hidden = isSelecting || !hasDeck;
    this.#selection.show(isSelecting, selectedCount, role => !this.#app.refusal(this.name, role));
    if (hadFocus && !isSelecting) this.refocus();
    if (!rules || !hasDeck) return;
    const { count } = this.#open.replica.view;
    const most = Math.min(52, rules.maximumCount);
    this.#deal.disabled = count >= most || this.#app.refusal(this.name, 2) !== undefined;
    setText(this.#cards, count >= most ? `The hand is full: ${amount(most, "card")}.` : `${count} of ${most}`);
  }

  /** The grid has no rows any more: the focus goes to where new items come from. */
  #focusBottom() {
    if (this.#dealing.hidden) this.#composer.begin(undefined);
    else this.#deal.focus();
  }

  #endSelecting() {
    this.#grid.deselect();
    this.#grid.focus();
  }

  /** @returns {Map<string, { name: string, isEditing: boolean, colour: number }[]>} */
  #placesOfPeople() {
    const places = new Map();
    const { people, author } = this.#open.subscription;
    for (const entry of people.here.values()) {
      if (entry.author === author || entry.item === undefined) continue;
      const one = { name: entry.person ?? "", isEditing: entry.place === 3, colour: entry.author % COLOURS };
      places.set(entry.item, [...(places.get(entry.item) ?? []), one]);
    }
    return places;
  }

  /**
   * @param {string} id
   * @returns {import('./grid.js').OwnersMarks}
   */
  #marksOf(id) {
    return {
      isFolded: this.#folded.has(id),
      news: this.#news.of(id),
      people: this.#places.get(id) ?? [],
      isWaiting: this.#actions?.waiting.has(id) || this.#theirs.has(id),
      me: this.#app.me,
      today: this.#today,
    };
  }

  /**
   * The items that have other marks than most, some of them more than once.
   * @returns {string[]}
   */
  get #marked() {
    return [...this.#folded, ...this.#news.ids, ...this.#places.keys(), ...this.#actions.waiting, ...this.#theirs];
  }

  /** Others see where one is, soon after one has gone there. */
  #placeSoon() {
    this.#placing ??= setTimeout(() => {
      this.#placing = undefined;
      if (this.#open.subscription.isLive) this.#app.place(this.#open);
    }, PLACING);
  }

  // Private: what is new

  /** Once a second: another day may have begun, and what was seen is not new any more. */
  #look() {
    const today = dayOf(new Date());
    if (today !== this.#today) {
      this.#today = today;
      this.update();
    }
    this.#news.look(this.#app.client, Date.now());
  }

  /** @param {number} way */
  #toNews(way) {
    const row = this.#news.next(way);
    if (row === undefined) this.#app.toast("Nothing here is new.");
    else this.#grid.goTo(row);
  }

  // Private: what the person does

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (isDialogOpen() || event.defaultPrevented) return;
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const isInGrid = this.#grid.hasFocus;
    if (event.key === "Escape" && target && this.#selection.element.contains(target)) return this.#endSelecting();
    // A key of the grid is no key where one writes, and buttons have keys of their own.
    if (!isInGrid && target !== document.body && target !== this.#title) return;
    if (this.#app.ignores(event)) return;
    const isButton = target?.matches("button, a") === true;
    if (isButton && (event.key === "Enter" || event.key === " ")) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") return this.#sideways(event);
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    // From elsewhere, the first step is into the grid.
    if (!isInGrid && (action === "down" || action === "up")) return this.#grid.focus();
    if (action === "tick" && this.#grid.isPicking) return this.#grid.togglePick(this.#grid.current);
    this.perform(action);
  }

  /**
   * Left and right go through what a row has.
   * @param {KeyboardEvent} event
   */
  #sideways(event) {
    const row = this.#grid.view(this.#grid.current ?? "")?.element;
    if (this.#grid.isHand && !event.altKey) {
      event.preventDefault();
      return this.perform(event.key === "ArrowRight" ? "down" : "up");
    }
    if (!row || event.altKey) {
      const action = actionOf(event);
      if (action) event.preventDefault();
      return action && this.perform(action);
    }
    const inside = /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll("button, input, a"));
    const parts = [row, ...inside].filter(part => !part.hidden);
    const at = parts.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    event.preventDefault();
    parts[Math.min(Math.max(at + (event.key === "ArrowRight" ? 1 : -1), 0), parts.length - 1)]?.focus();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const target = event.target instanceof Element ? event.target : undefined;
    const row = target?.closest(".row");
    const id = row instanceof HTMLElement ? row.dataset.id : undefined;
    if (!target || id === undefined || target.closest(".field")) return;
    if (this.#grid.isPicking) {
      event.preventDefault();
      this.#grid.setCurrent(id);
      return this.#grid.togglePick(id);
    }
    if (event.shiftKey) {
      if (!this.#grid.isSelecting) this.#grid.toggleRange();
    } else this.#grid.deselect();
    this.#grid.setCurrent(id);
    if (target.matches("input")) {
      event.preventDefault();
      // The box shows what the list says, not what the browser would.
      setTimeout(() => this.perform("tick"));
    } else if (target.closest(".fold")) this.#fold(id);
    else if (target.closest(".more")) this.perform("open");
    else if (target.closest(".text") && !target.closest("a") && !event.shiftKey && isTouched()) this.perform("edit");
    else if (!target.closest("a")) this.#grid.focus();
  }

  #back() {
    if (this.#grid.isSelecting) return this.#grid.deselect();
    if (this.#wanted()) {
      this.#filter = this.#search.value = "";
      this.#hidesTicked = this.#onlyMine = false;
      this.#looked();
      return this.#grid.focus();
    }
    this.#app.go({});
  }

  /**
   * The person looks at the list in another way.
   * @param {string} [said]
   */
  #looked(said) {
    this.#shown = this.#looking = undefined;
    this.update();
    if (said) this.#app.toast(said);
  }

  /** @param {string | undefined} id */
  #fold(id) {
    if (id === undefined || !this.#grid.rows.isParent(id)) return;
    if (!this.#folded.delete(id)) this.#folded.add(id);
    this.#looked();
  }

  #foldAll() {
    if (this.#folded.size > 0) this.#folded.clear();
    else for (const { id } of this.#grid.rows.parents) this.#folded.add(id);
    this.#looked();
  }

  /** What a line becomes here. */
  #usual() {
    const { rules } = this.#open.subscription;
    const { view } = this.#open.replica;
    const last = view.count > 0 ? view.at(view.count - 1) : undefined;
    return {
      kind: kindBeside(last?.kind === CARD ? undefined : last, rules),
      most: rules?.maximumLevel ?? 0,
      largest: rules?.maximumSize ?? Infinity,
    };
  }
}

/** Whether the person points with a finger. */
function isTouched() {
  return matchMedia("(pointer: coarse)").matches;
}
