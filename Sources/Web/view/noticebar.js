// What was overridden or not taken of a list: the newest in a bar, all of them in a dialog, and the way back to the
// words that were lost. The device keeps them, since the list may not be shown when it happens.

import { openDialog } from "./dialogs.js";
import { button, fill, h, signButton } from "./dom.js";
import { noticeOf as wordsFor } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/replica.js').Told} Told */
/**
 * Words that were lost are those of one item, or a line for each item. Of words that were overwritten, it says in which
 * item, and what stands there now.
 * @typedef {{ text: string, lost: string, isOne?: boolean, item?: string, present?: string, isSeen?: boolean }} Notice
 */

/** So many notices are kept of a list: the newest. */
const MOST = 50;

/**
 * By the half of the log id that names the list: the other half may be another after a reload.
 * @param {OpenList} open
 */
const keyOf = open => `notices ${open.replica.log.slice(8)}`;

/**
 * What a person should know of what happened to a list, if anything.
 * @param {App} app @param {OpenList} open @param {Told} told
 */
export async function noticeOf(app, open, told) {
  const id = "item" in told ? told.item : told.type === "kept" ? told.words.item : undefined;
  const { view } = open.replica;
  const index = id === undefined ? -1 : view.indexOf(id);
  const [revision, author] = told.type === "overridden" ? [told.revision, told.author] : [0, 0];
  return wordsFor(told, index < 0 ? undefined : view.at(index), await app.nameOf(open, author, revision));
}

/** @param {Client} client @param {OpenList} open @param {Notice} notice */
export function addNotice(client, open, notice) {
  client.settings.change(keyOf(open), (known = []) => [notice, ...known].slice(0, MOST));
}

/** @param {Client} client @param {OpenList} open @returns {Notice[]} */
function noticesOf(client, open) {
  return client.settings.get(keyOf(open)) ?? [];
}

/** @param {Notice} a @param {Notice} b */
function isSame(a, b) {
  return a.text === b.text && (a.lost === b.lost || a.lost === "");
}

export class NoticeBar {
  element = h("p", { class: "notice", hidden: true });
  #app;
  #open;
  #retrieve;
  /** @type {Notice | undefined} the one that the bar shows */
  #shown;

  /**
   * @param {App} app @param {OpenList} open
   * @param {(notice: Notice) => boolean | undefined} retrieve gives words that were lost back to the person; whether
   *   they are in their place again; nothing if they cannot come back now
   */
  constructor(app, open, retrieve) {
    this.#app = app;
    this.#open = open;
    this.#retrieve = retrieve;
  }

  get #notices() {
    return noticesOf(this.#app.client, this.#open);
  }

  /** Shows all of them. */
  showAll() {
    openDialog("What was overridden or not taken", close => [
      this.#notices.length === 0 && h("p", { class: "note" }, "Nothing of yours."),
      h("ul", { class: "past" }, ...this.#notices.map(notice => h("li", { dir: "auto" }, notice.text, " ",
        notice.lost !== "" && button("Get it back", () => (close(), this.#getBack(notice)))))),
    ]);
  }

  /** @param {Notice} notice */
  #getBack(notice) {
    const isInPlace = this.#retrieve(notice);
    if (isInPlace === undefined) return;
    const settled = (/** @type {Notice} */ { lost }) => ({ isSeen: true, lost: isInPlace ? "" : lost });
    this.#change(other => (isSame(other, notice) ? { ...other, ...settled(other) } : other));
  }

  /** @param {(notice: Notice) => Notice} change */
  #change(change) {
    this.#app.client.settings.change(keyOf(this.#open), (known = []) => known.map(change));
    this.#app.draw();
  }

  draw() {
    const unseen = this.#notices.filter(({ isSeen }) => !isSeen);
    const [newest] = unseen;
    this.element.hidden = !newest;
    if (newest === this.#shown) return;
    this.#shown = newest;
    if (!newest) return;
    const done = (/** @type {Notice | void} */ only) =>
      this.#change(notice => (only && !isSame(notice, only) ? notice : { ...notice, isSeen: true }));
    const showAll = () => {
      this.showAll();
      done();
    };
    fill(
      this.element,
      h("span", { dir: "auto" }, newest.text),
      newest.lost !== "" && button("Get it back", () => this.#getBack(newest)),
      unseen.length > 1 && button(`${unseen.length - 1} more`, showAll),
      signButton("✕", "Dismiss", () => done(newest)),
    );
  }
}
