// How long a client waits before it connects again, and when it stops trying. Section 4, "After a loss".

const SHORTEST = 100;
const LONGEST = 15_000;
/** A connection that was open for this long was no failure. */
const LASTING = 1000;
const MINUTE = 60_000;
/** No advice of a server makes a client wait longer. */
export const LONGEST_ADVICE = MINUTE;
const MOST = 3;

export class Backoff {
  #failures = 0;
  /** @type {number | undefined} */
  #openSince;
  /** @type {number[]} */
  #replaced = [];
  /** @type {number[]} */
  #misunderstood = [];

  /**
   * The server has welcomed the client.
   * @param {number} now
   */
  welcomed(now) {
    this.#openSince = now;
  }

  /**
   * How long to wait after a loss: below a bound that doubles with each failure until a connection lasts, and not
   * shorter than the server asks for.
   * @param {number} now @param {number} chance from 0 to 1 @param {number} advice
   */
  wait(now, chance, advice) {
    if (this.#openSince !== undefined && now - this.#openSince >= LASTING) this.#failures = 0;
    this.#openSince = undefined;
    const bound = Math.min(SHORTEST * 2 ** this.#failures, LONGEST);
    this.#failures = Math.min(this.#failures + 1, 16);
    return Math.max(bound * chance, Math.min(advice, LONGEST_ADVICE));
  }

  /**
   * Another connection has the client id: whether that was the fourth time within a minute.
   * @param {number} now
   */
  isReplacedTooOften(now) {
    this.#replaced = [...this.#replaced, now].filter(time => time > now - MINUTE);
    return this.#replaced.length > MOST;
  }

  /**
   * Bytes arrived that nobody understands: whether that was the fourth time within ten minutes.
   * @param {number} now
   */
  isMisunderstoodTooOften(now) {
    this.#misunderstood = [...this.#misunderstood, now].filter(time => time > now - 10 * MINUTE);
    return this.#misunderstood.length > MOST;
  }
}
