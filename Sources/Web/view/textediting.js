// The texts of a list that are edited in their rows, while others edit them, too.

import { bytesOf, textOf } from "../client/bytes.js";
import { diffTexts } from "../client/words.js";
import { addressOf, nameOf, shortened } from "./content.js";
import { ask } from "./dialogs.js";
import { Draft } from "./draft.js";
import { changing } from "./edits.js";
import { Field } from "./field.js";
import { tooLong } from "./sentences.js";
import { recall, remember } from "./tabmemory.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {import('./ownedits.js').OwnEdits} OwnEdits */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {{ id: string, kept: [base: string, text: string], tab: string }} Unsaved of an item, by a client id */

/** How long it may take until the end of a page is known, in ms. */
const ENDING = 2000;

export class TextEditing {
  #app;
  #open;
  #grid;
  #screen;
  #edits;

  /** @param {App} app @param {OpenList} open @param {Grid} grid @param {ListScreen} screen @param {OwnEdits} edits */
  constructor(app, open, grid, screen, edits) {
    this.#app = app;
    this.#open = open;
    this.#grid = grid;
    this.#screen = screen;
    this.#edits = edits;
  }

  get #view() {
    return this.#open.replica.view;
  }

  /** Edits the current item. */
  begin() {
    const id = this.#grid.current;
    const index = id === undefined ? -1 : this.#view.indexOf(id);
    if (id === undefined || index < 0) return;
    const item = this.#view.at(index);
    const { text } = item.fields();
    if (!text) return this.#app.toast("This item has no text.");
    const unsaved = unsavedIn(this.#open.name);
    const field = new Field(Draft.of(text, unsaved?.id === id ? unsaved.kept : undefined), `Text of ${nameOf(item)}`, {
      save: (draft, isLeaving) => {
        this.#save(id, draft);
        this.#end(!isLeaving);
      },
      refuses: draft => {
        const size = bytesOf(draft.text).length;
        if (size > this.#largest) this.#app.toast(tooLong(size, this.#largest));
        return size > this.#largest;
      },
      cancel: () => {
        keepUnsaved(this.#open.name, undefined);
        this.#end(true);
      },
      clashed: words => this.#warn(words),
      freed: () => this.#app.draw(),
      typed: draft => {
        const tab = this.#app.client.drafts.self;
        keepUnsaved(this.#open.name, draft.isChanged ? { id, kept: draft.kept, tab } : undefined);
      },
    });
    field.element.addEventListener("paste", event => {
      const size = bytesOf(event.clipboardData?.getData("text/plain") ?? "").length;
      if (size <= this.#largest) return;
      // A browser takes minutes to show it, and then it could not be saved.
      event.preventDefault();
      this.#app.toast(`${tooLong(size, this.#largest)} Pasted below the list, each line becomes an item.`);
    });
    this.#grid.edit(id, field);
    if (field.draft.clash !== undefined) this.#warn(field.draft.clash);
    this.#screen.place();
  }

  /** Asks for the address of the current item. */
  askAddress() {
    const id = this.#grid.current ?? "";
    const url = this.#textOf(id, "url");
    if (url) this.#askAddress(id, textOf(url));
    else this.#app.toast("Only a link has an address.");
  }

  /** The text that is edited is as others have made it. */
  follow() {
    const id = this.#grid.edited;
    if (id === undefined) return;
    const text = this.#textOf(id);
    if (text) this.#grid.field?.follow(text);
    else if (!this.#grid.field?.isHeld) this.#rescueField();
  }

  /** What is in the field is saved, since its screen goes or the page is hidden: it may never come back. */
  save() {
    const { field } = this.#grid;
    const id = this.#grid.edited;
    if (!field || id === undefined) return;
    const text = this.#textOf(id);
    if (text) field.follow(text, true);
    this.#save(id, field.draft);
    field.draft.settle();
  }

  /** What was typed before the page was loaded again is in its field again. False if its item is not there yet. */
  resume() {
    const unsaved = unsavedIn(this.#open.name);
    if (!unsaved) return true;
    const refusal = this.#app.clients.refusal(this.#open.name, 3);
    if (!refusal && this.#view.indexOf(unsaved.id) < 0 && !this.#open.subscription.isLive) return false;
    const isOurs = () => this.#app.client.drafts.isOurs(unsaved.tab);
    // The browser may say a little later that the page before has ended.
    const later = () => new Promise(resolve => setTimeout(resolve, ENDING)).then(isOurs);
    void isOurs().then(is => is || later()).then(isOurs => {
      if (!this.#grid.element.isConnected) return;
      const index = this.#view.indexOf(unsaved.id);
      if (!isOurs || (index >= 0 && this.#view.at(index).text === unsaved.kept[1])) {
        keepUnsaved(this.#open.name, undefined);
      } else if (refusal || index < 0) this.#rescue(unsaved.kept[1], refusal);
      else if (!this.#grid.isEditing) {
        this.#grid.setCurrent(unsaved.id);
        this.begin();
      }
    });
    return true;
  }

  /**
   * Puts words back into a text in the place of those that have overwritten them. False if these are not there, or more
   * than once.
   * @param {string | undefined} id @param {string} present @param {string} words
   */
  putBack(id, present, words) {
    const index = this.#view.indexOf(id ?? "");
    const text = this.#textOf(id ?? "");
    const places = text ? placesOf(present, textOf(text)) : [];
    if (!text || places.length !== 1) return false;
    const [at, shown] = [places[0], textOf(text)];
    const splices = diffTexts(text, bytesOf(shown.slice(0, at) + words + shown.slice(at + present.length)));
    return this.#edits.make(changing(this.#view, [[index, index + 1]], () => ({ text: splices })));
  }

  /** @param {string} former name of the list */
  renamed(former) {
    keepUnsaved(this.#open.name, unsavedIn(former));
    keepUnsaved(former, undefined);
  }

  // Private

  /** @param {string} id @param {string} seen as its address @param {string} [value] typed @param {string} [note] */
  #askAddress(id, seen, value = seen, note = undefined) {
    ask("Address of the link", { label: "https:, http: or mailto:", value, ok: "Save", note }, typed => {
      const address = addressOf(typed);
      const url = this.#textOf(id, "url");
      if (!url) return this.#app.toast("Somebody has deleted the link meanwhile.");
      if (!address) return this.#askAddress(id, seen, typed, "An address begins with https:, http: or mailto:.");
      const now = textOf(url);
      if (now !== seen) {
        return this.#askAddress(id, now, typed, `Somebody has changed it to ${now} meanwhile. Save puts yours there.`);
      }
      const index = this.#view.indexOf(id);
      const change = { url: diffTexts(url, bytesOf(address)) };
      this.#edits.make(changing(this.#view, [[index, index + 1]], () => change), "Changed.");
    });
  }

  /** @param {boolean} staysInRow whether the row has the focus then */
  #end(staysInRow) {
    this.#grid.endEditing();
    this.#screen.looking.release();
    if (staysInRow) this.#grid.focus();
    // Others see that the person edits no longer, and rows may have waited.
    this.#screen.place();
    this.#app.draw();
  }

  /** @param {string} words that others have put in the place of those that the person replaces */
  #warn(words) {
    const [verb, result] = words === "" ? ["removed", ""] : ["changed", ` to “${shortened(words)}”`];
    this.#app.toast(`Somebody has ${verb} what you are replacing${result}. Enter puts your words there.`);
  }

  /** The most bytes of a text. */
  get #largest() {
    return this.#open.subscription.rules?.maximumSize ?? Infinity;
  }

  /** @param {string} id @param {"text" | "url"} [field] */
  #textOf(id, field = "text") {
    const index = this.#view.indexOf(id);
    return index < 0 ? undefined : this.#view.at(index).fields()[field];
  }

  /** @param {string} id @param {Draft} draft */
  #save(id, draft) {
    keepUnsaved(this.#open.name, undefined);
    if (!draft.isChanged) return;
    if (draft.text.trim() === "") return this.#app.toast("The text is empty, so it is not saved.");
    const index = this.#view.indexOf(id);
    if (index < 0) return this.#rescue(draft.text);
    draft.follow(this.#textOf(id) ?? new Uint8Array(0));
    const size = bytesOf(draft.text).length;
    if (size > this.#largest) return this.#screen.composer.bring(draft.text, tooLong(size, this.#largest), true);
    const change = changing(this.#view, [[index, index + 1]], () => ({ text: draft.splices }));
    if (this.#edits.make(change, "Changed.")) return;
    this.#screen.composer.bring(draft.text, "These words could not be saved.", true);
  }

  /** The item that is edited is gone: the words stay, and can become a new item. */
  #rescueField() {
    const { field } = this.#grid;
    if (!field) return;
    this.#end(false);
    if (field.draft.isChanged) return this.#rescue(field.draft.text);
    this.#app.fieldTaken();
    this.#grid.focus();
    this.#app.toast("Somebody has deleted the item.");
  }

  /** @param {string} text that cannot be saved @param {string} [why] */
  #rescue(text, why = "The item you were editing was deleted.") {
    const then = this.#app.clients.refusal(this.#open.name, 2) ?? "Enter adds your words as a new one.";
    const note = `${why} ${then}`;
    keepUnsaved(this.#open.name, undefined);
    this.#screen.composer.begin(undefined);
    this.#screen.composer.bring(text, note, true);
    this.#app.speech.say(note);
  }
}

/**
 * Where words stand in a text, and not as parts of others.
 * @param {string} words @param {string} text
 */
function placesOf(words, text) {
  const isLetter = (/** @type {string} */ a, /** @type {string} */ b) => /[\p{L}\p{N}]{2}/u.test(a + b);
  const places = [];
  for (let at = text.indexOf(words); words !== "" && at >= 0; at = text.indexOf(words, at + 1)) {
    const end = at + words.length;
    const isPart = isLetter(text.charAt(at - 1), words.charAt(0))
      || isLetter(words.charAt(words.length - 1), text.charAt(end));
    if (!isPart) places.push(at);
  }
  return places;
}

/**
 * The text that is being edited in this tab, for when the tab is loaded again. Another tab has another one: if two tabs
 * went on with the same words, both would save them.
 * @param {string} list
 * @returns {Unsaved | undefined}
 */
function unsavedIn(list) {
  const { id, kept, tab } = recall(`unsaved ${list}`) ?? {};
  const isWhole = Array.isArray(kept) && [id, tab, kept[0], kept[1]].every(text => typeof text === "string");
  return isWhole ? { id, kept: [kept[0], kept[1]], tab } : undefined;
}

/** @param {string} list @param {Unsaved | undefined} unsaved */
function keepUnsaved(list, unsaved) {
  remember(`unsaved ${list}`, unsaved);
}
