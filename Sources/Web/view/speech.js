// What a screen reader says by itself: what others did, politely and together; what concerns the person, at once.

import { setText } from "./dom.js";

/** Others' changes are told at most this often, in ms. */
const PAUSE = 2000;
/** So long what was said stays to be read again, in ms. */
const STAYING = 10_000;

export class Speech {
  #polite;
  #urgent;
  /** @type {(() => Promise<string> | string) | undefined} */
  #words;
  /** Whether the person is typing: then nobody talks of others. */
  isTyping = () => false;

  /** @param {Element} polite @param {Element} urgent two live regions */
  constructor(polite, urgent) {
    this.#polite = polite;
    this.#urgent = urgent;
  }

  /**
   * What others did is told soon, together with what they do until then.
   * @param {() => Promise<string> | string} words are asked for when it is time
   */
  tell(words) {
    const isWaiting = this.#words !== undefined;
    this.#words = words;
    if (!isWaiting) setTimeout(() => this.#flush(), PAUSE);
  }

  /**
   * What the person's own key did, and what went wrong.
   * @param {string} text
   */
  say(text) {
    speak(this.#urgent, text);
  }

  async #flush() {
    if (this.isTyping()) return void setTimeout(() => this.#flush(), PAUSE);
    const words = this.#words;
    this.#words = undefined;
    const text = await words?.();
    if (text) speak(this.#polite, text);
  }
}

/**
 * The same text again is said again.
 * @param {Element} region @param {string} text
 */
function speak(region, text) {
  const said = region.textContent === text ? `${text}\u00a0` : text;
  setText(region, said);
  setTimeout(() => region.textContent === said && setText(region, ""), STAYING);
}
