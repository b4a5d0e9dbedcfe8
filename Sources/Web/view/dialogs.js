// What opens above the page: menus, questions, and things to read. The browser keeps the focus inside, and Escape
// closes.

import { button, fill, h } from "./dom.js";

/** @typedef {import('./dom.js').Child} Child */

/** What had the focus is gone: somebody must say what has it now. */
let focusAgain = () => {};

/** @param {() => void} action */
export function onFocusLost(action) {
  focusAgain = action;
}

/**
 * Opens a dialog. It closes itself when a part of it calls `close`, and gives the focus back.
 * @param {string} title @param {(close: () => void) => Child[]} content
 */
export function openDialog(title, content) {
  const before = document.activeElement;
  const close = () => dialog.close();
  const heading = h("h2", { id: "dialog-title", dir: "auto" }, title);
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" });
  dialog.append(
    h("header", {}, heading, button("Close", close, { class: "quiet" })),
    ...h("div", {}, ...content(close)).childNodes,
  );
  dialog.addEventListener("close", () => {
    if (dialog.querySelector(".heard")) moveSpeech(document.querySelector("dialog[open]") ?? document.body);
    dialog.remove();
    // The browser has given the focus back, unless that was not possible; or something else was begun.
    if (document.activeElement !== document.body) return;
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    if (document.activeElement === document.body) focusAgain();
  });
  // A click beside the dialog closes it.
  dialog.addEventListener("click", event => {
    if (event.target === dialog) close();
  });
  dialog.addEventListener("keydown", event => {
    event.stopPropagation();
    walk(event);
  });
  document.body.append(dialog);
  dialog.showModal();
  moveSpeech(dialog);
  return dialog;
}

/**
 * What is behind a dialog is not heard, so what speaks is in front.
 * @param {Element} place
 */
function moveSpeech(place) {
  for (const region of document.querySelectorAll(".heard")) {
    region.replaceChildren();
    place.append(region);
  }
}

/**
 * Up and down go through the entries of a menu, as the tab key does.
 * @param {KeyboardEvent} event
 */
function walk(event) {
  const menu = event.target instanceof Element ? event.target.closest("ul.menu") : null;
  if (!menu || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  event.preventDefault();
  const entries = [...menu.querySelectorAll("button")];
  const at = entries.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  entries[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}

/** What was asked for is not there any more. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/** Whether a dialog is open. */
export function isDialogOpen() {
  return document.querySelector("dialog[open]") !== null;
}

/**
 * A question with one word for an answer.
 * @param {string} title
 * @param {{ label: string, value?: string, ok: string, note?: string, suggestions?: Promise<string[]>,
 *   problem?: (answer: string) => string }} question with why an answer cannot be, if so
 * @param {(answer: string) => void} answered
 */
export function ask(title, { label, value = "", ok, note, suggestions, problem = () => "" }, answered) {
  openDialog(title, close => {
    const input = h("input", {
      value, autofocus: true, autocomplete: "off", dir: "auto", id: "answer",
      oninput: () => input.setCustomValidity(problem(input.value)),
    });
    const offers = h("datalist", { id: "offers" });
    void suggestions?.then(names => {
      fill(offers, ...names.map(name => h("option", { value: name })));
      input.setAttribute("list", "offers");
    });
    const form = h(
      "form",
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (input.value.trim() === "") return;
          close();
          answered(input.value.trim());
        },
      },
      h("label", { htmlFor: "answer" }, label),
      input,
      offers,
      note ? h("p", { class: "note" }, note) : undefined,
      h("p", { class: "buttons" }, h("button", { type: "submit" }, ok)),
    );
    return [form];
  });
}

/**
 * A question that is answered by yes, or closed.
 * @param {string} title @param {string} text @param {string} ok @param {() => void} confirmed
 */
export function confirmThat(title, text, ok, confirmed) {
  openDialog(title, close => [
    h("p", { dir: "auto" }, text),
    h("p", { class: "buttons" }, button(ok, () => (close(), confirmed()), { class: "grave" }), button("Cancel", close)),
  ]);
}

/**
 * A menu: one of several things to do.
 * @param {string} title @param {[name: string, action: () => void, key?: string][]} entries @param {Child[]} [above]
 */
export function openMenu(title, entries, above = []) {
  return openDialog(title, close => [
    ...above,
    h(
      "ul",
      { class: "menu" },
      ...entries.map(([name, action, key], i) =>
        h("li", {}, h(
          "button",
          { type: "button", autofocus: i === 0, onclick: () => (close(), action()) },
          name,
          key ? h("kbd", { "aria-hidden": "true" }, key) : undefined,
        )),
      ),
    ),
  ]);
}
