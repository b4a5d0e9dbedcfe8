// What the connection is to be called: what people are told of it, and since when.

/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./tabs.js').Tab} Tab */
/**
 * The connection. It is online only once the server has welcomed the client; slow if an edit waits for more than 10 s
 * while it is online, or if the server does not welcome it. `since` is in ms since 1970. The reason of `offline` is `no
 * network`, `unreachable`, `silent` (something between blocks live connections), or `lost`; that of `stopped` is an
 * error of the protocol, or `taken`: another tab has gone on with what this one had, and its person has to reload it.
 * @typedef {{ state: "connecting" | "online" | "offline" | "paused" | "stopped", reason: string, since: number, isSlow:
 *   boolean }} Connection
 */

/** An edit that waits for longer is slow. */
const SLOW = 10_000;

export class Connectivity {
  /** @type {Connection} */
  #connection = { state: "connecting", reason: "", since: Date.now(), isSlow: false };
  /** Why the last connection has ended, unless the next one may be better. */
  #why = "";
  /**
   * The oldest own edit that waits, and since when.
   * @type {{ edit: Edit, since: number, wall: number } | undefined}
   */
  #oldest;
  #slowAt = Infinity;

  get connection() {
    return this.#connection;
  }

  /** Since when the oldest own edit waits, in ms since 1970. */
  get waitingSince() {
    return this.#oldest?.wall;
  }

  /** When to judge again. */
  get deadline() {
    return this.#slowAt;
  }

  /** @param {string} why the connection has ended */
  ended(why) {
    this.#why = why;
  }

  /** What comes next may be better. */
  forgive() {
    this.#why = "";
  }

  /**
   * Gives the state that it was in before, if that has changed.
   * @param {Tab} tab @param {number} now @param {number} drift what `now` is behind the time since 1970
   */
  judge(tab, now, drift) {
    const { state, reason } = this.#connection;
    if (tab.state === "stopped") this.#be("stopped", tab.stopped);
    else if (tab.state === "paused") this.#be("paused", "");
    else if (tab.state === "open") {
      this.#why = "";
      this.#be("online", "");
    } else if (this.#why !== "") this.#be("offline", navigator.onLine === false ? "no network" : this.#why);
    else this.#be("connecting", "");
    this.#judgeSpeed(tab.opened.map(({ replica }) => replica.pending[0]).find(edit => edit !== undefined), now, drift);
    const isSame = state === this.#connection.state && reason === this.#connection.reason;
    return isSame ? undefined : state;
  }

  /** @param {Edit | undefined} waiting @param {number} now @param {number} drift */
  #judgeSpeed(waiting, now, drift) {
    if (!waiting) this.#oldest = undefined;
    else if (this.#oldest?.edit !== waiting) {
      this.#oldest = { edit: waiting, since: now, wall: this.#oldest?.wall ?? Date.now() };
    }
    const { state, since, isSlow } = this.#connection;
    const from = state === "online" ? this.#oldest?.since : state === "connecting" ? 0 : undefined;
    const slowAt = from === undefined ? Infinity : Math.max(from, since - drift) + SLOW;
    this.#slowAt = now < slowAt ? slowAt : Infinity;
    if (now >= slowAt !== isSlow) this.#connection = { ...this.#connection, isSlow: now >= slowAt };
  }

  /** @param {Connection["state"]} state @param {string} reason */
  #be(state, reason) {
    if (this.#connection.state === state && this.#connection.reason === reason) return;
    this.#connection = { state, reason, since: Date.now(), isSlow: false };
  }
}
