// All messages, section 3 of the protocol's page.

import { Malformed, Reader, Writer } from "./bytes.js";
import * as f from "./fields.js";

/**
 * A message that a client sends.
 * @typedef {{ [K in keyof typeof UP]: { type: K } & Fields<typeof UP[K]> }[keyof typeof UP]} Up
 */
/**
 * A message that a client gets.
 * @typedef {{ [K in keyof typeof DOWN]: { type: K } & Fields<typeof DOWN[K]> }[keyof typeof DOWN]} Down
 */
/**
 * The fields of a sort of message.
 * @template S
 * @typedef {S extends { fields: import('./fields.js').Codec<infer V> } ? V : never} Fields
 */
/** @typedef {{ number: number, fields: import('./fields.js').Codec<any> }} Sort */

/** @template {Record<string, import('./fields.js').Codec<any>>} F @param {number} number @param {F} fields */
const sort = (number, fields) => ({ number, fields: f.record(fields) });

const listEntry = { name: f.string, count: f.count, revision: f.number, rules: f.rules };

export const UP = {
  hello: sort(1, {
    magic: f.magic,
    lowestVersion: f.count,
    highestVersion: f.count,
    capabilities: f.number,
    client: f.client,
    person: f.string,
    program: f.string,
    token: f.string,
    idle: f.number,
  }),
  subscribe: sort(2, { request: f.number, name: f.string, logID: f.word, revision: f.number, wants: f.choice(3) }),
  unsubscribe: sort(3, { list: f.number }),
  submit: sort(4, { list: f.number, base: f.number, sequence: f.number, how: f.number, delta: f.delta }),
  presence: sort(5, { list: f.number, focus: f.focus }),
  ping: sort(6, { nonce: f.number }),
  create: sort(7, { request: f.number, name: f.string, rules: f.rules }),
  delete: sort(8, { request: f.number, name: f.string }),
  lists: sort(9, { request: f.number, after: f.string }),
  history: sort(10, { request: f.number, name: f.string, from: f.number, limit: f.number }),
  fetch: sort(11, { request: f.number, name: f.string, revision: f.optional(f.number) }),
  excerpt: sort(12, {
    request: f.number,
    name: f.string,
    revision: f.optional(f.number),
    start: f.count,
    selections: f.many(f.selection, 3),
  }),
  rename: sort(13, { request: f.number, name: f.string, newName: f.string }),
  undelete: sort(14, { request: f.number, name: f.string, deletion: f.number, newName: f.string }),
  deletedLists: sort(15, { request: f.number, before: f.number }),
};

export const DOWN = {
  welcome: sort(1, {
    version: f.count,
    capabilities: f.number,
    author: f.number,
    idleDeadline: f.number,
    frameBytes: f.count,
    program: f.string,
  }),
  subscribed: sort(2, {
    request: f.number,
    list: f.number,
    logID: f.word,
    rules: f.rules,
    lastSequence: f.number,
    isLastRefused: f.flag,
    start: f.start,
  }),
  chunk: sort(3, { request: f.number, items: f.many(f.item, 10) }),
  commit: sort(4, { list: f.number, commit: f.commit }),
  rejected: sort(5, { list: f.number, sequence: f.number, rejection: f.rejection }),
  stale: sort(6, { list: f.number, sequence: f.number, head: f.number }),
  acknowledged: sort(7, { list: f.number, sequence: f.number, revision: f.number }),
  presence: sort(8, { list: f.number, entries: f.many(f.presence, 2) }),
  pong: sort(9, { nonce: f.number }),
  done: sort(10, { request: f.number }),
  lists: sort(11, { request: f.number, hasMore: f.flag, entries: f.many(f.record(listEntry), 6) }),
  history: sort(12, {
    request: f.number,
    people: f.many(f.record({ author: f.number, name: f.string }), 2),
    commits: f.many(f.commit, 15),
  }),
  state: sort(13, { request: f.number, revision: f.number, count: f.count, digest: f.word, rules: f.rules }),
  error: sort(14, { code: f.oneOf(28), request: f.number, list: f.number, retryAfter: f.number, message: f.string }),
  excerpt: sort(15, {
    request: f.number,
    logID: f.word,
    revision: f.number,
    count: f.count,
    rules: f.rules,
    isCut: f.flag,
    entries: f.many(f.record({ position: f.count, item: f.item }), 11),
  }),
  deletedLists: sort(16, {
    request: f.number,
    hasMore: f.flag,
    entries: f.many(
      f.record({ deletion: f.number, ...listEntry, person: f.string, time: f.number, keptUntil: f.number }),
      10,
    ),
  }),
  renamed: sort(17, { list: f.number, name: f.string }),
  granted: sort(18, {
    person: f.string,
    role: f.choice(4),
    lists: f.many(f.record({ name: f.string, role: f.choice(4) }), 2),
  }),
};

