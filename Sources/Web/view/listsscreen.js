// The lists that one may read, and what is new in them.

import { amount } from "./content.js";
import { ask, confirmThat, openMenu } from "./dialogs.js";
import { button, fill, h, setText, signButton } from "./dom.js";
import { headline, seenRevision } from "./news.js";
import { askLink, showConnection, showHelp, showShare } from "./pagedialogs.js";
import { fragmentOf } from "./route.js";
import { errorText } from "./sentences.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {{ name: string, count: number, revision: number }} Entry */

/** How often the lists are asked for while one looks at them, in ms. */
const PAUSE = 10_000;

export class ListsScreen {
  #app;
  /** @type {Entry[]} */
  #entries = [];
  #isKnown = false;
  #isAsking = false;
  #isNewFirst = false;
  /**
   * What is new, by name, and the revision up to which that was read.
   * @type {Map<string, { text: string, revision: number }>}
   */
  #news = new Map();
  #timer;
  element = h("main", { class: "lists" });
  /** @type {string | undefined} the list that one was in, until it is shown */
  #from;
  #title = h("h1", { tabIndex: -1 }, "Lists");
  #rows = h("ul", { class: "lists" });
  #state = h("p", { class: "empty" });
  open = undefined;
  isTyping = false;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const make = button("New list", () => this.#make(), { class: "primary" });
    const order = button("New first", () => {
      this.#isNewFirst = !this.#isNewFirst;
      order.setAttribute("aria-pressed", String(this.#isNewFirst));
      app.draw();
    }, { "aria-pressed": "false" });
    const link = button("Open a link", () => askLink(app));
    fill(
      this.element,
      h("div", { class: "title" }, this.#title),
      h("div", { class: "bar" }, make, order, link),
      this.#state,
      this.#rows,
    );
    this.element.addEventListener("keydown", event => {
      if (app.ignores(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n" || event.key === "a") this.#make();
      else if (event.key === "?") showHelp(app);
      else if (event.key === "C") showConnection(app);
      else return;
      event.preventDefault();
    });
    this.#timer = setInterval(() => this.#read(), PAUSE);
    this.draw();
  }

  draw() {
    if (!this.#isKnown) this.#read();
    const known = this.#isKnown ? this.#entries : this.#app.clients.knownLists();
    const isNew = (/** @type {{ name: string }} */ { name }) => Number(this.#newsOf(name) !== "");
    const entries = this.#isNewFirst ? [...known].sort((a, b) => isNew(b) - isNew(a)) : known;
    this.#state.hidden = entries.length > 0;
    setText(this.#state, this.#isKnown ? "There is no list yet." : this.#app.waitingWords);
    const key = JSON.stringify(entries.map(entry => [entry, this.#wordsOf(entry.name)]));
    if (this.#rows.dataset.key === key) return;
    this.#rows.dataset.key = key;
    const focused = this.#rows.contains(document.activeElement) ? document.activeElement : undefined;
    const row = focused?.closest("li");
    const index = Math.min([...this.#rows.children].indexOf(row ?? this.#rows), entries.length - 1);
    const isThere = entries.some(({ name }) => name === row?.dataset.name);
    fill(this.#rows, ...entries.map(entry => this.#row(entry)));
    // The focus of a list that is gone goes to the next one.
    if (focused) this.#focusRow(isThere ? row?.dataset.name : entries[index]?.name, focused.localName, true);
    else if (document.activeElement === this.#title) this.#focusRow(this.#from, "a");
  }

  /** @param {string} [from] the list that one was in */
  begin(from) {
    this.#from = from;
    this.#title.focus({ preventScroll: true });
    this.#focusRow(from, "a");
  }

  refocus() {
    this.begin(this.#from);
  }

  close() {
    clearInterval(this.#timer);
  }

  // Private

  async #read() {
    if (this.#isAsking || document.hidden || this.#app.client.connection.state !== "online") return;
    this.#isAsking = true;
    try {
      this.#entries = await this.#app.clients.allLists();
      this.#isKnown = true;
      this.#app.draw();
      for (const entry of this.#entries) {
        // The person may have gone elsewhere.
        if (!this.element.isConnected) break;
        await this.#readNews(entry).catch(() => {});
      }
    } catch {
      // The next time may bring them; the state of the connection is shown anyway.
    }
    this.#isAsking = false;
  }

  /** @param {Entry} entry */
  async #readNews({ name, revision }) {
    const seen = seenRevision(this.#app.client, name);
    if (seen === undefined || seen >= revision || this.#news.get(name)?.revision === revision) return;
    this.#news.set(name, { text: await headline(await this.#app.clients.asker(name), name, seen, revision), revision });
    this.#app.draw();
  }

  /**
   * The link of a list has the focus, or its button, if it is there.
   * @param {string | undefined} name @param {string} part @param {boolean} [preventScroll]
   */
  #focusRow(name, part, preventScroll = false) {
    /** @type {HTMLElement | null | undefined} */
    const element = this.#rowOf(name)?.querySelector(part);
    if (element) element.focus({ preventScroll });
    else if (document.activeElement === document.body) this.#title.focus({ preventScroll });
  }

  /** @param {string | undefined} name */
  #rowOf(name) {
    const rows = [.../** @type {NodeListOf<HTMLElement>} */ (this.#rows.querySelectorAll("li"))];
    return rows.find(({ dataset }) => name !== undefined && dataset.name === name);
  }

  /** @param {string} name */
  #newsOf(name) {
    const { text = "", revision = 0 } = this.#news.get(name) ?? {};
    return (seenRevision(this.#app.client, name) ?? 0) >= revision ? "" : text;
  }

  /**
   * What one may want to know of a list.
   * @param {string} name
   */
  #wordsOf(name) {
    const waiting = this.#app.clients.waitingIn(name);
    return [this.#newsOf(name), waiting > 0 && `${amount(waiting, "edit")} not sent yet`];
  }

  /** @param {{ name: string, count?: number }} entry */
  #row({ name, count }) {
    const words = count === undefined ? "a copy on this device" : amount(count, "item");
    const link = h(
      "a",
      { href: fragmentOf({ list: name }) },
      h("bdi", {}, name),
      h("span", { class: "count" }, words),
      ...this.#wordsOf(name).map(text => text && h("span", { class: "news" }, text)),
    );
    const row = h("li", {}, link, signButton("⋮", `Actions for ${name}`, () => this.#menu(name)));
    row.dataset.name = name;
    return row;
  }

  /** @param {string} [value] the name that was tried before @param {string} [note] why it cannot be */
  #make(value = "", note = undefined) {
    const refusal = this.#app.clients.refusal("", 3);
    if (refusal) return this.#app.toast(refusal);
    ask("New list", { label: "Its name", value, ok: "Make it", note }, async name => {
      const problem = await this.#app.makeList(name);
      if (problem && this.element.isConnected) this.#make(name, problem);
      else if (problem) this.#app.toast(problem);
    });
  }

  /** @param {string} name */
  #menu(name) {
    // Its row may be another element once the menu is closed.
    this.#from = name;
    /** @type {[string, () => void][]} */
    const entries = [["Open", () => this.#app.go({ list: name })], ["Share", () => showShare(this.#app, name)]];
    if (!this.#app.clients.refusal(name, 4)) {
      entries.push(["Rename", () => this.#rename(name)], ["Delete", () => this.#delete(name)]);
    }
    openMenu(name, entries);
  }

  /** @param {string} name */
  #rename(name) {
    ask(`Rename ${name}`, { label: "Its new name", value: name, ok: "Rename" }, newName =>
      this.#change({ type: "rename", name, newName: newName.normalize("NFC") }, `“${name}” is “${newName}” now.`));
  }

  /** @param {string} name */
  #delete(name) {
    const words = "It is deleted for everybody. Whoever runs the server can bring it back for a while.";
    confirmThat(`Delete ${name}?`, words, "Delete", () =>
      this.#change({ type: "delete", name }, `Deleted “${name}”.`));
  }

  /** @param {import('../client/client.js').Question & { name: string }} question @param {string} said */
  async #change(question, said) {
    try {
      await (await this.#app.clients.asker(question.name)).request(question);
      if (question.type === "rename") {
        this.#app.listRenamed(question.name, question.newName);
        this.#rowOf(question.name)?.setAttribute("data-name", question.newName);
      }
      this.#app.toast(said);
      this.#isKnown = false;
      this.#read();
    } catch (error) {
      this.#app.toast(errorText(error));
    }
  }
}
