// The JSON forms of the vectors' README, to and from the values of the client.

import { MAX_COUNT, bytesOf, bytesOfID, textOf } from "../../Sources/Web/client/bytes.js";
import { FIELDS } from "../../Sources/Web/client/change.js";
import { dropsWhatItPicks, normalForm } from "../../Sources/Web/client/components.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { ERRORS, REASONS } from "../../Sources/Web/client/messages.js";
import { normalSplices } from "../../Sources/Web/client/splices.js";

const kinds = ["", "card", "note", "task", "link", "heading"];
const fieldsOfKind = [[], ["card"], ["text"], ["text", "done"], ["text", "url"], ["text"]];
const ranks = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
const suits = ["♣", "♦", "♥", "♠"];
const details = {
  listFull: ["maximum"], kindNotAllowed: ["kind"], itemTooLarge: ["size", "maximum"], cardNotInDeck: ["card"],
  duplicateItem: ["item"], doesNotFit: ["reach", "count"], revisionMoved: ["revision"], tooManyPending: ["limit"],
  storeFull: ["limit"], levelTooHigh: ["level", "maximum"],
};

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

// Bytes, in Node and in browsers

export const hexOf = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");

export function bytesOfHex(hex) {
  expect(/^([0-9a-f]{2})*$/.test(hex), "hex");
  return Uint8Array.from(hex.match(/../g) ?? [], pair => parseInt(pair, 16));
}

const base64Of = bytes => btoa(String.fromCharCode(...bytes));

// Items and lists

export function itemFrom(json) {
  const kind = typeof json.kind === "string" ? kinds.indexOf(json.kind) : json.kind;
  expect(Number.isInteger(kind) && kind > 0 && kind <= MAX_COUNT, "kind");
  const names = fieldsOfKind[kind] ?? ["bytes"];
  for (const field of FIELDS) expect(field === "level" || (json[field] !== undefined) === names.includes(field), field);
  return encoded(idFrom(json.id), kind, { ...fieldsFrom(json, names), level: levelFrom(json.level ?? 0) });
}

export function itemTo(item) {
  const { text, done, url, card, bytes, level } = item.fields();
  const json = { id: item.id, kind: kinds[item.kind] ?? item.kind };
  if (text) json.text = textOf(text);
  if (done !== undefined) json.done = done;
  if (url) json.url = textOf(url);
  if (card !== undefined) json.card = cardTo(card);
  if (bytes) json.bytes = base64Of(bytes);
  return { ...json, level };
}

export function listFrom(json) {
  const items = json.map(itemFrom);
  expect(new Set(items.map(item => item.id)).size === items.length, "an id twice");
  return List.of(items);
}

export const listTo = list => [...list].map(itemTo);

function fieldsFrom(json, names) {
  const fields = {};
  for (const name of names) {
    if (name === "text" || name === "url") fields[name] = textFrom(json[name]);
    else if (name === "done") fields.done = flagFrom(json.done);
    else if (name === "card") fields.card = cardFrom(json.card);
    else fields.bytes = bytesFrom(json.bytes);
  }
  return fields;
}

export function idFrom(id) {
  const text = id.toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1");
  expect(/^[0-9a-hjkmnp-tv-z]{13}$/.test(text), "id");
  return bytesOfID(text);
}

function textFrom(text) {
  expect(typeof text === "string" && text.isWellFormed?.() !== false, "text");
  return bytesOf(text);
}

function flagFrom(flag) {
  expect(typeof flag === "boolean", "flag");
  return flag;
}

function bytesFrom(text) {
  expect(typeof text === "string", "bytes");
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}

function numberFrom(number, limit = MAX_COUNT) {
  expect(Number.isInteger(number) && number >= 0 && number <= limit, "number");
  return number;
}

const levelFrom = level => numberFrom(level, 15);

export function cardFrom(text) {
  if (text === "??") return 0;
  const card = suits.indexOf(text.at(-1)) * 13 + ranks.indexOf(text.slice(0, -1)) + 1;
  expect(card > 0 && ranks.includes(text.slice(0, -1)), "card");
  return card;
}

