// What other tabs of this device have not sent yet: how it is shown, and what people get to read of it.

import { textOf } from "./bytes.js";
import { compose } from "./compose.js";
import { DeltaBuilder, NOTHING, insertedItems } from "./components.js";
import { apply, newCount } from "./delta.js";
import { transform } from "./transform.js";

/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./journal.js').Kept} Kept */
/** @typedef {import('./list.js').List} List */
/** @typedef {import('./replica.js').Replica} Replica */
/** @typedef {import('./pending.js').Edit} Edit */
/**
 * A list as it will be once all have sent their edits: the items that others have changed or added, by their ids,
 * belong to them until then.
 * @typedef {{ list: List, theirs: ReadonlySet<string> }} Shown
 */

/**
 * The view with the edits of other tabs: those that were made on the same revision are merged as the server will do it;
 * of others, the items that they add are shown at the end.
 * @param {Replica} replica @param {readonly Kept[]} others
 * @returns {Shown}
 */
export function shownWith({ view, confirmed, revision, log, pending }, others) {
  let mine = joined(pending);
  let list = view;
  const theirs = new Set();
  /** @type {Item[]} */
  const added = [];
  for (const kept of others) {
    const edits = kept.edits.filter(({ isAssumed }) => !isAssumed);
    const isAlone = edits.length === kept.edits.length;
    const isSame = isAlone && kept.log === log && kept.revision === revision && kept.digest === confirmed.digest;
    const delta = joined(edits);
    try {
      if (!isSame) throw new RangeError("it was made on another list");
      const left = transform(delta, mine, true);
      list = apply(list, left);
      mine = compose(mine, left);
      for (const id of touched(list, left)) theirs.add(id);
    } catch {
      const before = list;
      added.push(...insertedItems(delta).filter(({ id }) => before.indexOf(id) < 0));
    }
  }
  if (added.length > 0) {
    const builder = new DeltaBuilder();
    builder.keep(list.count);
    builder.insert(added, "before");
    list = apply(list, builder.finish());
    for (const { id } of added) theirs.add(id);
  }
  return { list, theirs };
}

/**
 * The words of some edits, a line for each text: what they add to lists and to items.
 * @param {readonly Edit[]} edits
 */
export function wordsOf(edits) {
  /** @type {string[]} */
  const lines = [];
  for (const { delta } of edits) {
    for (const component of delta) {
      if (component.op === "insert") for (const item of component.items) lines.push(textsOf(item));
      const change = component.op === "edit" || component.op === "drop" ? component.change : undefined;
      const splices = [...(change?.text ?? []), ...(change?.url ?? [])];
      const words = splices.map(({ inserted }) => textOf(inserted)).filter(text => text.trim() !== "");
      if (words.length > 0) lines.push(words.join(" … "));
    }
  }
  return lines.filter(line => line !== "");
}

/** @param {Item} item */
function textsOf(item) {
  const { text, url } = item.fields();
  const [words, address] = [text, url].map(bytes => (bytes ? textOf(bytes) : ""));
  return address === "" || address === words ? words : `[${words}](${address})`;
}

/** @param {readonly Edit[]} edits @returns {Delta} */
function joined(edits) {
  return edits.reduce((all, { delta }) => compose(all, delta), NOTHING);
}

/**
 * The items that a delta has changed, moved or added.
 * @param {List} list after it @param {Delta} delta
 */
function touched(list, delta) {
  const ids = [];
  let at = 0;
  // Its new side: what it keeps, what it puts there, and what it changes in its place.
  for (const component of delta) {
    const count = newCount(component);
    if (component.op !== "keep") for (const { id } of list.slice(at, at + count)) ids.push(id);
    at += count;
  }
  return ids;
}
