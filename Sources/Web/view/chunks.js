// Rows of a long list as elements: in chunks, of which only those are filled that are near what one sees, if the list
// is long. Short lists are filled as a whole, so that the browser finds every text in them.

import { setAttribute } from "./dom.js";

/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('./rows.js').Part} Part */
/** @typedef {import('./rows.js').Rows} Rows */
/**
 * A row as an element.
 * @typedef {object} RowView
 * @property {HTMLElement} element
 * @property {(item: Item, level: number, isParent: boolean) => void} show
 */

const MOST_FILLED = 5000;
/** How high a row is before it was ever drawn, in CSS pixels. */
const ROW_HEIGHT = 44;
/** How many chunks that nobody sees are filled at a time. */
const AT_ONCE = 4;

/** Some neighbouring rows. */
class Chunk {
  element = document.createElement("div");
  /** @type {Part} */
  part;
  start = 0;
  isNear = false;
  isFilled = false;
  isDirty = true;
  /** How high its place is while it is not filled, for so many rows. */
  height = 0;
  reserved = 0;
  /** The first row when the rows were numbered last. */
  numbered = -1;

  /** @param {Part} part */
  constructor(part) {
    this.element.className = "chunk";
    this.part = part;
  }

  /**
   * The chunk has these rows.
   * @param {Part} part
   */
  take(part) {
    if (part === this.part) return;
    const { items, levels, parents } = this.part;
    this.isDirty ||= items.length !== part.count || items.some((item, i) => item !== part.items[i] ||
      levels[i] !== part.levels[i] || parents[i] !== part.parents[i]);
    this.part = part;
  }
}

export class Chunks {
  #container;
  #newRow;
  /** @type {Chunk[]} */
  #chunks = [];
  /** @type {Map<string, RowView>} */
  #views = new Map();
  /** @type {Element[]} rows that were taken away, perhaps to be elsewhere */
  #gone = [];
  #count = 0;
  #isFilling = false;
  #numbering = 0;
  #watcher;

  /** @param {HTMLElement} container @param {(id: string) => RowView} newRow */
  constructor(container, newRow) {
    this.#container = container;
    this.#newRow = newRow;
    this.#watcher = new IntersectionObserver(entries => this.#watch(entries), { rootMargin: "1200px 0px" });
  }

  /**
   * The row of an item, if it is filled.
   * @param {string} id
   */
  view(id) {
    return this.#views.get(id);
  }

  /** The items whose rows are filled. */
  get filled() {
    return this.#views.keys();
  }

  /**
   * Shows other rows. Chunks that stay the same are not touched. O(chunks), and the rows of those that change
   * @param {Rows} rows
   */
  show(rows) {
    this.#count = rows.count;
    const focused = document.activeElement?.closest(".row");
    const row = focused && this.#container.contains(focused) ? rows.rowOf(idOf(focused)) : -1;
    this.#deal(rows.parts);
    // The row that has the focus stays an element, wherever others move it.
    const chunk = this.#chunkOf(row);
    if (chunk) chunk.isNear = true;
    this.#fill();
  }

  /**
   * Fills the chunk of a row, which is then an element.
   * @param {number} row
   */
  reach(row) {
    const chunk = this.#chunkOf(row);
    if (!chunk) return;
    chunk.isNear = true;
    this.#fill();
  }

  close() {
    clearTimeout(this.#numbering);
    this.#watcher.disconnect();
  }

  // Private

  /** @param {number} row */
  #chunkOf(row) {
    return this.#chunks.find(({ start, part }) => row >= start && row < start + part.count);
  }

