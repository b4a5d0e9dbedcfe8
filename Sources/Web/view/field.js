// The field in which somebody types a text while others may change it, too. Others' changes wait while an input method
// composes or a button of the mouse is down: moving the caret then would destroy what is being typed.

import { fitHeight, h, signButton } from "./dom.js";
import { Draft } from "./draft.js";

/** After so many ms without a sign of life, a composition is taken to be over: some keyboards never say so. */
const COMPOSING = 5000;

/**
 * What the owner of a field does.
 * @typedef {object} Owner
 * @property {(draft: Draft, isLeaving: boolean) => void} save by Enter, or because the field is left
 * @property {(draft: Draft) => boolean} [refuses] whether it cannot be saved: the person is told, and the field stays
 * @property {() => void} cancel
 * @property {(draft: Draft) => void} [typed]
 * @property {(words: string) => void} [clashed] others have made these words of those that are being replaced
 * @property {() => void} [freed] what has waited can be shown
 */

export class Field {
  #owner;
  #draft;
  #element;
  /** @type {Uint8Array | undefined} what others made of the text meanwhile */
  #waiting;
  #composingUntil = 0;
  #isPressed = false;
  /** Whether the pointer is down, anywhere in the page. */
  #isPointing = false;
  /** Whether something else has the focus, and what was typed is about to be saved. */
  #isLeft = false;
  #isOver = false;
  /** For those whose keyboard has no Shift with Enter, and no Escape. The field keeps the focus. */
  keys = h("span", { class: "keys", onmousedown: (/** @type {Event} */ event) => event.preventDefault() },
    signButton("↵", "New line", () => this.#insert("\n"), { tabIndex: -1 }),
    signButton("✕", "Cancel", () => this.#cancel(), { tabIndex: -1 }));

  /**
   * @param {Draft} draft @param {string} label for a screen reader @param {Owner} owner
   */
  constructor(draft, label, owner) {
    this.#draft = draft;
    this.#owner = owner;
    const element = h("textarea", {
      class: "field", rows: 1, dir: "auto", "aria-label": label, enterkeyhint: "done", autocapitalize: "sentences",
      spellcheck: true, value: draft.shown,
    });
    this.#element = element;
    element.enterKeyHint = "done";
    element.addEventListener("input", event => this.#input(/** @type {InputEvent} */ (event)));
    element.addEventListener("beforeinput", event => this.#beforeInput(event));
    element.addEventListener("keydown", event => this.#key(event));
    element.addEventListener("compositionstart", () => this.#compose());
    element.addEventListener("compositionupdate", () => this.#compose());
    element.addEventListener("compositionend", () => {
      this.#composingUntil = 0;
      // The text is not final before the event after this one.
      setTimeout(() => this.#free());
    });
    element.addEventListener("pointerdown", () => (this.#isPressed = true));
    element.addEventListener("blur", () => this.#blurred());
    element.addEventListener("focus", () => (this.#isLeft = false));
    this.onPointerDown = () => (this.#isPointing = true);
    this.onPointerUp = () => {
      this.#isPressed = this.#isPointing = false;
      if (this.#isLeft) this.#leaveSoon();
      else this.#free();
    };
    document.addEventListener("pointerdown", this.onPointerDown, true);
    document.addEventListener("pointerup", this.onPointerUp);
    document.addEventListener("pointercancel", this.onPointerUp);
  }

  get element() {
    return this.#element;
  }

  get draft() {
    return this.#draft;
  }

  /** Whether others' changes wait: it must neither change nor be moved in the document. */
  get isHeld() {
    return this.#isComposing || this.#isPressed;
  }

  focus() {
    this.#element.focus();
    const end = this.#element.value.length;
    this.#element.setSelectionRange(end, end);
    this.fit();
  }

  /** The field is as high as its text. */
  fit() {
    fitHeight(this.#element);
  }

  /**
   * Others have made the text this one.
   * @param {Uint8Array} text @param {boolean} [isUrgent] whether it cannot wait for an input method
   */
  follow(text, isUrgent = false) {
    this.#waiting = text;
    if (isUrgent) {
      this.#composingUntil = 0;
      this.#isPressed = false;
    }
    this.#settle();
  }

  /** What was typed is saved, and the field goes. */
  leave() {
    this.#save(true);
  }

  /** The field is taken away: leaving it saves nothing any more. */
  close() {
    this.#isOver = true;
    document.removeEventListener("pointerdown", this.onPointerDown, true);
    document.removeEventListener("pointerup", this.onPointerUp);
    document.removeEventListener("pointercancel", this.onPointerUp);
  }

  /**
   * Something moves the field in the document, which is not leaving it.
   * @param {() => void} action
   */
  keeping(action) {
    if (document.activeElement !== this.#element) return action();
    const { selectionStart, selectionEnd, selectionDirection } = this.#element;
    this.#isOver = true;
    action();
    this.#isOver = false;
    if (document.activeElement === this.#element || !this.#element.isConnected) return;
    this.#element.focus({ preventScroll: true });
    this.#element.setSelectionRange(selectionStart, selectionEnd, selectionDirection);
  }

  // Private

  get #isComposing() {
    return this.#composingUntil > Date.now();
  }

  #compose() {
    this.#composingUntil = Date.now() + COMPOSING;
    setTimeout(() => this.#free(), COMPOSING + 10);
  }

  #free() {
    if (this.isHeld || this.#isOver) return;
    this.#settle();
    this.#owner.freed?.();
  }

  /** @param {InputEvent} event */
  #input(event) {
    if (event.isComposing) this.#compose();
    this.#typed();
    if (!event.isComposing) this.#settle();
  }

  /** @param {InputEvent} event */
  #beforeInput(event) {
    if (event.inputType === "historyUndo" || event.inputType === "historyRedo") {
      event.preventDefault();
      this.#turn(event.inputType === "historyUndo");
    } else if (event.inputType === "insertLineBreak" && !event.isComposing && !this.#isComposing) {
      // The key of a soft keyboard, which sends no key. A line break with shift has come as a key before.
      event.preventDefault();
      this.#save(false);
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation();
    // 229 is a key that an input method has taken.
    if (event.isComposing || event.keyCode === 229) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (event.key === "Enter" && !isCommand) {
      event.preventDefault();
      if (event.shiftKey || event.altKey) this.#insert("\n");
      else this.#save(false);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#cancel();
    } else if (isCommand && (key === "z" || key === "y")) {
      event.preventDefault();
      this.#turn(key === "z" && !event.shiftKey);
    }
  }

  #cancel() {
    this.close();
    this.#owner.cancel();
  }

  /** @param {boolean} isUndo */
  #turn(isUndo) {
    const replacements = isUndo ? this.#draft.undo() : this.#draft.redo();
    this.#replace(replacements);
    // One goes on typing behind what has come back.
    const first = replacements[replacements.length - 1];
    if (first) this.#element.setSelectionRange(first.from + first.text.length, first.from + first.text.length);
    this.#owner.typed?.(this.#draft);
  }

  /** @param {string} text */
  #insert(text) {
    const { selectionStart, selectionEnd } = this.#element;
    this.#element.setRangeText(text, selectionStart, selectionEnd, "end");
    this.#typed();
  }

  #typed() {
    this.#draft.type(this.#element.value, this.#element.selectionEnd);
    this.fit();
    this.#owner.typed?.(this.#draft);
  }

  #settle() {
    if (!this.#waiting || this.isHeld || this.#isOver) return;
    const text = this.#waiting;
    this.#waiting = undefined;
    this.#replace(this.#draft.follow(text));
    const { clash } = this.#draft;
    if (clash !== undefined) this.#owner.clashed?.(clash);
  }

  /**
   * Changes what is shown. The selection stays on the same characters, with its direction.
   * @param {import('./draft.js').Replacement[]} replacements
   */
  #replace(replacements) {
    if (replacements.length === 0) return;
    const element = this.#element;
    let { selectionStart, selectionEnd } = element;
    const { selectionDirection } = element;
    for (const { from, to, text } of replacements) {
      element.setRangeText(text, from, to, "preserve");
      const moved = (/** @type {number} */ place) =>
        place >= to && place > from ? place + text.length - (to - from) : Math.min(place, from);
      [selectionStart, selectionEnd] = [moved(selectionStart), moved(selectionEnd)];
    }
    element.setSelectionRange(selectionStart, selectionEnd, selectionDirection);
    this.fit();
  }

  /** @param {boolean} isLeaving */
  #save(isLeaving) {
    if (this.#isOver) return;
    this.#composingUntil = 0;
    this.#isPressed = false;
    this.#settle();
    if (!isLeaving && this.#owner.refuses?.(this.#draft)) return;
    this.close();
    this.#owner.save(this.#draft, isLeaving);
  }

  #blurred() {
    // The person looks at another window, and comes back.
    if (this.#isOver || document.activeElement === this.#element) return;
    this.#isLeft = true;
    if (!this.#isPointing) this.#leaveSoon();
  }

  /** What the person presses stays in its place until it has been pressed: without the field, the rows would move. */
  #leaveSoon() {
    setTimeout(() => this.#isLeft && this.leave());
  }
}
