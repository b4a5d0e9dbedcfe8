// Section 6, "Where things are": the page needs no cursors in lists, but its laws and vectors are about them, too.

import { isContent, oldCount } from "../../Sources/Web/client/components.js";
import { newCount } from "../../Sources/Web/client/delta.js";

/**
 * Where a cursor is afterwards, which stands before the item with index `gap`. Content that is put into that very gap
 * goes to its right if its side is `after`, to its left otherwise.
 */
export function mapGap(delta, gap, side) {
  let at = 0;
  let now = 0;
  for (const component of delta) {
    const count = oldCount(component);
    if (isContent(component) ? at > gap || (at === gap && side === "after") : at + count > gap) {
      if (isContent(component) || component.op === "delete" || component.op === "pick") return now;
      return now + gap - at;
    }
    at += count;
    now += newCount(component);
  }
  return now + gap - at;
}
