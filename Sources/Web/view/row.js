// One row: an item, what one can do with it, and what others do there.

import { CARD, HEADING, LINK, TASK } from "../client/item.js";
import { textOf } from "../client/bytes.js";
import { cardOf, kindName, nameOf, safeAddress } from "./content.js";
import { fill, h, setAttribute, setText } from "./dom.js";
import { isNamed, partsOf } from "./taskwords.js";

/** @typedef {import('../client/item.js').Item} Item */
/**
 * What a row shows besides its item.
 * @typedef {object} Marks
 * @property {boolean} isSelected
 * @property {boolean} isCurrent the one row of the grid that the tab key reaches
 * @property {string} [hidden] what is folded beneath it
 * @property {boolean} isInTree whether any row has a level: only then rows may tell theirs
 * @property {boolean} isFolded
 * @property {"new" | "changed" | undefined} news
 * @property {{ name: string, isEditing: boolean, colour: number }[]} people who are there
 * @property {boolean} isWaiting whether only this device has the item as it is
 * @property {string} me one's own name: what names oneself is marked
 * @property {string} today as `2026-12-01`: what is due is marked
 */

/** How long one sees that an item has changed, in ms. */
const FLASH = 1600;

export class Row {
  /** @type {Item | undefined} */
  #item;
  #level = -1;
  #isParent = false;
  #isInTree = false;
  #marks = "";
  #isFolded = false;
  #me = "";
  #today = "";
  #flashing = 0;
  element;
  #fold = h("button", { type: "button", class: "fold sign", tabIndex: -1, hidden: true });
  #tick = h("input", { type: "checkbox", tabIndex: -1 });
  #text = h("div", { class: "text", dir: "auto" });
  #where = h("span", { class: "where" });
  #field = h("div", { role: "gridcell", class: "content" }, this.#text, this.#where);
  #more = h("button", { type: "button", class: "more sign", tabIndex: -1 }, "⋮");

