// Many deltas, each made after the one before it, as one. Composing each with all before it would cost more with each;
// here it costs little, since large ones are composed with others of their size, as in counting with binary digits. Up
// to some size all are composed from the left, which is what the page says: compositions in another order have the same
// effect, but not always the same form.

import { NOTHING } from "./components.js";
import { compose } from "./compose.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {{ delta: Delta, rank: number }} Link the rank grows with the number of deltas that it is made of */

/** Up to this many components, a delta is small. */
const SMALL = 128;

/** A chain never changes. */
export class Chain {
  /**
   * With falling ranks.
   * @type {readonly Link[]}
   */
  #links;

  static empty = new Chain([]);

  /** @param {readonly Link[]} links */
  constructor(links) {
    this.#links = links;
  }

  /**
   * All of them as one delta.
   * @returns {Delta}
   */
  get delta() {
    return this.#links.reduce((/** @type {Delta} */ all, { delta }) => compose(all, delta), NOTHING);
  }

  /** @param {Delta} delta made after all others */
  with(delta) {
    const links = [...this.#links];
    let link = { delta, rank: 0 };
    for (let last = links.pop(); last; last = links.pop()) {
      if (last.rank > link.rank) {
        links.push(last);
        break;
      }
      const both = compose(last.delta, link.delta);
      link = { delta: both, rank: both.length > SMALL ? last.rank + 1 : 0 };
    }
    return new Chain([...links, link]);
  }
}
