// How a person looks at a list: what is filtered out, what is folded, and whether ticked tasks come last.

import { textOf } from "../client/bytes.js";
import { LINK, TASK } from "../client/item.js";
import { NO_LOG } from "../client/replica.js";
import { numeral } from "./content.js";
import { h } from "./dom.js";
import { isFor } from "./row.js";
import { comesLast, rowsOf } from "./rows.js";
import { recall, remember } from "./tabmemory.js";
import { folded } from "./texts.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */

/** A task that was just ticked stays in its place for a moment, in ms. */
const SETTLING = 1200;
/** How long after a key one hears how many items are found, in ms. */
const FINDING = 700;

/**
 * What is said when a way to look begins, and when it ends, and what is in sight meanwhile.
 * @type {Record<string, string[]>}
 */
const WAYS = {
  hideTicked: ["Ticked tasks are hidden.", "All items are shown.", "without ticked"],
  tickedLast: ["Ticked tasks are shown last.", "Ticked tasks are in their places.", "ticked last"],
  mine: ["Only tasks that name you are shown.", "All items are shown.", "only yours"],
};

export class Looking {
  #app;
  #grid;
  #screen;
  /**
   * The present look, and under which name.
   * @type {import('./rows.js').Look & { me: string } | undefined}
   */
  #look;
  /** @type {Set<string>} the names of ways to look */
  #ways = new Set();
  /** @type {Set<string>} */
  folded = new Set();
  /** @type {Set<string>} what this tab has folded, or found folded, now or before */
  #known = new Set();
  /** @type {Set<string>} */
  #held = new Set();
  /**
   * What is folded in which list, in words.
   * @type {List | undefined}
   */
  #hiddenOf;
  /** @type {Map<string, string | undefined>} */
  #hidden = new Map();
  #finding = 0;
  #settling = 0;
  /** @type {import('./grid.js').Place | undefined} where the person was when a filter was begun */
  #before;
  /** The log of the list, once it is known. */
  #log = NO_LOG;
  search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Show only items that contain" });

  /** Takes away what was said of something that is filtered out. */
  endSaid = () => {};

