// Deltas, commits and rules as bytes, section 2 of the protocol's page.

import { FIELDS, isSameValue } from "./change.js";
import { Malformed, MAX_COUNT, Reader, Writer, isSame } from "./bytes.js";
import { dropsWhatItPicks, normalForm } from "./components.js";
import { readItem } from "./item.js";

/** @typedef {import('./change.js').Change} Change */
/** @typedef {import('./components.js').Delta} Delta */
/** @typedef {import('./components.js').Component} Component */
/** @typedef {import('./splices.js').Splice} Splice */
/**
 * Why an edit is refused: a number of section 8, and its two numbers.
 * @typedef {{ reason: number, first: number, second: number }} Rejection
 */
/**
 * @typedef {object} Commit
 * @property {number} revision
 * @property {number} author
 * @property {number} sequence
 * @property {number} base
 * @property {number} time
 * @property {number} count
 * @property {string} digest
 * @property {Delta} delta
 * @property {Rejection} [refused]
 */
/**
 * @typedef {object} Rules
 * @property {number} maximumCount
 * @property {number} maximumSize
 * @property {number} maximumLevel
 * @property {boolean} deck
 * @property {number[]} [kinds]
 */

// Components have these numbers.
const [KEEP, EDIT, DELETE, PICK, INSERT_AFTER, INSERT_BEFORE, DROP_AFTER, DROP_BEFORE] = [0, 1, 2, 3, 4, 5, 6, 7];
/** The bit of each field in a mask. */
const BITS = { text: 1, done: 2, url: 4, card: 8, bytes: 16, level: 32 };

// Deltas

/** @param {Writer} writer @param {Delta} delta */
export function writeDelta(writer, delta) {
  writer.varint(delta.length);
  for (const component of delta) writeComponent(writer, component);
}

/**
 * Throws `Malformed`, also if the delta is not in normal form.
 * @param {Reader} reader
 * @returns {Delta}
 */
export function readDelta(reader) {
  const start = reader.at;
  /** @type {Component[]} */
  const components = [];
  for (let count = reader.count(1); count > 0; count--) components.push(readComponent(reader));
  if (!dropsWhatItPicks(components)) throw new Malformed("a delta does not drop what it picks");
  // One value has one form: what a writer would write differently is refused.
  const delta = normal(components);
  const writer = new Writer();
  writeDelta(writer, delta);
  const read = reader.bytes.subarray(start, reader.at);
  if (!isSame(writer.written, read)) throw new Malformed("a delta is not in normal form");
  return delta;
}

/** @param {Component[]} components */
function normal(components) {
  try {
    return normalForm(components);
  } catch {
    throw new Malformed("a delta is not in normal form");
  }
}

/** @param {Writer} writer @param {Component} component */
function writeComponent(writer, component) {
  switch (component.op) {
    case "keep":
      return writer.varint(component.count * 8 + KEEP);
    case "delete":
      return writer.varint(component.count * 8 + DELETE);
    case "pick":
      return writer.varint(component.count * 8 + PICK);
    case "edit":
      writer.varint(maskOf(component.change) * 8 + EDIT);
      return writeValues(writer, component.change);
    case "insert":
      writer.varint(component.items.length * 8 + (component.side === "after" ? INSERT_AFTER : INSERT_BEFORE));
      for (const item of component.items) writer.raw(item.whole);
      return;
    case "drop": {
      const { from, to, side, change } = component;
      writer.varint((to - from) * 8 + (side === "after" ? DROP_AFTER : DROP_BEFORE));
      writer.varint(from * 2 + (change ? 1 : 0));
      if (!change) return;
      writer.varint(maskOf(change));
      return writeValues(writer, change);
    }
  }
}

/** @param {Reader} reader @returns {Component} */
function readComponent(reader) {
  const head = reader.varint(MAX_COUNT * 8 + 7);
  const [code, number] = [head % 8, Math.floor(head / 8)];
  if (number === 0) throw new Malformed("a component is about nothing");
  switch (code) {
    case KEEP:
      return { op: "keep", count: number };
    case DELETE:
      return { op: "delete", count: number };
    case PICK:
      return { op: "pick", count: number };
    case EDIT:
      return { op: "edit", change: readValues(reader, number) };
    case INSERT_AFTER:
    case INSERT_BEFORE:
      return { op: "insert", items: readItems(reader, number), side: code === INSERT_AFTER ? "after" : "before" };
    default:
      return readDrop(reader, number, code === DROP_AFTER ? "after" : "before");
  }
}

/** @param {Reader} reader @param {number} count @param {"after" | "before"} side @returns {Component} */
function readDrop(reader, count, side) {
  const slot = reader.varint(MAX_COUNT * 2 + 1);
  const from = Math.floor(slot / 2);
  const to = from + count;
  if (slot % 2 === 0) return { op: "drop", from, to, side };
  if (count > 1) throw new Malformed("a block has a change");
  return { op: "drop", from, to, side, change: readValues(reader, reader.varint(MAX_COUNT)) };
}

/**
 * Items that follow each other.
 * @param {Reader} reader @param {number} count
 */
export function readItems(reader, count) {
  if (count * 10 > reader.left) throw new Malformed("more items are announced than there are bytes for");
  const items = [];
  for (let i = 0; i < count; i++) items.push(readItem(reader));
  return items;
}

// Changes

/** @param {Change} change */
function maskOf(change) {
  return FIELDS.reduce((mask, field) => mask + (change[field] === undefined ? 0 : BITS[field]), 0);
}

