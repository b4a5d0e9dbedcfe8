// A list that is open, as the view sees it.

import { CARD } from "./item.js";
import { shownWith } from "./others.js";
import { NO_LOG, isSameList } from "./replica.js";

/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./others.js').Shown} Shown */
/** @typedef {import('./opened.js').Opened} Opened */
/** @typedef {import('./tabs.js').Tab} Tab */

/** @type {readonly Kept[]} */
const NOBODY = [];

export class OpenList {
  /** What the tab's machine has. */
  opened;
  #tab;
  /**
   * What is shown, and of what it was made.
   * @type {{ shown: Shown, parts: unknown[] } | undefined}
   */
  #cache;

  /** @param {Opened} opened @param {Tab} tab */
  constructor(opened, tab) {
    this.opened = opened;
    this.#tab = tab;
  }

  get name() {
    return this.opened.name;
  }

  /** Another object after a loss of the journal, and whenever the person has another token. */
  get subscription() {
    return this.opened.subscription;
  }

  /** Another object, whenever `subscription` is one. */
  get replica() {
    return this.opened.replica;
  }

  /** The highest level of an item: before the server has said it, what most lists have. */
  get most() {
    return this.subscription.rules?.maximumLevel ?? 15;
  }

  get takesOnlyCards() {
    return this.subscription.rules?.kinds?.every(kind => kind === CARD) === true;
  }

  /** Whether there is something to show: a stored copy, or what the server has sent. */
  get hasCopy() {
    return this.opened.hasCopy;
  }

  /**
   * Edits of other tabs of this device, living or ended, that are not committed: by client id, as they were kept.
   * @returns {readonly Kept[]}
   */
  get others() {
    const { log } = this.replica;
    const all = this.#tab.others.flatMap(({ lists }) => lists);
    // Another list may have the name, and this one may have had another.
    const others = all.filter(kept =>
      log === NO_LOG || kept.log === NO_LOG ? kept.name === this.name : isSameList(kept.log, log));
    return others.length > 0 ? others : NOBODY;
  }

  /**
   * The view of the replica with the edits of other tabs: those items can be changed once their edits are committed.
   * @returns {Shown}
   */
  get shown() {
    const { others, replica } = this;
    const parts = [replica, replica.view, replica.confirmed, replica.revision, ...others];
    const known = this.#cache;
    if (known?.parts.length === parts.length && parts.every((part, i) => part === known.parts[i])) return known.shown;
    const shown = shownWith(replica, others);
    this.#cache = { shown, parts };
    return shown;
  }
}
