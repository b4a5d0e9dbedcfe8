// Where new items are typed: a line at the bottom of the list, which stays there. Several lines that are pasted become
// several items. What the list has already is offered, so that nothing comes twice.

import { bytesOf } from "../client/bytes.js";
import { TASK } from "../client/item.js";
import { lineOf, nameOf, shortened, written, writtenLines } from "./content.js";
import { button, fill, fitHeight, h, setAttribute, setText } from "./dom.js";
import { save } from "./pagedialogs.js";
import { tooLong } from "./sentences.js";

/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {import('./content.js').Written} Written */
/** @typedef {{ id: string, isAbove: boolean, line: string }} Place beside which item new ones come */
/** @typedef {{ kind: number, kinds?: readonly number[], most: number, largest: number }} Usual */
/**
 * What the composer asks of its list.
 * @typedef {object} Owner
 * @property {(items: Written[], place: Place | undefined) => Item | undefined} add gives the last new item, or nothing
 *   if it cannot be
 * @property {(item: Item) => boolean} untick false if it cannot be
 * @property {() => boolean} mayUntick
 * @property {() => List} items
 * @property {(place?: Place) => Usual} usual what a line becomes beside a place or at the end, and how large it may be
 * @property {(text: string) => void} typed
 * @property {() => void} left
 */

const MOST_OFFERS = 4;
/**
 * A longer text is added at once when it is pasted, and saved as a file if it comes back: browsers take minutes to show
 * 100,000 lines in a field.
 */
const MOST_SHOWN = 100_000;
/** How long after the last letter something is offered, in ms; and how many items are searched without a pause. */
const OFFERING = 150;
const SEARCHED = 500;

