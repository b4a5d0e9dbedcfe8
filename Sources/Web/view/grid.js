// The rows of one list as a grid: which row is the current one, what is selected, and the field in a row.

import { Chunks } from "./chunks.js";
import { h, setAttribute } from "./dom.js";
import { Row } from "./row.js";
import { Rows } from "./rows.js";

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./row.js').Marks} Marks */
/** @typedef {{ id: string, top: number, hasFocus: boolean }} Place a row that is so far below the top of the window */
/** @typedef {Omit<Marks, "isSelected" | "isCurrent" | "isInTree">} OwnersMarks what the grid's owner knows of a row */

/** How long after the last scrolling the current row is looked for, in ms. */
const SCROLLED = 150;
/** What stays at the top and the bottom of the window is about so high, in CSS pixels. */
const EDGES = { top: 120, bottom: 80 };
/** For so long after others have moved the rows, in ms, whoever presses means what was there before. */
const REACTION = 500;

export class Grid {
  #chunks;
  #marksOf;
  #markedBy;
  /** @type {ReadonlySet<string>} the items that had other marks than most when marks were shown last */
  #marked = new Set();
  /** The marks of all others. */
  #common = "";
  rows = new Rows([]);
  element;
  // Its owner is told by these.
  /** Another row is the current one. */
  onmove = () => {};
  /** Marks have changed; perhaps what is selected. */
  onmark = () => {};
  /** @type {string | undefined} */
  #current;
  /** The row of the current item, for when it is gone. */
  #currentRow = 0;
  /** @type {string | undefined} where the selection of a range began */
  #anchor;
  /** @type {string[]} the items of the range: what others put between them is not selected */
  #range = [];
  /** @type {Set<string> | undefined} what was selected one by one, if that is being done */
  #picked;
  /** @type {string | undefined} the item that is to be the current one, if the person goes nowhere else meanwhile */
  #coming;
  /** @type {{ id: string, row: Row, field: Field } | undefined} */
  #editing;
  /** When others changed the rows last, if the person has not scrolled or changed them since. */
  #changedAt = -Infinity;
  /** @type {[id: string, box: DOMRect][]} the rows in sight before */
  #before = [];
  #scrolling = 0;
  #scrolled = () => {
    this.#changedAt = -Infinity;
    clearTimeout(this.#scrolling);
    this.#scrolling = setTimeout(() => this.#lookAround(), SCROLLED);
  };

