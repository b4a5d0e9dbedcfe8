// What deltas do, as simply as it can be written: an array of items, one step for each item.

import { changed } from "../../Sources/Web/client/change.js";

/** The items after a delta. */
export function applyNaively(items, delta) {
  const picked = [];
  let at = 0;
  for (const component of delta) {
    for (let i = 0; i < walked(component); i++, at++) if (component.op === "pick") picked.push(items[at]);
  }
  const result = [];
  at = 0;
  for (const component of delta) {
    if (component.op === "insert") result.push(...component.items);
    if (component.op === "drop") {
      for (let slot = component.from; slot < component.to; slot++) {
        result.push(component.change ? changed(picked[slot], component.change) : picked[slot]);
      }
    }
    for (let i = 0; i < walked(component); i++, at++) {
      if (component.op === "keep") result.push(items[at]);
      if (component.op === "edit") result.push(changed(items[at], component.change));
    }
  }
  return [...result, ...items.slice(at)];
}

function walked(component) {
  return component.op === "edit" ? 1 : component.op === "insert" || component.op === "drop" ? 0 : component.count;
}
