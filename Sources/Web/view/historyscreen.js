// Who changed what in a list, and when; and the way back to an earlier revision.

import { apply } from "../client/delta.js";
import { diff } from "../client/diff.js";
import { commitsOf, listAt } from "../client/requests.js";
import { amount, lineOf } from "./content.js";
import { isDialogOpen, openDialog } from "./dialogs.js";
import { button, fill, h, setAttribute, setText } from "./dom.js";
import { errorText, summaryOf, whenText } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/codec.js').Commit} Commit */
/** @typedef {import('../client/list.js').List} List */

const AT_ONCE = 50;
/** The most items of an old revision that are shown before it is restored. */
const MOST_ITEMS = 200;
/** What was done to items of a longer list is only counted, since the list has to be read. */
const MOST_READ = 2000;

export class HistoryScreen {
  #app;
  #open;
  /** The oldest and the newest revision that are shown. */
  #oldest;
  #newest;
  #isReading = false;
  /** Whether it says why it does not go on. */
  #isInterrupted = false;
  #name = h("bdi");
  #title = h("h1", { dir: "auto", tabIndex: -1 });
  #rows = h("ol", { class: "history", reversed: true });
  #older = button("Older", () => this.#read());
  #state = h("p", { class: "note", role: "status" });
  element = h("main", { class: "list" });
  isTyping = false;

  /** @param {App} app @param {OpenList} open */
  constructor(app, open) {
    this.#app = app;
    this.#open = open;
    this.#newest = open.replica.revision;
    this.#oldest = this.#newest + 1;
    fill(this.#title, "History of ", this.#name);
    const back = button("Back to the list", () => app.go({ list: open.name }), { class: "quiet back" });
    fill(this.element, h("div", { class: "title" }, this.#title), back, this.#state, this.#rows, this.#older);
    this.element.addEventListener("keydown", event => {
      const isBack = event.key === "Escape" || (/^[qh]$/.test(event.key) && !app.ignores(event));
      if (isBack) app.go({ list: open.name });
    });
    this.draw();
  }

  get open() {
    return this.#open;
  }

  /** The first revisions are read once the list is there, and newer ones as they come. */
  draw() {
    const { replica, subscription } = this.#open;
    setText(this.#name, this.#open.name);
    const isEmpty = this.#rows.childElementCount === 0;
    const words = subscription.ended !== "" ? errorText(subscription.ended)
      : !subscription.isLive && isEmpty ? this.#app.waitingWords
      : "";
    if (words !== "" || this.#isInterrupted) this.#end(words);
    this.#isInterrupted = words !== "";
    if (this.#isReading || !subscription.isLive) return;
    if (!isEmpty) return replica.revision > this.#newest ? void this.#readNewer() : undefined;
    this.#newest = replica.revision;
    this.#oldest = replica.revision + 1;
    this.#read();
  }

  begin() {
    this.#title.focus({ preventScroll: true });
  }

  refocus() {
    this.begin();
  }

  close() {}

  async #read() {
    const last = this.#oldest - 1;
    if (last < 1) return this.#end("That is all.");
    const from = Math.max(1, last - AT_ONCE + 1);
    const hadFocus = document.activeElement === this.#older;
    const rows = await this.#rowsOf(from, last);
    if (!rows) return;
    this.#rows.append(...rows);
    if (hadFocus && rows.length > 0) {
      rows[0].querySelector("button")?.focus();
      this.#app.speech.say(`${amount(rows.length, "older revision")}.`);
    }
    this.#oldest = from;
    this.#end(from > 1 && rows.length === 0 ? "Earlier revisions are not kept." : "");
  }

  async #readNewer() {
    const last = this.#open.replica.revision;
    // Of very many, only the newest are shown: "Older" leads to the others.
    const from = Math.max(this.#newest + 1, last - AT_ONCE + 1);
    const rows = await this.#rowsOf(from, last);
    if (!rows) return;
    if (from > this.#newest + 1) {
      this.#rows.replaceChildren();
      this.#oldest = from;
      this.#end("");
    }
    this.#rows.prepend(...rows);
    this.#newest = last;
    this.#app.draw();
  }

  /**
   * Rows for some revisions, the newest first; nothing if they cannot be read.
   * @param {number} from @param {number} last
   */
  async #rowsOf(from, last) {
    this.#isReading = this.#older.disabled = true;
    try {
      const { client } = this.#app;
      const { name, replica } = this.#open;
      const steps = await commitsOf(client, name, from, last);
      const isShort = steps.length > 0 && replica.confirmed.count <= MOST_READ;
      let list = isShort ? await listAt(client, name, steps[0].commit.revision - 1) : undefined;
      const rows = [];
      for (const { commit, who } of steps) {
        const before = list;
        list &&= apply(list, commit.delta);
        rows.unshift(this.#row(commit, who, before, list));
      }
      return rows;
    } catch (error) {
      this.#end(errorText(error));
      return undefined;
    } finally {
      this.#isReading = this.#older.disabled = false;
    }
  }

  /** @param {string} words */
  #end(words) {
    this.#older.hidden = this.#oldest <= 1;
    fill(this.#state, words);
    setAttribute(this.#state, "hidden", words === "");
  }

  /** @param {Commit} commit @param {string} who @param {List} [before] @param {List} [after] */
  #row(commit, who, before, after) {
    const when = h("time", { dateTime: new Date(commit.time).toISOString() }, whenText(commit.time, Date.now()));
    const summary = ` ${summaryOf(commit, before, after)}`;
    const words = h("span", { class: "what", dir: "auto" }, h("bdi", { class: "who" }, who), summary);
    const label = `Show revision ${commit.revision}`;
    const show = button("Show", () => this.#show(commit.revision), { class: "quiet", "aria-label": label });
    return h("li", { value: commit.revision }, when, words, show);
  }

  /**
   * The list as it was, with the way back.
   * @param {number} revision
   */
  async #show(revision) {
    try {
      const old = await listAt(this.#app.client, this.#open.name, revision);
      // The person may have gone elsewhere, or asked twice.
      if (!this.element.isConnected || isDialogOpen()) return;
      const refusal = this.#app.refusal(this.#open, 3);
      openDialog(`Revision ${revision}: ${amount(old.count, "item")}`, close => [
        refusal
          ? h("p", { class: "note" }, refusal)
          : button("Restore the list to this revision", () => {
              close();
              const change = diff(this.#open.replica.view, old);
              if (change.length === 0) return this.#app.toast("The list is like that already.");
              if (!this.#app.act(this.#open, 3, replica => replica.edit(change))) return;
              this.#app.go({ list: this.#open.name });
              this.#app.toast(`Restored revision ${revision}. Undo takes that back.`);
            }),
        // The numbers stay on their side of the window.
        h("ol", {}, ...old.slice(0, MOST_ITEMS).map((item, i) =>
          h("li", {}, h("div", { dir: "auto" }, "\u2003".repeat(old.shownLevel(i)), lineOf(item))))),
        old.count > MOST_ITEMS
          ? h("p", { class: "note" }, `and ${amount(old.count - MOST_ITEMS, "item")} more`)
          : undefined,
      ]);
    } catch (error) {
      this.#app.toast(errorText(error));
    }
  }
}
