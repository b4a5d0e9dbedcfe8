// Which rows of a list are new for its person, until they were seen for a while.

import { newsSince, seenRevision, setSeen } from "./news.js";

/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */

/** What is new counts as seen after it was in the window for this long, in ms. */
const SEEING = 3000;

export class NewsMarks {
  #open;
  #grid;
  #changed;
  #hasBegun = false;
  /** @type {Map<string, "new" | "changed">} */
  #marks = new Map();
  /** @type {Map<string, number>} since when a new item is in sight */
  #inSight = new Map();

  /** @param {OpenList} open @param {Grid} grid @param {() => void} changed called when the marks are others */
  constructor(open, grid, changed) {
    this.#open = open;
    this.#grid = grid;
    this.#changed = changed;
  }

  /** Whether the person has looked at the list, as the server has it. */
  get hasBegun() {
    return this.#hasBegun;
  }

  get count() {
    return this.#marks.size;
  }

  /** The items that are marked. */
  get ids() {
    return this.#marks.keys();
  }

  /** @param {string} id */
  of(id) {
    return this.#marks.get(id);
  }

  /**
   * The list is as the server has it: what is new is looked for, once.
   * @param {Client} client
   */
  begin(client) {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { name, replica } = this.#open;
    const seen = seenRevision(client, name);
    setSeen(client, name, replica.revision);
    if (seen === undefined || seen >= replica.revision) return;
    newsSince(client, name, seen, replica).then(
      marks => {
        this.#marks = marks;
        this.#changed();
      },
      // What is new is then not marked; everything else goes on.
      () => {},
    );
  }

  /**
   * Now and then: what was in sight for a while is not new any more.
   * @param {Client} client @param {number} now
   */
  look(client, now) {
    if (document.hidden || !this.#open.subscription.isLive) return;
    if (this.#hasBegun) setSeen(client, this.#open.name, this.#open.replica.revision);
    let hasChanged = false;
    for (const id of this.#marks.keys()) {
      const box = this.#grid.view(id)?.element.getBoundingClientRect();
      if (!box || box.bottom < 0 || box.top > innerHeight) this.#inSight.delete(id);
      else if (now - (this.#inSight.get(id) ?? now) > SEEING) hasChanged = this.#marks.delete(id) || hasChanged;
      else if (!this.#inSight.has(id)) this.#inSight.set(id, now);
    }
    if (hasChanged) this.#changed();
  }

  /**
   * The row of the next new item, or of the one before; nothing if there is none.
   * @param {number} way 1 or -1
   */
  next(way) {
    const items = [...this.#grid.rows];
    const from = this.#grid.rows.rowOf(this.#grid.current);
    for (let i = 1; i <= items.length; i++) {
      const row = (from + way * i + items.length * 2) % items.length;
      if (this.#marks.has(items[row].id)) return row;
    }
    return undefined;
  }
}