/** @param {Writer} writer @param {Change} change */
function writeValues(writer, change) {
  if (change.text) writeSplices(writer, change.text);
  if (change.done !== undefined) writer.flag(change.done);
  if (change.url) writeSplices(writer, change.url);
  if (change.card !== undefined) writer.byte(change.card);
  if (change.bytes) writer.blob(change.bytes);
  if (change.level !== undefined) writer.byte(change.level);
}

/** @param {Reader} reader @param {number} mask @returns {Change} */
function readValues(reader, mask) {
  if (mask === 0 || mask > 63) throw new Malformed("a change of no field, or of one that does not exist");
  /** @type {Change} */
  const change = {};
  if (mask & BITS.text) change.text = readSplices(reader);
  if (mask & BITS.done) change.done = reader.flag();
  if (mask & BITS.url) change.url = readSplices(reader);
  if (mask & BITS.card) change.card = atMost(reader.byte(), 52);
  if (mask & BITS.bytes) change.bytes = reader.blob();
  if (mask & BITS.level) change.level = atMost(reader.byte(), 15);
  return change;
}

/** @param {number} value @param {number} limit */
function atMost(value, limit) {
  if (value > limit) throw new Malformed(`a value is above ${limit}`);
  return value;
}

/** @param {Writer} writer @param {readonly Splice[]} splices */
function writeSplices(writer, splices) {
  writer.varint(splices.length);
  let end = 0;
  for (const { at, removed, inserted } of splices) {
    writer.varint(at - end);
    writer.blob(removed);
    writer.blob(inserted);
    end = at + removed.length;
  }
}

/** @param {Reader} reader */
function readSplices(reader) {
  const count = reader.count(3);
  if (count === 0) throw new Malformed("a text is changed nowhere");
  /** @type {Splice[]} */
  const splices = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    at = atMost(at + reader.varint(MAX_COUNT), MAX_COUNT);
    const [removed, inserted] = [reader.text(), reader.text()];
    splices.push({ at, removed, inserted });
    at += removed.length;
  }
  return splices;
}

// Commits and rules

/** @param {Writer} writer @param {Commit} commit */
export function writeCommit(writer, commit) {
  const lag = commit.refused ? 0 : commit.revision - commit.base;
  const { revision, author, sequence, time, count } = commit;
  for (const number of [revision, author, sequence, lag, time, count]) writer.varint(number);
  writer.word(commit.digest);
  if (!commit.refused) return writeDelta(writer, commit.delta);
  writeRejection(writer, commit.refused);
}

/**
 * Throws `Malformed`.
 * @param {Reader} reader
 * @returns {Commit}
 */
export function readCommit(reader) {
  const [revision, author, sequence] = [reader.varint(), reader.varint(), reader.varint()];
  const lag = reader.varint();
  if (lag > revision || revision === 0) throw new Malformed("a commit is made on what never was");
  const [time, count, digest] = [reader.varint(), reader.varint(MAX_COUNT), reader.word()];
  const known = { revision, author, sequence, base: revision - (lag || 1), time, count, digest };
  return lag > 0 ? { ...known, delta: readDelta(reader) } : { ...known, delta: [], refused: readRejection(reader) };
}

/** @param {Writer} writer @param {Rejection} rejection */
export function writeRejection(writer, { reason, first, second }) {
  writer.varint(reason);
  writer.varint(first);
  writer.varint(second);
}

/** @param {Reader} reader @returns {Rejection} */
export function readRejection(reader) {
  const reason = reader.varint(15);
  if (reason === 0) throw new Malformed("a reason that does not exist");
  return { reason, first: reader.varint(), second: reader.varint() };
}

/** @param {Writer} writer @param {Rules} rules */
export function writeRules(writer, rules) {
  writer.varint(rules.maximumCount);
  writer.varint(rules.maximumSize);
  writer.byte((rules.deck ? 1 : 0) + (rules.kinds ? 2 : 0) + rules.maximumLevel * 16);
  if (!rules.kinds) return;
  writer.varint(rules.kinds.length);
  for (const kind of rules.kinds) writer.varint(kind);
}

/**
 * Throws `Malformed`.
 * @param {Reader} reader
 * @returns {Rules}
 */
export function readRules(reader) {
  const [maximumCount, maximumSize, flags] = [reader.varint(MAX_COUNT), reader.varint(MAX_COUNT), reader.byte()];
  if (flags & 12) throw new Malformed("a flag that does not exist");
  /** @type {Rules} */
  const rules = { maximumCount, maximumSize, maximumLevel: flags >> 4, deck: (flags & 1) === 1 };
  if (!(flags & 2)) return rules;
  const count = reader.count(1);
  if (count > 64) throw new Malformed("rules name more than 64 kinds");
  /** @type {number[]} */
  const kinds = [];
  for (let i = 0; i < count; i++) {
    const kind = reader.varint(MAX_COUNT);
    if (kind <= (kinds[i - 1] ?? 0)) throw new Malformed("the kinds of rules do not rise");
    kinds.push(kind);
  }
  return { ...rules, kinds };
}

/**
 * Whether two deltas in normal form are the same.
 * @param {Delta} a @param {Delta} b
 */
export function isSameDelta(a, b) {
  return isSameValue(bytesOfDelta(a), bytesOfDelta(b));
}

/** @param {Delta} delta */
export function bytesOfDelta(delta) {
  const writer = new Writer();
  writeDelta(writer, delta);
  return writer.written;
}
