// What is left of an edit that was refused: the part that the refusal is not about is sent again. Section 5 of the
// protocol's page.

import { changed } from "./change.js";
import { NOTHING, DeltaBuilder, isContent, oldCount } from "./components.js";
import { pickedItems } from "./delta.js";
import { CARD } from "./item.js";
import { REASONS } from "./messages.js";

/** @typedef {import('./codec.js').Rejection} Rejection */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./list.js').List} List */
/** @typedef {(item: Item, isNew: boolean) => boolean} Test whether an insertion or a change with this result stays */

/**
 * The part of an edit that its rejection is not about; nothing if that is all of it.
 * @param {Delta} delta @param {Rejection} rejection @param {List} list that it was made on
 * @returns {Delta}
 */
export function remainder(delta, rejection, list) {
  if (REASONS[rejection.reason] === "notAllowed") return insertions(delta);
  const test = testOf(rejection, delta, list);
  return test ? filtered(delta, list, test) : NOTHING;
}

/**
 * @param {Rejection} rejection a number of section 8, and its two numbers @param {Delta} delta @param {List} list
 * @returns {Test | undefined} nothing if the rejection is about the whole edit
 */
function testOf({ reason, first, second }, delta, list) {
  switch (REASONS[reason]) {
    case "listFull": {
      let room = first - list.count;
      for (const component of delta) if (component.op === "delete") room += component.count;
      return (_, isNew) => !isNew || room-- > 0;
    }
    case "kindNotAllowed":
      return ({ kind }) => kind !== first;
    case "itemTooLarge":
      return item => sizeOf(item) <= second;
    case "deckEmpty":
      return item => cardOf(item) !== 0;
    case "cardNotInDeck":
      return item => cardOf(item) !== first;
    case "cardsAreDealt":
      return (item, isNew) => item.kind !== CARD || (isNew && cardOf(item) === 0);
    case "duplicateItem":
      return (item, isNew) => !isNew || item.half(4) !== first || item.half(0) !== second;
    case "levelTooHigh":
      return ({ level }) => level <= second;
    default:
      return undefined;
  }
}

/** @param {Delta} delta @param {List} list @param {Test} test */
function filtered(delta, list, test) {
  const picked = pickedItems(list, delta);
  const builder = new DeltaBuilder();
  let at = 0;
  for (const component of delta) {
    if (component.op === "insert") builder.insert(component.items.filter(item => test(item, true)), component.side);
    else if (component.op === "edit" && !test(changed(list.at(at), component.change), false)) builder.keep(1);
    else if (component.op === "drop" && component.change) {
      const { from, to, side, change } = component;
      builder.drop(from, to, side, test(changed(picked[from], change), false) ? change : undefined);
    } else builder.add(component);
    at += oldCount(component);
  }
  return builder.finish();
}

/**
 * Who may only add items may still add those of the edit.
 * @param {Delta} delta
 */
function insertions(delta) {
  const builder = new DeltaBuilder();
  for (const component of delta) {
    if (component.op === "insert") builder.add(component);
    else if (!isContent(component)) builder.keep(oldCount(component));
  }
  return builder.finish();
}

/**
 * The bytes that limits count.
 * @param {Item} item
 */
function sizeOf(item) {
  const { text, url, bytes, card } = item.fields();
  return card !== undefined ? 1 : [text, url, bytes].reduce((sum, part) => sum + (part?.length ?? 0), 0);
}

/** @param {Item} item */
function cardOf(item) {
  return item.kind === CARD ? item.fields().card : undefined;
}