export const cardTo = card => (card === 0 ? "??" : ranks[(card - 1) % 13] + suits[Math.floor((card - 1) / 13)]);

// Deltas

export function changeFrom(json) {
  const names = Object.keys(json);
  expect(names.length > 0 && names.every(name => FIELDS.includes(name)), "change");
  const change = fieldsFrom(json, names.filter(name => name === "done" || name === "card" || name === "bytes"));
  for (const name of ["text", "url"]) if (json[name] !== undefined) change[name] = splicesFrom(json[name]);
  if (json.level !== undefined) change.level = levelFrom(json.level);
  return change;
}

export function changeTo(change) {
  const json = {};
  for (const field of FIELDS) {
    const value = change[field];
    if (value === undefined) continue;
    if (field === "text" || field === "url") json[field] = value.map(spliceTo);
    else if (field === "card") json.card = cardTo(value);
    else if (field === "bytes") json.bytes = base64Of(value);
    else json[field] = value;
  }
  return json;
}

function splicesFrom(json) {
  expect(Array.isArray(json) && json.length > 0, "splices");
  const splices = normalSplices(json.map(({ at, removed, inserted }) => ({
    at: numberFrom(at), removed: textFrom(removed), inserted: textFrom(inserted),
  })));
  expect(splices.length > 0, "splices");
  return splices;
}

const spliceTo = ({ at, removed, inserted }) => ({ at, removed: textOf(removed), inserted: textOf(inserted) });

export function deltaFrom(json) {
  const delta = normalForm(json.map(componentFrom));
  expect(dropsWhatItPicks(delta), "slots");
  return delta;
}

function componentFrom(json) {
  for (const op of ["keep", "delete", "pick"]) if (json[op] !== undefined) return { op, count: numberFrom(json[op]) };
  if (json.edit) return { op: "edit", change: changeFrom(json.edit) };
  expect(json.insert || json.drop, "component");
  expect(json.side === "after" || json.side === "before", "side");
  if (json.insert) return { op: "insert", items: json.insert.map(itemFrom), side: json.side };
  const [from, to] = json.drop.map(slot => numberFrom(slot));
  if (!json.change) return { op: "drop", from, to, side: json.side };
  expect(to === from + 1, "a change for a block");
  return { op: "drop", from, to, side: json.side, change: changeFrom(json.change) };
}

export const deltaTo = delta => delta.map(componentTo);

function componentTo(component) {
  switch (component.op) {
    case "edit":
      return { edit: changeTo(component.change) };
    case "insert":
      return { insert: component.items.map(itemTo), side: component.side };
    case "drop": {
      const json = { drop: [component.from, component.to], side: component.side };
      return component.change ? { ...json, change: changeTo(component.change) } : json;
    }
    default:
      return { [component.op]: component.count };
  }
}

// Commits, rules, messages

export function rejectionTo({ reason, first, second }, message) {
  const name = REASONS[reason];
  const values = { first, second };
  const json = { reason: name, message };
  for (const [i, detail] of (details[name] ?? []).entries()) {
    const value = i === 0 ? values.first : values.second;
    if (detail === "kind") json.kind = kinds[value] ?? value;
    else if (detail === "card") json.card = cardTo(value);
    else if (detail === "item") json.item = undefined;
    else json[detail] = value;
  }
  return json;
}

export function rejectionFrom(json) {
  const reason = REASONS.indexOf(json.reason);
  expect(reason > 0, "reason");
  const kind = () => (kinds.indexOf(json.kind) > 0 ? kinds.indexOf(json.kind) : json.kind);
  const value = name =>
    (name === undefined ? 0 : name === "kind" ? kind() : name === "card" ? cardFrom(json.card) : json[name]);
  const [first, second] = details[json.reason] ?? [];
  return { reason, first: value(first), second: value(second) };
}

