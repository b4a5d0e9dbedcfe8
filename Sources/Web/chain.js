// Many deltas, each made after the one before it, that are composed when somebody asks. Composing each with all before
// it would cost more with each; here those of about one size are composed, as in counting with binary digits.

import { NOTHING } from "./components.js";
import { compose } from "./compose.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {{ delta: Delta, rank: number }} Link 2 to the power of the rank deltas, as one */

/** A chain never changes. Adding n deltas costs O(n log n) components. */
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
    return this.#links.reduceRight((/** @type {Delta} */ later, { delta }) => compose(delta, later), NOTHING);
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
      link = { delta: compose(last.delta, link.delta), rank: link.rank + 1 };
    }
    return new Chain([...links, link]);
  }
}
