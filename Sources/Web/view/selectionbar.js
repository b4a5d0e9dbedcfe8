// What one can do with several items at once, without a keyboard: a bar at the bottom while rows are selected.

import { amount } from "./content.js";
import { openMenu } from "./dialogs.js";
import { button, h, setText } from "./dom.js";
import { roleFor } from "./keys.js";

/** @typedef {import('./keys.js').ActionName} ActionName */

export class SelectionBar {
  #count = h("span", { class: "selected", role: "status" });
  /** @type {[HTMLButtonElement, ActionName][]} */
  #buttons;
  element;

  /** @param {(action: ActionName) => void} perform @param {() => void} done */
  constructor(perform, done) {
    const move = () => openMenu("Move what is selected", [
      ["Up", () => perform("moveUp")], ["Down", () => perform("moveDown")], ["To the top", () => perform("moveTop")],
      ["To the end", () => perform("moveEnd")], ["To a number…", () => perform("moveTo")],
      ["To another list…", () => perform("toList")],
    ]);
    this.#buttons = [
      [button("Tick", () => perform("tick")), "tick"], [button("Move…", move), "moveUp"],
      [button("Cut", () => perform("cut")), "cut"], [button("Copy", () => perform("copy")), "copy"],
      [button("Delete", () => perform("delete"), { class: "grave" }), "delete"],
    ];
    this.element = h("div", { class: "selection", role: "group", "aria-label": "What is selected", hidden: true },
      this.#count, button("Done", done, { class: "primary" }),
      h("div", { class: "buttons" }, ...this.#buttons.map(([element]) => element)));
  }

  /** @param {boolean} isShown @param {number} count @param {(role: number) => boolean} mayDo */
  show(isShown, count, mayDo) {
    this.element.hidden = !isShown;
    if (!isShown) return setText(this.#count, "");
    setText(this.#count, count === 0 ? "Tap the items that you want." : `${amount(count, "item")} selected`);
    for (const [element, action] of this.#buttons) element.disabled = count === 0 || !mayDo(roleFor(action));
  }
}
