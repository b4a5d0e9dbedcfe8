// What a screen reader says by itself: what others did, politely and together; what concerns the person, at once.

import { setText } from "./dom.js";

/** Others' changes are told at most this often, in ms. */
const PAUSE = 2000;
const MOST = 3;

export class Speech {
  #polite;
  #urgent;
  /** @type {string[]} */
  #waiting = [];
  #isWaiting = false;
  /** Whether the person is typing: then nobody talks of others. */
  isTyping = () => false;

  /** @param {Element} polite @param {Element} urgent two live regions */
  constructor(polite, urgent) {
    this.#polite = polite;
    this.#urgent = urgent;
  }

  /**
   * What others did.
   * @param {string} text
   */
  tell(text) {
    this.#waiting.push(text);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => this.#flush(), PAUSE);
  }

  /**
   * What the person's own key did, and what went wrong.
   * @param {string} text
   */
  say(text) {
    // The same text again is said again.
    setText(this.#urgent, this.#urgent.textContent === text ? `${text}\u00a0` : text);
  }

  #flush() {
    if (this.isTyping()) return void setTimeout(() => this.#flush(), PAUSE);
    this.#isWaiting = false;
    const all = [...new Set(this.#waiting)];
    this.#waiting = [];
    const more = all.length - MOST;
    setText(this.#polite, all.slice(0, MOST).join(". ") + (more > 0 ? `, and ${more} more changes` : ""));
  }
}
