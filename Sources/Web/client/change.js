// A change of one item: new values of its fields, splices of its texts. Section 6, "A change".

import { isSame } from "./bytes.js";
import { DoesNotFit, applySplices, composeSplices, invertSplices, normalSplices, transformSplices } from "./splices.js";

/** @typedef {import('./item.js').Item} Item */
/** @typedef {import('./item.js').Fields} Fields */
/** @typedef {import('./splices.js').Splice} Splice */
/**
 * @typedef {object} Change
 * @property {readonly Splice[]} [text]
 * @property {boolean} [done]
 * @property {readonly Splice[]} [url]
 * @property {number} [card]
 * @property {Uint8Array} [bytes]
 * @property {number} [level]
 */
/** @typedef {keyof Change} Field */

/** @type {readonly ["text", "url"]} */
export const TEXTS = ["text", "url"];
/**
 * All fields in the order of the page.
 * @type {readonly Field[]}
 */
export const FIELDS = ["text", "done", "url", "card", "bytes", "level"];

/** @param {Field} field */
export function isText(field) {
  return field === "text" || field === "url";
}

/** @param {Change} change */
export function isEmptyChange(change) {
  return FIELDS.every(field => change[field] === undefined);
}

/**
 * The item after the change. Throws `DoesNotFit`.
 * @param {Item} item @param {Change} change
 */
export function changed(item, change) {
  const fields = item.fields();
  /** @type {Fields} */
  const result = { ...fields, ...change, text: fields.text, url: fields.url };
  for (const field of FIELDS) {
    if (change[field] !== undefined && fields[field] === undefined) throw new DoesNotFit(`the item has no ${field}`);
  }
  for (const field of TEXTS) {
    const [text, splices] = [fields[field], change[field]];
    if (text && splices) result[field] = applySplices(text, splices);
  }
  return item.with(result);
}

/**
 * The change that takes this one of the item back.
 * @param {Item} item before the change @param {Change} change
 */
export function invertChange(item, change) {
  const fields = item.fields();
  /** @type {Change} */
  const inverse = { ...change };
  for (const field of TEXTS) if (change[field]) inverse[field] = invertSplices(change[field] ?? []);
  if (change.done !== undefined) inverse.done = fields.done;
  if (change.card !== undefined) inverse.card = fields.card;
  if (change.bytes !== undefined) inverse.bytes = fields.bytes;
  if (change.level !== undefined) inverse.level = fields.level;
  return inverse;
}

/**
 * What remains of x after y.
 * @param {Change | undefined} x @param {Change | undefined} y @param {boolean} isLater whether x is the later
 * @returns {Change | undefined}
 */
export function transformChange(x, y, isLater) {
  if (!x || !y) return x;
  /** @type {Change} */
  const rest = { ...x };
  for (const field of FIELDS) if (!isLater && y[field] !== undefined) delete rest[field];
  for (const field of TEXTS) {
    const [mine, others] = [x[field], y[field]];
    if (mine && others) rest[field] = transformSplices(mine, others, isLater);
  }
  return normalChange(rest);
}

/**
 * Both as one; the second was made after the first.
 * @param {Change | undefined} first @param {Change | undefined} second
 * @returns {Change | undefined}
 */
export function composeChange(first, second) {
  if (!first || !second) return first ?? second;
  /** @type {Change} */
  const all = { ...first, ...second };
  for (const field of TEXTS) {
    const [a, b] = [first[field], second[field]];
    if (a && b) all[field] = composeSplices(a, b);
  }
  return normalChange(all);
}

/**
 * Without texts that do not change; nothing if no field is left.
 * @param {Change} change
 * @returns {Change | undefined}
 */
export function normalChange(change) {
  const normal = { ...change };
  for (const field of TEXTS) {
    const splices = normal[field] && normalSplices(normal[field] ?? []);
    if (splices?.length) normal[field] = splices;
    else delete normal[field];
  }
  return isEmptyChange(normal) ? undefined : normal;
}

/**
 * Whether two values of a field that is no text are the same.
 * @param {unknown} a @param {unknown} b
 */
export function isSameValue(a, b) {
  return a instanceof Uint8Array && b instanceof Uint8Array ? isSame(a, b) : a === b;
}