export function commitFrom(json) {
  const commit = { ...json, delta: deltaFrom(json.delta) };
  return json.refused ? { ...commit, refused: rejectionFrom(json.refused) } : commit;
}

export function commitTo(commit, message) {
  const json = { ...commit, delta: deltaTo(commit.delta) };
  return commit.refused ? { ...json, refused: rejectionTo(commit.refused, message) } : json;
}

export function rulesFrom(json) {
  const rules = { maximumCount: MAX_COUNT, maximumSize: 16384, maximumLevel: 15, deck: false, ...json };
  return json.kinds
    ? { ...rules, kinds: json.kinds.map(kind => (typeof kind === "string" ? kinds.indexOf(kind) : kind)) }
    : rules;
}

export const rulesTo = rules =>
  (rules.kinds ? { ...rules, kinds: rules.kinds.map(kind => kinds[kind] ?? kind) } : rules);

const focusTo = ({ place, item }) => [null, { selecting: item }, { editing: item }, "away"][place];
const roles = ["none", "read", "append", "write", "admin"];
const roleTo = role => (role === 0 ? null : roles[role]);

/** The fields of a message as the vectors have them; `expected` gives the words that only people read. */
export function fieldsTo(message, expected) {
  const { type, magic, ...fields } = message;
  switch (type) {
    case "hello":
      return { ...fields, token: fields.token || null };
    case "subscribe": {
      const { wants, ...rest } = fields;
      return { ...rest, wantsItems: (wants & 1) > 0, wantsPeople: (wants & 2) > 0 };
    }
    case "submit":
      return { ...fields, delta: deltaTo(fields.delta) };
    case "presence":
      return fields.focus ? { ...fields, focus: focusTo(fields.focus) } : {
        ...fields, entries: fields.entries.map(presenceTo),
      };
    case "create":
    case "state":
      return { ...fields, rules: rulesTo(fields.rules) };
    case "fetch":
      return { ...fields, revision: fields.revision ?? null };
    case "undelete":
      return { ...fields, deletion: fields.deletion || null };
    case "deletedLists":
      if (fields.before !== undefined) return { request: fields.request, before: fields.before || null };
      return {
        ...fields,
        entries: fields.entries.map(({ deletion, person, time, keptUntil, ...list }) => ({
          deletion, person, time, keptUntil, list: listEntryTo(list),
        })),
      };
    case "subscribed":
      return { ...fields, rules: rulesTo(fields.rules) };
    case "chunk":
      return { ...fields, items: fields.items.map(itemTo) };
    case "commit":
      return { ...fields, commit: commitTo(fields.commit, expected?.commit?.refused?.message) };
    case "rejected":
      return { ...fields, rejection: rejectionTo(fields.rejection, expected?.rejection?.message) };
    case "lists":
      return fields.entries ? { ...fields, entries: fields.entries.map(listEntryTo) } : fields;
    case "history":
      return fields.commits ? { ...fields, commits: fields.commits.map(commit => commitTo(commit)) } : fields;
    case "error":
      return { ...fields, code: ERRORS[fields.code] };
    case "excerpt": {
      if (fields.selections) return { ...fields, revision: fields.revision ?? null };
      const { request, ...excerpt } = fields;
      const entries = excerpt.entries.map(({ position, item }) => ({ position, item: itemTo(item) }));
      return { request, excerpt: { ...excerpt, rules: rulesTo(excerpt.rules), entries } };
    }
    case "granted":
      return grantedTo(fields, expected);
    default:
      return fields;
  }
}

const listEntryTo = entry => ({ ...entry, rules: rulesTo(entry.rules) });

function presenceTo({ author, place, person, item }) {
  if (place === 0) return { author, place: "gone" };
  return { author, place: { here: { person, focus: focusTo({ place: place - 1, item }) } } };
}

function grantedTo({ person, role, lists }) {
  return { person, everywhere: roleTo(role), lists: lists.map(({ name, role }) => ({ name, role: roleTo(role) })) };
}