/** The errors of section 8, by number. */
export const ERRORS = [
  "", "notHand", "versionNotSupported", "malformedMessage", "frameTooLarge", "outOfOrder", "handshakeTimeout",
  "idleTimeout", "tooManyConnections", "replaced", "noSuchList", "listExists", "badListName", "badRules",
  "tooManySubscriptions", "notSubscribed", "wrongSequence", "baseInFuture", "shuttingDown", "internalError",
  "noSuchRevision", "listDamaged", "tooManyLists", "listDeleted", "notAuthenticated", "notAllowed", "slowedDown",
  "tooFast", "closedByOperator",
];
/** Those that close the connection and may be tried again, and those that no connection helps. */
const RETRIED = new Set([
  "handshakeTimeout", "idleTimeout", "tooManyConnections", "replaced", "shuttingDown", "internalError", "tooFast",
]);
const FINAL = new Set([
  "notHand", "versionNotSupported", "malformedMessage", "frameTooLarge", "outOfOrder", "wrongSequence", "baseInFuture",
  "notAuthenticated", "closedByOperator",
]);

/**
 * What an error means for the connection.
 * @param {number} code
 */
export function errorOf(code) {
  const name = ERRORS[code];
  return { name, closes: RETRIED.has(name) || FINAL.has(name), retries: RETRIED.has(name) };
}

/** The reasons of section 8, by number. */
export const REASONS = [
  "", "listFull", "kindNotAllowed", "itemTooLarge", "deckEmpty", "cardNotInDeck", "cardsAreDealt", "duplicateItem",
  "doesNotFit", "revisionMoved", "notStored", "tooManyPending", "notAllowed", "storeFull", "reasonForgotten",
  "levelTooHigh",
];

/**
 * The body of a message that a client sends.
 * @param {Up} message
 */
export function encodeUp(message) {
  return encode(UP, message);
}

/**
 * Reads the body of a message that a client gets. Throws `Malformed`.
 * @param {Uint8Array} body
 * @returns {Down}
 */
export function decodeDown(body) {
  return decode(DOWN, body);
}

/**
 * What a server does; clients use it in tests.
 * @param {Down} message
 */
export function encodeDown(message) {
  return encode(DOWN, message);
}

/**
 * What a server does; clients use it in tests.
 * @param {Uint8Array} body
 * @returns {Up}
 */
export function decodeUp(body) {
  return decode(UP, body);
}

/** @param {Record<string, Sort>} sorts @param {{ type: string }} message */
function encode(sorts, message) {
  const { number, fields } = sorts[message.type];
  const writer = new Writer();
  writer.byte(number);
  fields.write(writer, message);
  return writer.written;
}

/** @param {Record<string, Sort>} sorts @param {Uint8Array} body @returns {any} */
function decode(sorts, body) {
  const reader = new Reader(body);
  const number = reader.byte();
  for (const [type, sort] of Object.entries(sorts)) {
    if (sort.number !== number) continue;
    const message = { type, ...sort.fields.read(reader) };
    reader.finish();
    return message;
  }
  throw new Malformed("a message that does not exist");
}