export class Composer {
  #owner;
  /** @type {Place | undefined} */
  #place;
  /** Whether the text becomes one item, however many lines it has. */
  #isOne = false;
  /** Whether the note says so of the text. */
  #isTooLong = false;
  #offering = 0;
  #input = h("textarea", {
    rows: 1, dir: "auto", placeholder: "Add an item", "aria-label": "New item", id: "composer",
  });
  #offers = h("div", { class: "offers" });
  #note = h("p", { class: "note", role: "status" });
  #add = h("button", { type: "submit", class: "primary" }, "Add");
  element;

  /** @param {Owner} owner */
  constructor(owner) {
    this.#owner = owner;
    this.#input.enterKeyHint = "send";
    this.element = h(
      "form",
      { class: "composer", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#submit()) },
      this.#note,
      this.#offers,
      h("div", { class: "line" }, this.#input, this.#add),
    );
    this.#input.addEventListener("input", event => {
      this.#fit();
      if (this.#isTooLong) this.say("");
      this.#isOne &&= this.text !== "";
      if (!(/** @type {InputEvent} */ (event).isComposing)) this.#offerSoon();
      owner.typed(this.#input.value);
    });
    this.#input.addEventListener("keydown", event => this.#key(event));
    this.#input.addEventListener("paste", event => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (text.length <= MOST_SHOWN) return;
      event.preventDefault();
      this.#submit(this.text + text);
    });
  }

  get text() {
    return this.#input.value;
  }

  /**
   * New items come beside this one, until that is left off.
   * @param {Place | undefined} place
   */
  begin(place) {
    this.#place = place;
    this.say("");
    this.#input.focus();
  }

  /**
   * A text that was typed elsewhere, or before.
   * @param {string} text @param {string} [note]
   */
  take(text, note = "") {
    this.#input.value = text;
    if (text !== "") this.element.hidden = false;
    this.#isOne = false;
    this.#fit();
    setText(this.#note, note);
  }

  /**
   * A text that would be lost elsewhere. What is being typed stays.
   * @param {string} text @param {string} [note] @param {boolean} [isOne] whether it is the text of one item
   */
  bring(text, note, isOne = false) {
    if (text.length > MOST_SHOWN) return save(text);
    const isAlone = this.text.trim() === "";
    const { selectionStart, selectionEnd } = this.#input;
    this.take(isAlone ? text : `${this.text}\n${text}`, note);
    this.#isOne = isOne && isAlone;
    // One goes on typing where one was.
    if (!isAlone) this.#input.setSelectionRange(selectionStart, selectionEnd);
    this.#owner.typed(this.text);
  }

  /**
   * New items for the lines of a text. Gives the last one; nothing if they cannot be, and then it says why.
   * @param {string} text @param {Place | undefined} place
   */
  addLines(text, place) {
    const { kind, kinds, most } = this.#owner.usual(place);
    return this.#put(writtenLines(text, kind, most, kinds), place);
  }

  /** The item beside which new ones were to come may have gone: then they come at the end. */
  follow() {
    if (!this.#place || this.#owner.items().indexOf(this.#place.id) >= 0) return;
    this.#place = undefined;
    this.say("");
  }

  /** @param {string} note why something cannot be added, or what one can do */
  say(note) {
    this.#isTooLong = false;
    const where = this.#place && `Adds ${this.#place.isAbove ? "above" : "below"} “${this.#place.line}”.`;
    fill(
      this.#note,
      note || where,
      where && !note ? button("At the end instead", () => this.begin(undefined), { class: "quiet" }) : undefined,
    );
  }

  /** @param {string | undefined} reason why nothing can be added */
  disable(reason) {
    // A disabled field would lose the focus for good, although the reason may pass.
    const isRefused = reason !== undefined;
    if (this.#input.readOnly !== isRefused && this.text !== "") this.say(reason ?? "");
    this.#input.readOnly = this.#add.disabled = isRefused;
    setAttribute(this.#input, "placeholder", reason ?? "Add an item");
  }

  // Private

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "Escape") {
      event.preventDefault();
      clearTimeout(this.#offering);
      this.#place = undefined;
      this.say("");
      fill(this.#offers);
      this.#owner.left();
    }
  }

  #submit(text = this.text) {
    if (this.#input.readOnly) return this.say(this.#input.placeholder);
    const { kind, kinds } = this.#owner.usual(this.#place);
    const isOne = (this.#isOne || !text.includes("\n")) && text.trim() !== "";
    const last = isOne ? this.#put([written(this.#isOne ? text : text.trim(), kind, kinds)], this.#place)
      : this.addLines(text, this.#place);
    if (!last) return;
    // The next one comes below this one.
    if (this.#place) this.#place = { id: last.id, isAbove: false, line: nameOf(last) };
    this.take("");
    this.say("");
    fill(this.#offers);
    this.#owner.typed("");
    this.#input.focus();
  }

  /** @param {Written[]} items @param {Place | undefined} place */
  #put(items, place) {
    const { largest } = this.#owner.usual();
    const size = items.reduce((most, item) => Math.max(most, bytesOf(item.text).length), 0);
    if (size > largest) {
      this.say(tooLong(size, largest));
      this.#isTooLong = true;
      return undefined;
    }
    return items.length > 0 ? this.#owner.add(items, place) : undefined;
  }

  /** A key does not wait for the search through the list. */
  #offerSoon() {
    clearTimeout(this.#offering);
    this.#offering = setTimeout(() => this.#offer(this.#owner.items(), 0, []), OFFERING);
  }

  /**
   * Offers items of the list whose text begins so; a ticked one can be unticked instead.
   * @param {List} items @param {number} from @param {Item[]} found so far
   */
  #offer(items, from, found) {
    const text = this.#input.value.trim().toLowerCase();
    if (text.length < 2 || text.includes("\n")) return fill(this.#offers);
    for (const item of items.slice(from, from + SEARCHED)) {
      if (item.kind === TASK && item.text.toLowerCase().startsWith(text)) found.push(item);
      if (found.length === MOST_OFFERS) break;
    }
    const next = from + SEARCHED;
    if (found.length < MOST_OFFERS && next < items.count) {
      this.#offering = setTimeout(() => this.#offer(items, next, found));
    } else fill(this.#offers, ...found.map(item => this.#offerOf(item)));
  }

  /** @param {Item} item */
  #offerOf(item) {
    const isDone = item.fields().done === true && this.#owner.mayUntick();
    const name = isDone ? `Untick “${shortened(item.text)}”` : `“${shortened(item.text)}” is in the list`;
    return button(name, () => {
      fill(this.#offers);
      this.#input.focus();
      // Somebody may have deleted it.
      if (this.#owner.items().indexOf(item.id) < 0) return;
      if (isDone && !this.#owner.untick(item)) return;
      this.take("");
      this.#owner.typed("");
    }, { class: "offer", title: lineOf(item) });
  }

  #fit() {
    fitHeight(this.#input);
  }
}
