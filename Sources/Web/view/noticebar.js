// What was overridden or not taken while a list was open: the newest in a bar, all of them in a dialog, and the way
// back to the words that were lost.

import { openDialog } from "./dialogs.js";
import { button, fill, h, signButton } from "./dom.js";

/** @typedef {{ text: string, lost: string, isSeen: boolean }} Notice */

export class NoticeBar {
  element = h("p", { class: "notice", hidden: true });
  #retrieve;
  /** @type {Notice[]} */
  #notices = [];

  /** @param {(lost: string, note?: string) => void} retrieve gives words that were lost back to the person */
  constructor(retrieve) {
    this.#retrieve = retrieve;
  }

  /** @param {{ text: string, lost: string }} notice */
  add(notice) {
    this.#notices.unshift({ ...notice, isSeen: false });
    this.#draw();
  }

  /** Shows all of them. */
  showAll() {
    openDialog("What was overridden or not taken", close => [
      this.#notices.length === 0 && h("p", { class: "note" }, "Nothing, since the page was opened."),
      h("ul", { class: "past" }, ...this.#notices.map(({ text, lost }) => h("li", { dir: "auto" }, text, " ",
        lost !== "" && button("Get it back", () => (close(), this.#retrieve(lost)))))),
    ]);
  }

  #draw() {
    const unseen = this.#notices.filter(({ isSeen }) => !isSeen);
    const [newest] = unseen;
    this.element.hidden = !newest;
    if (!newest) return;
    const done = () => {
      for (const notice of this.#notices) notice.isSeen = true;
      this.#draw();
    };
    const retrieve = () => {
      this.#retrieve(newest.lost, "These words were overridden or not taken; Enter adds them.");
      done();
    };
    const showAll = () => {
      this.showAll();
      done();
    };
    fill(
      this.element,
      h("span", { dir: "auto" }, newest.text),
      newest.lost !== "" && button("Get it back", retrieve),
      unseen.length > 1 && button(`${unseen.length - 1} more`, showAll),
      signButton("✕", "Dismiss", done),
    );
  }
}
