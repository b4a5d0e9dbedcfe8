// What is at the bottom of a list: where one types, the deck, or what one can do with what is selected, without a
// keyboard.

import { CARD } from "../client/item.js";
import { isSameList } from "../client/replica.js";
import { Composer } from "./composer.js";
import { amount, kindBeside, numeral } from "./content.js";
import { openMenu } from "./dialogs.js";
import { button, h, setText } from "./dom.js";
import { roleFor } from "./keys.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./keys.js').ActionName} ActionName */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/client.js').OpenList} OpenList */

/** How long a letter may wait until it is kept, in ms: the next ones are kept with it. */
const KEEPING = 300;
/** How long a tab may seem to have ended while it is loaded anew, in ms. */
const TAKING = 3000;

export class Bottom {
  #app;
  #open;
  #grid;
  #screen;
  /** Where new items are typed. */
  composer;
  #count = h("span", { class: "selected", role: "status" });
  /** @type {[HTMLButtonElement, ActionName][]} */
  #buttons;
  #selection;
  #deal;
  #cards = h("span", { class: "count" });
  #dealing;
  #keeping = 0;
  #taking = 0;
  #isClosed = false;
  /** The list for which the person has typed. */
  #typedIn;
  elements;

  /** @param {App} app @param {OpenList} open @param {Grid} grid @param {ListScreen} screen */
  constructor(app, open, grid, screen) {
    this.#app = app;
    this.#open = open;
    this.#grid = grid;
    this.#screen = screen;
    this.#typedIn = this.#list;
    this.composer = new Composer({
      add: (items, place) => screen.actions.add(items, place),
      untick: item => screen.actions.untick(item),
      mayUntick: () => !this.#refuses(3),
      items: () => open.replica.view,
      usual: place => this.#usual(place),
      typed: text => {
        this.#typedIn = this.#list;
        this.#keeping ||= setTimeout(() => this.keep(), KEEPING);
        // What has been added is no draft any more.
        if (text === "") this.keep();
      },
      left: () => grid.focus(),
    });
    const act = (/** @type {ActionName} */ action) => () => screen.perform(action);
    const move = () => {
      const perform = screen.actions.later();
      const entry = (/** @type {string} */ name, /** @type {ActionName} */ action) =>
        /** @type {[string, () => void]} */ ([name, () => perform(action)]);
      openMenu("Move what is selected", [
        entry("Up", "moveUp"), entry("Down", "moveDown"), entry("To the top", "moveTop"),
        entry("To the end", "moveEnd"), entry("To a number…", "moveTo"),
        ...(open.most > 0 ? [entry("Further in", "indent"), entry("Further out", "outdent")] : []),
        entry("To another list…", "toList"), entry("Copy to another list…", "copyToList"),
      ]);
    };
    this.#buttons = [
      [button("Tick", act("tick")), "tick"], [button("Move…", move), "moveUp"], [button("Cut", act("cut")), "cut"],
      [button("Copy", act("copy")), "copy"], [button("Delete", act("delete"), { class: "grave" }), "delete"],
    ];
    this.#selection = h("div", { class: "selection", role: "group", "aria-label": "What is selected", hidden: true },
      this.#count, button("Done", () => this.#endSelecting(), { class: "primary" }),
      h("div", { class: "buttons" }, ...this.#buttons.map(([element]) => element)));
    this.#selection.addEventListener("keydown", event => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.#endSelecting();
    });
    this.#deal = button("Deal a card", act("deal"), { class: "primary" });
    this.#dealing = h("div", { class: "composer dealing", hidden: true }, this.#deal, this.#cards);
    this.elements = [this.composer.element, this.#dealing, this.#selection];
  }

  draw() {
    if (this.#taking === 0 && this.#open.hasCopy) {
      this.#take();
      // The browser may say a little later that a tab has ended.
      let tries = 0;
      this.#taking = setInterval(() => {
        if (this.composer.text === "") void this.#take(true);
        if (++tries === 2) clearInterval(this.#taking);
      }, TAKING);
    }
    this.composer.follow();
    const { rules } = this.#open.subscription;
    const { isSelecting } = this.#grid;
    const hasDeck = rules?.deck === true;
    const hadFocus = !this.#selection.hidden && this.#selection.contains(document.activeElement);
    // What was typed elsewhere, and lost its place there, is shown in any list.
    this.composer.element.hidden = isSelecting || (this.#open.takesOnlyCards && this.composer.text === "");
    this.#dealing.hidden = isSelecting || !hasDeck;
    this.#drawSelection();
    if (hadFocus && !isSelecting) this.#screen.refocus();
    if (!rules || !hasDeck) return;
    const { count } = this.#open.replica.view;
    const most = Math.min(52, rules.maximumCount);
    this.#deal.disabled = count >= most || this.#refuses(2);
    setText(this.#cards, count >= most ? `The hand is full: ${amount(most, "card")}.` : `${count} of ${most}`);
  }

  /** What was typed is kept on the device. Without new letters, what another tab keeps stays. */
  keep() {
    if (this.#keeping === 0) return;
    clearTimeout(this.#keeping);
    this.#keeping = 0;
    this.#app.client.drafts.keep(this.#typedIn, this.composer.text);
  }

  /** @param {string} former name of the list */
  renamed(former) {
    this.#app.client.drafts.keep({ ...this.#list, name: former }, "");
    this.#app.client.drafts.keep(this.#list, this.composer.text);
  }

  close() {
    this.#isClosed = true;
    clearInterval(this.#taking);
    this.keep();
  }

  // Private

  /** The list as it is called now: another one may get its name while one is away. */
  get #list() {
    return { name: this.#open.name, log: this.#open.replica.log };
  }

  /** What was being typed when the page was loaded anew, or in a tab that has ended. */
  async #take(isSecondLook = false) {
    const list = this.#list;
    const text = await this.#app.client.drafts.take(list, this.composer.text, isSecondLook);
    if (text !== "" && isSameList(list.log, this.#list.log) && !this.#isClosed) this.composer.bring(text);
  }

  #drawSelection() {
    const { isSelecting, selectedCount: count } = this.#grid;
    this.#selection.hidden = !isSelecting;
    if (!isSelecting) return setText(this.#count, "");
    const hidden = count > 0 ? this.#screen.actions.selectedCount - count : 0;
    const also = hidden > 0 ? `, and ${numeral(hidden)} folded below` : "";
    setText(this.#count, count === 0 ? "Tap the items that you want." : `${amount(count, "item")} selected${also}`);
    for (const [element, action] of this.#buttons) element.disabled = count === 0 || this.#refuses(roleFor(action));
  }

  /** @param {number} role */
  #refuses(role) {
    return this.#app.refusal(this.#open, role) !== undefined;
  }

  #endSelecting() {
    this.#grid.deselect();
    this.#grid.focus();
  }

  /**
   * What a line becomes beside a place, or at the end.
   * @param {import('./composer.js').Place} [place]
   */
  #usual(place) {
    const { rules } = this.#open.subscription;
    const { view } = this.#open.replica;
    const index = place ? view.indexOf(place.id) : -1;
    const beside = view.count > 0 ? view.at(index < 0 ? view.count - 1 : index) : undefined;
    return {
      kind: kindBeside(beside?.kind === CARD ? undefined : beside, rules),
      kinds: rules?.kinds,
      most: this.#open.most,
      largest: rules?.maximumSize ?? Infinity,
    };
  }
}