  /** @param {App} app @param {Grid} grid @param {ListScreen} screen */
  constructor(app, grid, screen) {
    this.#app = app;
    this.#grid = grid;
    this.#screen = screen;
    const { words, ways } = recall(this.#key) ?? {};
    if (typeof words === "string") this.search.value = words;
    if (Array.isArray(ways)) this.#ways = new Set(ways.filter(way => WAYS[way]));
    this.search.addEventListener("input", () => {
      this.#filterOrNot();
      this.#looked();
      clearTimeout(this.#finding);
      this.#finding = setTimeout(() => app.speech.say(screen.countText), FINDING);
    });
    this.search.addEventListener("keydown", event => {
      event.stopPropagation();
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Escape") this.endFiltering();
      if (event.key === "Enter") grid.goTo(0);
    });
  }

  /** Whether some items may be filtered out. */
  get isFiltering() {
    return this.#isSearching || this.#ways.has("hideTicked");
  }

  /** Whether a row may be without the one to which it belongs above it. */
  get isPartial() {
    return this.isFiltering || this.#ways.has("tickedLast");
  }

  /** Whether the person looks for something: then they want to see all of it, whatever is folded. */
  get #isSearching() {
    return this.search.value !== "" || this.#ways.has("mine");
  }

  /** The ways to look, after how many items there are. */
  get ways() {
    return [...this.#ways].map(way => `, ${WAYS[way][2]}`).join("");
  }

  /** Why no item is shown, if some are filtered out. */
  get nothingFound() {
    if (this.search.value !== "") return "Nothing matches.";
    return this.#ways.has("mine") ? "No task names you." : "Everything is ticked, and ticked tasks are hidden.";
  }

  /**
   * Whether an item is filtered out.
   * @param {Item} item
   */
  hides(item) {
    return this.#look?.isWanted?.(item) === false;
  }

  /**
   * Whether two siblings are not apart because one is ticked.
   * @param {Item} one @param {Item} other
   */
  areTogether(one, other) {
    return !this.#ways.has("tickedLast") || comesLast(one, this.#held) === comesLast(other, this.#held);
  }

  /** @param {List} list */
  rowsOf(list) {
    const { me } = this.#app.clients;
    this.#recallFolds();
    if (this.#look?.me !== me) {
      const folded = this.#isSearching ? undefined : this.folded;
      const isTickedLast = this.#ways.has("tickedLast");
      // What is being edited stays, whatever others make of it.
      const isKept = (/** @type {Item} */ { id }) => id === this.#grid.edited;
      this.#look = { me, folded, held: this.#held, isTickedLast, isWanted: this.#wanted(me), isKept };
    }
    return rowsOf(list, this.#look);
  }

  /** @param {string} way that begins, or ends */
  turn(way) {
    const wasSo = this.#ways.delete(way);
    if (!wasSo) this.#ways.add(way);
    this.#looked();
    this.#app.toast(WAYS[way][Number(wasSo)]);
  }

  /** All items are shown again. The person is where the filter began, or at what it has found and gone to. */
  endFiltering() {
    this.search.value = "";
    this.#ways.delete("hideTicked");
    this.#ways.delete("mine");
    const { hasFocus } = this.#grid;
    const before = hasFocus ? undefined : this.#before;
    this.#before = undefined;
    this.endSaid();
    if (hasFocus) this.unfold(this.#grid.current ?? "");
    this.#looked();
    this.#grid.focus(false);
    // Once it is drawn.
    requestAnimationFrame(() => {
      if (before?.id) this.#grid.goBack({ ...before, hasFocus: true });
      else this.#grid.focus();
    });
  }

  /**
   * What is folded beneath an item, in words. O(n) with the items beneath it, once for each list.
   * @param {string} id @param {List} list
   */
  hiddenBelow(id, list) {
    if (!this.isFolded(id)) return undefined;
    if (this.#hiddenOf !== list) [this.#hiddenOf, this.#hidden] = [list, new Map()];
    if (this.#hidden.has(id)) return this.#hidden.get(id);
    const index = list.indexOf(id);
    const below = index < 0 ? [] : list.slice(index + 1, index + 1 + list.subItems(index));
    const done = below.filter(item => item.kind === TASK && item.fields().done === true).length;
    const words = `hides ${numeral(below.length)}${done > 0 ? `, ${numeral(done)} done` : ""}`;
    this.#hidden.set(id, below.length > 0 ? words : undefined);
    return this.#hidden.get(id);
  }

  /**
   * Whether an item hides its sub-items: a search shows what matches, wherever it is.
   * @param {string} id
   */
  isFolded(id) {
    return this.folded.has(id) && !this.#isSearching;
  }

  /** Folds the current item, or else the one that it belongs to; or unfolds it. */
  fold() {
    if (this.#isSearching) return this.#sayNoFolds();
    const { current = "" } = this.#grid;
    const [id] = this.#grid.rows.isParent(current) ? [current] : this.#above(current);
    if (id === undefined) return;
    this.#grid.setCurrent(id);
    if (!this.folded.delete(id)) this.folded.add(id);
    this.#keepFolds();
  }

  /**
   * Unfolds what hides an item.
   * @param {string} id
   */
  unfold(id) {
    const hiding = this.#above(id).filter(id => this.folded.delete(id));
    if (hiding.length > 0) this.#keepFolds();
  }

  foldAll() {
    if (this.#isSearching) return this.#sayNoFolds();
    // What was folded may have gone, or may have no sub-items any more.
    const isAnyFolded = [...this.folded].some(id => this.#grid.rows.isParent(id));
    this.folded.clear();
    if (!isAnyFolded) {
      for (const { id } of this.#grid.rows.parents) this.folded.add(id);
      const root = this.#above(this.#grid.current ?? "").pop();
      if (root !== undefined) this.#grid.setCurrent(root);
    }
    this.#keepFolds();
  }

  /**
   * Tasks that were just ticked stay in their places until the person pauses.
   * @param {string[]} ids
   */
  hold(ids) {
    if (!this.#ways.has("tickedLast") && !this.#ways.has("hideTicked")) return;
    for (const id of ids) this.#held.add(id);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.#held.clear();
      this.#looked(false);
    }, SETTLING);
  }

  /** What was edited may be out of sight now. */
  release() {
    if (this.isFiltering || this.folded.size > 0) this.#looked();
  }

  close() {
    clearTimeout(this.#finding);
    clearTimeout(this.#settling);
  }

  /** What a filter finds is shown from the beginning, and without it one is where one was. */
  #filterOrNot() {
    const [isFiltering, before] = [this.search.value !== "", this.#before];
    if (isFiltering) this.#before ??= this.#grid.place ?? { id: "", top: 0, hasFocus: false };
    else this.#before = undefined;
    // Once it is drawn.
    requestAnimationFrame(() => {
      if (isFiltering || !before?.id) scrollTo(0, 0);
      else this.#grid.goBack({ ...before, hasFocus: false });
    });
  }

  /**
   * The items to which one belongs, the nearest first. O(n)
   * @param {string} id
   */
  #above(id) {
    const { view } = this.#screen.open.replica;
    const above = [];
    let at = view.indexOf(id);
    let level = at < 0 ? 0 : view.shownLevel(at);
    while (level > 0) {
      if (view.shownLevel(--at) >= level) continue;
      level = view.shownLevel(at);
      above.push(view.at(at).id);
    }
    return above;
  }

  #sayNoFolds() {
    this.#app.toast("What is looked for is shown even if it is folded.");
  }

  get #key() {
    return `look ${this.#screen.name}`;
  }

  /** @param {boolean} [isAsked] whether the person expects the rows to change now */
  #looked(isAsked = true) {
    this.#look = undefined;
    this.#screen.lookAgain(isAsked);
    remember(this.#key, { words: this.search.value, ways: [...this.#ways] });
  }

  #keepFolds() {
    const { view } = this.#screen.open.replica;
    this.#app.client.settings.change(`folded ${this.#log}`, (known = []) => {
      // Another tab may have folded something else.
      const others = known.filter((/** @type {string} */ id) => !this.#known.has(id));
      const folded = [...new Set([...others, ...this.folded])].filter(id => view.indexOf(id) >= 0);
      return folded.length > 0 ? folded : undefined;
    });
    for (const id of this.folded) this.#known.add(id);
    this.#looked();
  }

  /** What was folded on this device stays so, once it is known which list this is. */
  #recallFolds() {
    const { log } = this.#screen.open.replica;
    if (this.#log !== NO_LOG || log === NO_LOG) return;
    this.#log = log;
    for (const id of this.#app.client.settings.get(`folded ${log}`) ?? []) this.folded.add(id);
    for (const id of this.folded) this.#known.add(id);
    this.#look = undefined;
  }

  /**
   * @param {string} me
   * @returns {((item: Item) => boolean) | undefined}
   */
  #wanted(me) {
    if (!this.isFiltering) return undefined;
    const filter = folded(this.search.value);
    const [hidesTicked, onlyMine] = [this.#ways.has("hideTicked"), this.#ways.has("mine")];
    return item =>
      (filter === "" || folded(item.text).includes(filter) || isInAddress(item, filter)) &&
      (!hidesTicked || item.kind !== TASK || item.fields().done !== true || this.#held.has(item.id)) &&
      (!onlyMine || isFor(item, me));
  }
}

/** @param {Item} item @param {string} filter */
function isInAddress(item, filter) {
  return item.kind === LINK && folded(textOf(item.fields().url ?? new Uint8Array(0))).includes(filter);
}
