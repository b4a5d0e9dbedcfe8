// Rows of a long list as elements: in chunks, of which only those are filled that are near what one sees, if the list
// is long. Short lists are filled as a whole, so that the browser finds every text in them.

import { setAttribute } from "./dom.js";

/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('./rows.js').Rows} Rows */
/**
 * A row as an element.
 * @typedef {object} RowView
 * @property {HTMLElement} element
 * @property {(item: Item, level: number, isParent: boolean) => void} show
 */

const SIZE = 64;
const MOST_FILLED = 5000;
/** How high a row is before it was ever drawn, in CSS pixels. */
const ROW_HEIGHT = 44;
/** How many chunks that nobody sees are filled at a time. */
const AT_ONCE = 4;

/** Some neighbouring rows. */
class Chunk {
  element = document.createElement("div");
  /** @type {Item[]} */
  items = [];
  /** @type {number[]} */
  levels = [];
  /** @type {boolean[]} */
  parents = [];
  start = 0;
  isNear = false;
  isFilled = false;
  isDirty = true;
  /** The first row when the rows were numbered last. */
  numbered = -1;

  constructor() {
    this.element.className = "chunk";
  }

  /**
   * The chunk has these rows.
   * @param {Rows} rows @param {number} from @param {number} to
   */
  take(rows, from, to) {
    const isSame = this.items.length === to - from && this.items.every((item, i) => item === rows.items[from + i] &&
      this.levels[i] === rows.levels[from + i] && this.parents[i] === rows.parents[from + i]);
    this.start = from;
    if (isSame) return;
    this.items = rows.items.slice(from, to);
    this.levels = rows.levels.slice(from, to);
    this.parents = rows.parents.slice(from, to);
    this.isDirty = true;
  }
}

export class Chunks {
  #container;
  #newRow;
  /** @type {Chunk[]} */
  #chunks = [];
  /** @type {Map<string, RowView>} */
  #views = new Map();
  #count = 0;
  #isFilling = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #numbering;
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

  /** @returns {Iterable<[string, RowView]>} */
  get views() {
    return this.#views;
  }

  /**
   * Shows other rows. Chunks that stay the same are not touched. O(rows), and the rows of the chunks that change
   * @param {Rows} rows
   */
  show(rows) {
    this.#count = rows.count;
    this.#deal(rows);
    this.#fill();
  }

  /**
   * Fills the chunk of a row, which is then an element.
   * @param {number} row
   */
  reach(row) {
    const chunk = this.#chunks.find(({ start, items }) => row >= start && row < start + items.length);
    if (!chunk) return;
    chunk.isNear = true;
    this.#fill();
  }

  close() {
    clearTimeout(this.#numbering);
    this.#watcher.disconnect();
  }

  // Private

  /**
   * Which rows each chunk has: chunks begin where they began, as far as that is still there.
   * @param {Rows} rows
   */
  #deal(rows) {
    let at = 0;
    const old = this.#chunks;
    /** @type {Chunk[]} */
    const chunks = [];
    old.forEach((chunk, c) => {
      const end = c === old.length - 1 ? rows.count : this.#end(old, c, rows, at);
      for (const part of this.#parts(chunk, at, end)) {
        part.chunk.take(rows, part.from, part.to);
        chunks.push(part.chunk);
      }
      at = end;
    });
    if (old.length === 0 && rows.count > 0) {
      for (const part of this.#parts(new Chunk(), 0, rows.count)) {
        part.chunk.take(rows, part.from, part.to);
        chunks.push(part.chunk);
      }
    }
    for (const chunk of old) {
      if (chunks.includes(chunk)) continue;
      this.#watcher.unobserve(chunk.element);
      chunk.element.remove();
    }
    let next = this.#container.firstElementChild;
    for (const { element } of chunks) {
      if (element === next) next = next.nextElementSibling;
      else {
        this.#container.insertBefore(element, next);
        this.#watcher.observe(element);
      }
    }
    this.#chunks = chunks;
  }

  /**
   * Where a chunk ends now: where one of the next ones begins.
   * @param {Chunk[]} old @param {number} c @param {Rows} rows @param {number} at
   */
  #end(old, c, rows, at) {
    const { items } = old[c];
    if (items.every((item, i) => item === rows.items[at + i])) return at + items.length;
    const starts = old.slice(c + 1, c + 5).map(({ items }) => rows.items.indexOf(items[0], at))
      .filter(start => start >= 0);
    return starts.length > 0 ? Math.min(...starts) : Math.min(rows.count, at + items.length);
  }

  /**
   * A chunk that became too long is several.
   * @param {Chunk} chunk @param {number} from @param {number} to
   */
  #parts(chunk, from, to) {
    const parts = [];
    const size = to - from > 2 * SIZE ? SIZE : 2 * SIZE;
    for (let at = from; at < to; at += size) {
      parts.push({ chunk: at === from ? chunk : new Chunk(), from: at, to: Math.min(to, at + size) });
    }
    return parts;
  }

  #fill() {
    const isLong = this.#count > MOST_FILLED;
    const dirty = this.#chunks.filter(chunk => {
      const isWanted = chunk.isNear || !isLong || this.#isVisible(chunk);
      if (isWanted && (chunk.isNear || chunk.isFilled)) return chunk.isDirty || !chunk.isFilled;
      if (!isWanted && chunk.isFilled) this.#empty(chunk);
      if (!chunk.isFilled) this.#reserve(chunk);
      return false;
    });
    // What goes is taken away first, so that what stays need not move.
    for (const chunk of dirty) {
      const ids = new Set(chunk.items.map(item => item.id));
      for (const row of [...chunk.element.children]) if (!ids.has(/** @type {any} */ (row).dataset.id)) row.remove();
    }
    for (const chunk of dirty) this.#render(chunk);
    for (const [id, { element }] of this.#views) if (!element.isConnected) this.#views.delete(id);
    for (const chunk of this.#chunks) if (chunk.isNear && chunk.isFilled) this.#number(chunk);
    if (!isLong) this.#fillLater();
    this.#numberLater();
  }

  /** @param {Chunk} chunk */
  #isVisible(chunk) {
    return chunk.isFilled && chunk.element.contains(document.activeElement);
  }

  /** @param {Chunk} chunk */
  #render(chunk) {
    const { element } = chunk;
    let next = element.firstElementChild;
    chunk.items.forEach((item, i) => {
      const { id } = item;
      let view = this.#views.get(id);
      if (!view) this.#views.set(id, (view = this.#newRow(id)));
      view.show(item, chunk.levels[i], chunk.parents[i]);
      if (view.element === next) next = next.nextElementSibling;
      else element.insertBefore(view.element, next);
    });
    element.style.height = "";
    element.style.setProperty("contain-intrinsic-size", `auto ${chunk.items.length * ROW_HEIGHT}px`);
    setAttribute(element, "role", "rowgroup");
    chunk.isFilled = true;
    chunk.isDirty = false;
    chunk.numbered = -1;
  }

  /** @param {Chunk} chunk whose place one sees, but not its rows */
  #reserve(chunk) {
    const height = `${chunk.items.length * ROW_HEIGHT}px`;
    if (!chunk.isFilled && chunk.element.style.height === "") chunk.element.style.height = height;
  }

  /** @param {Chunk} chunk */
  #empty(chunk) {
    chunk.element.style.height = `${chunk.element.offsetHeight}px`;
    for (const row of [...chunk.element.children]) row.remove();
    // A group without rows is none.
    setAttribute(chunk.element, "role", "none");
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