  /** @param {string} id */
  constructor(id) {
    const grip = h("span", { class: "grip", "aria-hidden": "true", title: "Drag to move" }, "⠿");
    const start = h("div", { role: "gridcell", class: "start" }, grip, this.#fold, this.#tick);
    const end = h("div", { role: "gridcell", class: "end" }, this.#more);
    this.element = h("div", { role: "row", class: "row", tabIndex: -1 }, start, this.#field, end);
    this.element.dataset.id = id;
  }

  /** The cell where the text is, for a field. */
  get field() {
    return this.#field;
  }

  get item() {
    return this.#item;
  }

  /** Shows the text again, after a field. */
  endEditing() {
    fill(this.#field, this.#text, this.#where);
  }

  /** @param {Item} item @param {number} level @param {boolean} isParent */
  show(item, level, isParent) {
    if (item !== this.#item) this.#showItem(item);
    if (level !== this.#level) {
      this.#level = level;
      this.element.style.setProperty("--level", String(level));
      this.#showLevel();
    }
    if (isParent !== this.#isParent) {
      this.#isParent = isParent;
      this.#showFold();
    }
  }

  /** @param {Marks} marks */
  mark(marks) {
    const key = JSON.stringify(marks);
    if (key === this.#marks) return;
    this.#marks = key;
    const { element } = this;
    setAttribute(element, "aria-selected", String(marks.isSelected));
    this.#isInTree = marks.isInTree;
    this.#showLevel();
    element.tabIndex = marks.isCurrent ? 0 : -1;
    element.classList.toggle("new", marks.news === "new");
    element.classList.toggle("changed", marks.news === "changed");
    element.classList.toggle("waiting", marks.isWaiting);
    if (marks.me !== this.#me || marks.today !== this.#today) {
      this.#me = marks.me;
      this.#today = marks.today;
      if (this.#item) this.#showText(this.#item);
    }
    if (marks.isFolded !== this.#isFolded) {
      this.#isFolded = marks.isFolded;
      this.#showFold();
    }
    const people = marks.people.map(({ name, isEditing, colour }) =>
      h("span", {
        class: `person colour${colour}`, dir: "auto", title: isEditing ? `${name}, editing` : name,
      }, isEditing ? "✎ " : "", name));
    const words = [marks.hidden, marks.news, marks.isWaiting ? "not sent yet" : undefined].filter(
      word => word !== undefined,
    );
    fill(this.#where, ...words.map(word => h("span", { class: "news" }, word)), ...people);
    const there = marks.people.map(({ name, isEditing }) => `${name} is ${isEditing ? "editing" : "here"}`);
    setAttribute(element, "aria-description", [...words, ...there].join(", ") || undefined);
  }

  /** Somebody else has changed the item: one sees it for a moment. */
  flash() {
    this.element.classList.add("flash");
    clearTimeout(this.#flashing);
    this.#flashing = setTimeout(() => this.element.classList.remove("flash"), FLASH);
  }

  // Private

  /** @param {Item} item */
  #showItem(item) {
    this.#item = item;
    const { done } = item.fields();
    const { kind } = item;
    this.#tick.hidden = kind !== TASK;
    this.#tick.checked = done === true;
    setAttribute(this.#tick, "aria-label", `Done: ${nameOf(item)}`);
    this.element.classList.toggle("done", done === true);
    this.element.classList.toggle("section", kind === HEADING);
    this.element.classList.toggle("card", kind === CARD);
    setAttribute(this.#more, "aria-label", `Actions for ${nameOf(item)}`);
    this.#showText(item);
  }

  /** @param {Item} item */
  #showText(item) {
    const { card, url } = item.fields();
    const { kind } = item;
    this.element.classList.toggle("mine", isFor(item, this.#me));
    if (kind === CARD) this.#showCard(card ?? 0);
    else if (kind === LINK) this.#showLink(item.text, textOf(url ?? new Uint8Array(0)));
    else if (kind === HEADING) setText(this.#text, item.text.replace(/^#{1,6} /, ""));
    else if (kind === TASK) this.#showTask(item.text, item.fields().done === true);
    else if (item.fields().text) setText(this.#text, item.text);
    else setText(this.#text, `${kindName(kind)}, of ${item.content.length} bytes`);
    setAttribute(this.element, "aria-label", this.#labelOf(item));
  }

  /**
   * What a screen reader says of the row, instead of the names of all its parts.
   * @param {Item} item
   */
  #labelOf(item) {
    const { done, text } = item.fields();
    if (item.kind === CARD || !text) return nameOf(item);
    if (item.kind === HEADING) return `${item.text.replace(/^#{1,6} /, "")}, heading`;
    if (item.kind === LINK) return `${item.text}, link`;
    if (item.kind !== TASK) return item.text;
    const words = partsOf(item.text)
      .map(({ text, due }) => text + (due === undefined || done ? "" : this.#spokenDay(due)));
    return `${words.join("")}, ${done ? "ticked" : "not ticked"}`;
  }

  /** @param {string} day */
  #spokenDay(day) {
    return day < this.#today ? " overdue" : day === this.#today ? " today" : "";
  }

  /** @param {string} text @param {boolean} isDone */
  #showTask(text, isDone) {
    fill(this.#text, ...partsOf(text).map(part => {
      if (part.person !== undefined) {
        return h("span", { class: isNamed(this.#me, part.text) ? "named me" : "named" }, part.text);
      }
      if (part.due === undefined) return part.text;
      const state = isDone || part.due > this.#today ? "later" : part.due < this.#today ? "overdue" : "today";
      return h("span", { class: `due ${state}` }, part.text);
    }));
  }

  /** @param {number} card */
  #showCard(card) {
    if (card === 0) {
      return fill(this.#text, h("span", { class: "face back", role: "img", "aria-label": "a card face down" }));
    }
    const { name, short, sign, isRed } = cardOf(card);
    const face = h(
      "span",
      { class: `face${isRed ? " red" : ""}`, role: "img", "aria-label": name },
      h("b", {}, short),
      sign,
    );
    fill(this.#text, face);
  }

  /** @param {string} text @param {string} url */
  #showLink(text, url) {
    const address = safeAddress(url);
    const name = text === "" ? url : text;
    if (!address) return fill(this.#text, name, h("span", { class: "address" }, url));
    const link = h("a", { href: address, target: "_blank", rel: "noopener noreferrer", tabIndex: -1 }, name);
    fill(this.#text, link, name === url ? undefined : h("span", { class: "address" }, url));
  }

  #showLevel() {
    setAttribute(this.element, "aria-level", this.#isInTree && this.#level >= 0 && this.#level + 1);
  }

  #showFold() {
    this.#fold.hidden = !this.#isParent;
    setText(this.#fold, this.#isFolded ? "▸" : "▾");
    setAttribute(this.#fold, "aria-label", this.#isFolded ? "Unfold" : "Fold");
    setAttribute(this.element, "aria-expanded", this.#isParent ? String(!this.#isFolded) : undefined);
  }
}

/**
 * Whether a task names somebody, as `@bob`.
 * @param {Item} item @param {string} name
 */
export function isFor(item, name) {
  return item.kind === TASK && isNamed(name, item.text);
}