  /**
   * Each part has the chunk that it had, or else the one in its place, if that has lost its part.
   * @param {readonly Part[]} parts
   */
  #deal(parts) {
    const old = this.#chunks;
    const former = old.map(({ part }) => part);
    const there = new Set(parts);
    const places = new Map(old.map(({ part }, place) => [part, place]));
    /** @type {Chunk[]} */
    const chunks = [];
    let [next, start] = [0, 0];
    for (const part of parts) {
      let place = places.get(part) ?? -1;
      if (place < next && next < old.length && !there.has(old[next].part)) place = next;
      const chunk = place < next ? this.#insert(part, chunks[chunks.length - 1]) : old[place];
      // What was in sight still is, if somebody adds an item and a full part becomes two.
      const isSplit = place < next && next > 0 && former[next - 1].indexOf(part.items[0].id) >= 0;
      if (isSplit) chunk.isNear = old[next - 1].isNear || old[next - 1].isFilled;
      for (; next < place; next++) this.#drop(old[next]);
      next = Math.max(next, place + 1);
      chunk.take(part);
      chunk.start = start;
      start += part.count;
      chunks.push(chunk);
    }
    for (; next < old.length; next++) this.#drop(old[next]);
    this.#chunks = chunks;
  }

  /** @param {Part} part @param {Chunk | undefined} above */
  #insert(part, above) {
    const chunk = new Chunk(part);
    if (above) above.element.after(chunk.element);
    else this.#container.prepend(chunk.element);
    this.#watcher.observe(chunk.element);
    return chunk;
  }

  /** @param {Chunk} chunk */
  #drop({ element }) {
    this.#watcher.unobserve(element);
    this.#gone.push(...element.children);
    element.remove();
  }

  #fill() {
    const isLong = this.#count > MOST_FILLED;
    const dirty = this.#chunks.filter(chunk => {
      const isWanted = chunk.isNear || !isLong || (chunk.isFilled && chunk.element.contains(document.activeElement));
      if (isWanted && (chunk.isNear || chunk.isFilled)) return chunk.isDirty || !chunk.isFilled;
      if (!isWanted && chunk.isFilled) this.#empty(chunk);
      if (!chunk.isFilled) this.#reserve(chunk);
      return false;
    });
    // What goes is taken away first, so that what stays need not move.
    for (const { element, part } of dirty) {
      const isGone = (/** @type {Element} */ row) => part.indexOf(idOf(row)) < 0;
      this.#takeAway([...element.children].filter(isGone));
    }
    for (const chunk of dirty) this.#render(chunk);
    for (const row of this.#gone) if (!row.isConnected) this.#views.delete(idOf(row));
    this.#gone = [];
    for (const chunk of this.#chunks) if (chunk.isNear && chunk.isFilled) this.#number(chunk);
    if (!isLong) this.#fillLater();
    this.#numberLater();
  }

  /** @param {Element[]} rows */
  #takeAway(rows) {
    for (const row of rows) row.remove();
    this.#gone.push(...rows);
  }

  /** @param {Chunk} chunk */
  #render(chunk) {
    const { element, part } = chunk;
    let next = element.firstElementChild;
    part.items.forEach((item, i) => {
      const { id } = item;
      let view = this.#views.get(id);
      if (!view) this.#views.set(id, (view = this.#newRow(id)));
      view.show(item, part.levels[i], part.parents[i]);
      if (view.element === next) next = next.nextElementSibling;
      else element.insertBefore(view.element, next);
    });
    if (!chunk.isFilled) {
      // Not again later: browsers hold the rows that one sees in their places only while this style stays.
      element.style.height = "";
      element.style.setProperty("contain-intrinsic-size", `auto ${part.count * ROW_HEIGHT}px`);
      setAttribute(element, "role", "rowgroup");
      chunk.isFilled = true;
    }
    chunk.isDirty = false;
    chunk.numbered = -1;
  }

  /** @param {Chunk} chunk whose place one sees, but not its rows */
  #reserve(chunk) {
    const more = chunk.part.count - chunk.reserved;
    if (more === 0) return;
    chunk.reserved += more;
    chunk.height += more * ROW_HEIGHT;
    chunk.element.style.height = `${chunk.height}px`;
  }

  /** @param {Chunk} chunk */
  #empty(chunk) {
    const { element } = chunk;
    chunk.height = element.offsetHeight;
    chunk.reserved = element.childElementCount;
    element.style.height = `${chunk.height}px`;
    this.#takeAway([...element.children]);
    // A group without rows is none.
    setAttribute(element, "role", "none");
    chunk.isFilled = false;
  }

  /** @param {Chunk} chunk */
  #number(chunk) {
    if (chunk.numbered === chunk.start) return;
    chunk.numbered = chunk.start;
    let row = chunk.start + 1;
    for (const element of chunk.element.children) setAttribute(element, "aria-rowindex", row++);
  }

  /** Rows that nobody sees are numbered when there is time: screen readers read them, too. */
  #numberLater() {
    clearTimeout(this.#numbering);
    this.#numbering = setTimeout(() => {
      const chunks = this.#chunks.filter(({ isFilled, numbered, start }) => isFilled && numbered !== start);
      for (const chunk of chunks.slice(0, AT_ONCE)) this.#number(chunk);
      if (chunks.length > AT_ONCE) this.#numberLater();
    }, 100);
  }

  #fillLater() {
    if (this.#isFilling || this.#chunks.every(({ isFilled }) => isFilled)) return;
    this.#isFilling = true;
    setTimeout(() => {
      this.#isFilling = false;
      for (const chunk of this.#chunks.filter(({ isFilled }) => !isFilled).slice(0, AT_ONCE)) this.#render(chunk);
      this.#numberLater();
      this.#fillLater();
    }, 20);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #watch(entries) {
    for (const { target, isIntersecting } of entries) {
      const chunk = this.#chunks.find(({ element }) => element === target);
      if (chunk) chunk.isNear = isIntersecting;
    }
    this.#fill();
  }
}

/** @param {Element} row */
function idOf(row) {
  return /** @type {HTMLElement} */ (row).dataset.id ?? "";
}