  /**
   * @param {string} label @param {(id: string) => OwnersMarks} marksOf
   * @param {() => Iterable<string>} markedBy the items for which `marksOf` gives something else than for most
   */
  constructor(label, marksOf, markedBy) {
    this.#marksOf = marksOf;
    this.#markedBy = markedBy;
    this.element = h("div", { class: "grid", role: "grid", "aria-label": label, "aria-multiselectable": "true" });
    this.#chunks = new Chunks(this.element, id => this.#newRow(id));
    this.element.addEventListener("focusin", event => this.#focused(event));
    addEventListener("scroll", this.#scrolled, { passive: true });
  }

  /** The current item, if there is any. */
  get current() {
    return this.#current;
  }

  get hasFocus() {
    return this.element.contains(document.activeElement);
  }

  get isSelecting() {
    return this.#anchor !== undefined || this.isPicking;
  }

  /** Whether rows are selected one by one. */
  get isPicking() {
    return this.#picked !== undefined;
  }

  /** Whether all rows are cards, which lie side by side. */
  get isHand() {
    return this.element.classList.contains("hand");
  }

  get isEditing() {
    return this.#editing !== undefined;
  }

  /** The id of the item that is edited. */
  get edited() {
    return this.#editing?.id;
  }

  get field() {
    return this.#editing?.field;
  }

  /** @param {string} id */
  view(id) {
    const view = this.#chunks.view(id);
    return view instanceof Row ? view : undefined;
  }

  /**
   * Shows other rows. What others do does not scroll the page.
   * @param {Rows} rows
   * @param {"edit" | "view" | "others"} why the person's own edit, another way to look at the list, or what others did
   */
  show(rows, why) {
    const isOwn = why === "edit";
    const hadFocus = this.hasFocus && !this.isEditing;
    this.#bequeath(rows);
    this.rows = rows;
    const { element } = this;
    // A grid without rows is none.
    element.hidden = rows.count === 0;
    setAttribute(element, "aria-rowcount", rows.count);
    setAttribute(element, "role", rows.parts.some(({ isDeep }) => isDeep) ? "treegrid" : "grid");
    element.classList.toggle("hand", rows.count > 0 && rows.parts.every(({ isHand }) => isHand));
    this.#settle();
    this.#before = isOwn ? [] : this.#rowsInSight;
    this.#changedAt = why === "others" ? performance.now() : -Infinity;
    const keep = isOwn ? () => {} : this.#holdingPlace();
    const change = () => this.#chunks.show(rows);
    if (this.#editing) this.#editing.field.keeping(change);
    else change();
    keep();
    this.mark();
    if (hadFocus && !this.hasFocus) this.focus(isOwn);
  }

  /** Shows the marks of all rows that have any, or had. */
  mark() {
    const selected = this.#picked ?? new Set(this.isSelecting ? this.selectedIds : []);
    this.element.classList.toggle("picking", this.isPicking);
    const isInTree = this.#isInTree;
    const marked = new Set([...this.#markedBy(), ...selected, this.#current ?? ""]);
    const common = JSON.stringify([this.#marksOf(""), isInTree]);
    for (const id of common === this.#common ? new Set([...this.#marked, ...marked]) : this.#chunks.filled) {
      const isCurrent = id === this.#current;
      this.view(id)?.mark({ ...this.#marksOf(id), isInTree, isSelected: selected.has(id), isCurrent });
    }
    [this.#marked, this.#common] = [marked, common];
    this.onmark();
  }

  // The current row

  /** @param {string | undefined} id */
  setCurrent(id) {
    this.#current = id;
    this.#stretch();
    this.mark();
  }

  /**
   * What was selected has been moved, and stands together once the rows show it.
   * @param {string[]} ids in their new order
   */
  follow(ids) {
    if (this.isPicking || ids.length === 0) return this.mark();
    const [first, last] = [ids[0], ids[ids.length - 1]];
    if (this.#anchor === undefined) return this.setCurrent(first);
    const isUpwards = this.rows.rowOf(this.#current) < this.rows.rowOf(this.#anchor);
    [this.#anchor, this.#current] = isUpwards ? [last, first] : [first, last];
    this.#range = ids;
    this.mark();
  }

  /**
   * Goes up or down.
   * @param {number} count @param {boolean} [isSelecting] whether the range grows
   */
  move(count, isSelecting = false) {
    if (isSelecting && !this.isPicking) this.#anchor ??= this.#current;
    const row = this.rows.rowOf(this.#current);
    this.goTo(Math.max(0, row) + count);
  }

  /** @param {number} row */
  goTo(row) {
    const place = Math.min(Math.max(row, 0), this.rows.count - 1);
    if (place < 0) return;
    this.#current = this.rows.at(place).id;
    this.#stretch();
    this.focus();
  }

  /** The current row gets the focus. @param {boolean} [isInSight] whether the page scrolls to it */
  focus(isInSight = true) {
    const row = this.rows.rowOf(this.#current);
    if (row < 0) return;
    this.#chunks.reach(row);
    this.mark();
    const element = this.view(this.#current ?? "")?.element;
    const coming = this.#coming;
    element?.focus({ preventScroll: true });
    this.#coming = coming;
    if (isInSight) element?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Scrolls to an item, once it is drawn. Its place is only known for sure once what is around it is drawn, too.
   * @param {string} id
   */
  reveal(id, isSure = false) {
    requestAnimationFrame(() => {
      this.#chunks.reach(this.rows.rowOf(id));
      this.view(id)?.element.scrollIntoView({ block: "nearest" });
      if (!isSure) this.reveal(id, true);
    });
  }

  /**
   * An item is the current one, once it is drawn, and in sight, unless the person goes elsewhere first. What has the
   * focus elsewhere keeps it.
   * @param {string} id
   */
  arriveAt(id) {
    this.#coming = id;
    requestAnimationFrame(() => {
      if (this.#coming !== id || this.rows.rowOf(id) < 0) return;
      const { hasFocus } = this;
      if (!this.isSelecting) this.setCurrent(id);
      if (hasFocus) this.focus(false);
      this.reveal(id);
    });
  }

  /**
   * Whether others have just moved this row to where the person points, who can only have meant what was there before.
   * @param {string} id @param {{ clientX: number, clientY: number }} pointer
   */
  hasJustCome(id, { clientX, clientY }) {
    const isIn = (/** @type {DOMRect} */ { left, right, top, bottom }) =>
      left <= clientX && clientX < right && top <= clientY && clientY < bottom;
    const isSoon = performance.now() < this.#changedAt + REACTION;
    return isSoon && this.#before.find(([, box]) => isIn(box))?.[0] !== id;
  }

  /** How many rows are in sight, roughly. */
  get pageRows() {
    const [first, last] = [this.#rowIn(EDGES.top), this.#rowIn(innerHeight - EDGES.bottom)].map(row =>
      this.rows.rowOf(row?.dataset.id)
    );
    return first >= 0 && last > first ? last - first : Math.max(1, Math.floor(innerHeight / 60));
  }

  /**
   * Where the person is, if not at the beginning.
   * @returns {Place | undefined}
   */
  get place() {
    const { hasFocus } = this;
    if (!hasFocus && scrollY === 0) return undefined;
    const current = this.view(this.#current ?? "")?.element;
    const row = hasFocus || isInSight(current) ? current : this.#rowIn(innerHeight / 2);
    if (!row) return undefined;
    return { id: row.dataset.id ?? "", top: row.getBoundingClientRect().top, hasFocus };
  }

  /** @param {Place} place as the person has left it */
  goBack({ id, top, hasFocus }) {
    const row = this.rows.rowOf(id);
    if (row < 0) return;
    this.setCurrent(id);
    this.#chunks.reach(row);
    const element = this.view(id)?.element;
    if (hasFocus) element?.focus({ preventScroll: true });
    scrollBy(0, (element?.getBoundingClientRect().top ?? top) - top);
  }

  // The selection

  /** The items that are selected, or else the current one. */
  get selectedIds() {
    if (this.#picked) return [...this.#picked];
    return this.rows.those(this.#anchor === undefined ? [this.#current ?? ""] : this.#range);
  }

  /** The items of whose rows the browser has selected some text. */
  get markedIds() {
    const selection = getSelection();
    if (!selection || selection.isCollapsed) return [];
    return [...this.#chunks.filled].filter(id => selection.containsNode(this.view(id)?.element ?? this.element, true));
  }

  /** How many rows are selected. */
  get selectedCount() {
    return this.#picked ? this.#picked.size : this.isSelecting ? this.selectedIds.length : 0;
  }

  /** Rows are selected one by one from now on; those of a range are the first ones. */
  pick() {
    this.#picked ??= new Set(this.isSelecting ? this.selectedIds : []);
    this.#anchor = undefined;
    this.mark();
  }

  /**
   * Selects a row, or not any more.
   * @param {string | undefined} id
   */
  togglePick(id) {
    if (id === undefined || !this.#picked) return;
    if (!this.#picked.delete(id)) this.#picked.add(id);
    this.mark();
  }

  /** A range begins at the current row, or ends. */
  toggleRange() {
    if (this.isPicking) return this.deselect();
    this.#anchor = this.#anchor === undefined ? this.#current : undefined;
    this.#stretch();
    this.mark();
  }

  selectAll() {
    const ids = Array.from(this.rows, ({ id }) => id);
    if (this.#picked) this.#picked = new Set(ids);
    else [this.#anchor, this.#range] = [ids[0], ids];
    this.mark();
  }

  deselect() {
    this.#anchor = this.#picked = undefined;
    this.mark();
  }

  // The field

  /**
   * Puts a field into a row, in place of the text.
   * @param {string} id @param {Field} field
   */
  edit(id, field) {
    const place = this.rows.rowOf(id);
    this.#chunks.reach(place);
    const row = this.view(id);
    if (!row) return;
    this.#editing?.field.leave();
    this.endEditing();
    this.#editing = { id, row, field };
    row.field.replaceChildren(field.element, field.keys);
    field.focus();
    field.element.scrollIntoView({ block: "nearest" });
  }

  endEditing() {
    const editing = this.#editing;
    if (!editing) return;
    this.#editing = undefined;
    editing.field.close();
    editing.row.endEditing();
  }

  close() {
    removeEventListener("scroll", this.#scrolled);
    clearTimeout(this.#scrolling);
    this.endEditing();
    this.#chunks.close();
  }

  // Private

  /**
   * The row at a height of the window, if there is one.
   * @param {number} y
   */
  #rowIn(y) {
    const row = document.elementFromPoint(innerWidth / 2, y)?.closest(".row");
    return row instanceof HTMLElement && this.element.contains(row) ? row : undefined;
  }

  /** @returns {[id: string, box: DOMRect][]} from the top */
  get #rowsInSight() {
    /** @type {[id: string, box: DOMRect][]} */
    const rows = [];
    const first = scrollY < EDGES.top ? this.element.querySelector(".row") : undefined;
    let row = /** @type {Element | null | undefined} */ (this.#rowIn(EDGES.top) ?? first);
    while (row instanceof HTMLElement) {
      const box = row.getBoundingClientRect();
      if (box.top > innerHeight) break;
      rows.push([row.dataset.id ?? "", box]);
      row = row.nextElementSibling ?? row.parentElement?.nextElementSibling?.firstElementChild;
    }
    return rows;
  }

  /** While the focus is elsewhere, the current row is one that the person sees, so that keys mean what one sees. */
  #lookAround() {
    if (this.hasFocus || this.isEditing || this.#anchor !== undefined) return;
    if (isInSight(this.view(this.#current ?? "")?.element)) return;
    const id = (this.#rowIn(EDGES.top) ?? this.#rowIn(innerHeight / 2))?.dataset.id;
    if (id !== undefined) this.setCurrent(id);
  }

  /**
   * Gives what scrolls the page, if it has to, so that the rows in sight are where they were. Browsers do so only while
   * the very elements stay.
   */
  #holdingPlace() {
    if (scrollY === 0) return () => {};
    const places = this.#before.slice(0, 12);
    return () => {
      const shifts = places.flatMap(([id, { top }]) => {
        const element = this.view(id)?.element;
        return element?.isConnected ? [element.getBoundingClientRect().top - top] : [];
      });
      // A row that somebody has moved elsewhere is not followed: it goes another way than the next one.
      const shift = shifts.find((shift, i) => Math.abs(shift - shifts[i + 1]) < 1) ?? 0;
      if (Math.abs(shift) >= 1) scrollBy(0, shift);
    };
  }

  get #isInTree() {
    return this.element.getAttribute("role") === "treegrid";
  }

  /** @param {string} id */
  #newRow(id) {
    const row = new Row(id);
    row.mark({ ...this.#marksOf(id), isInTree: this.#isInTree, isSelected: false, isCurrent: id === this.#current });
    return row;
  }

  /**
   * If other rows are without the current item, the next one that is still there becomes the current one, or else the
   * previous one. What was selected and is gone is not selected any more.
   * @param {Rows} rows
   */
  #bequeath(rows) {
    this.#picked &&= new Set(rows.those([...this.#picked]));
    const row = this.rows.rowOf(this.#current);
    if (row < 0 || rows.rowOf(this.#current) >= 0) return;
    const heirs = [...this.rows.slice(row + 1, this.rows.count), ...this.rows.slice(0, row).reverse()];
    // Of those that are filtered out, it may come back.
    this.#current = heirs.find(({ id }) => rows.rowOf(id) >= 0)?.id ?? this.#current;
  }

  /** The current item is the one that it was, or else the one in its place, or the last. */
  #settle() {
    this.onmove();
    const row = this.rows.rowOf(this.#current);
    if (row >= 0) this.#currentRow = row;
    else if (this.rows.count > 0) {
      const place = Math.min(this.#currentRow, this.rows.count - 1);
      this.#current = this.rows.slice(place, place + 1)[0]?.id;
    }
    if (this.#anchor !== undefined && this.rows.rowOf(this.#anchor) < 0) this.#anchor = this.selectedIds[0];
  }

  /** The person has gone to another row: a range is from where it began to there. */
  #stretch() {
    this.#coming = undefined;
    this.#settle();
    if (this.#anchor === undefined) return;
    const [from, to] = [this.#anchor, this.#current].map(id => this.rows.rowOf(id)).sort((a, b) => a - b);
    this.#range = this.rows.slice(Math.max(0, from), to + 1).map(({ id }) => id);
  }

  /** @param {FocusEvent} event */
  #focused({ target, relatedTarget }) {
    // The person has gone there. Without one, the row that had the focus was drawn again.
    if (relatedTarget) this.#coming = undefined;
    const row = target instanceof Element ? target.closest(".row") : null;
    const id = row instanceof HTMLElement ? row.dataset.id : undefined;
    if (id === undefined || id === this.#current) return;
    // Whoever reaches for one of the selected rows means all of them.
    const isSelected = this.isSelecting && this.selectedIds.includes(id);
    this.#current = id;
    if (isSelected) this.#settle();
    else this.#stretch();
    this.mark();
  }
}

/** @param {Element | undefined} row */
function isInSight(row) {
  const box = row?.getBoundingClientRect();
  return box !== undefined && box.bottom > EDGES.top && box.top < innerHeight - EDGES.bottom;
}
