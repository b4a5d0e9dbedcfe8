// What people are told, as sentences. It is pure.

import { textOf } from "../client/bytes.js";
import { oldCount } from "../client/components.js";
import { newCount } from "../client/delta.js";
import { REASONS } from "../client/messages.js";
import { wordsOf } from "../client/others.js";
import { amount, lineOf, nameOf, numeral, shortened } from "./content.js";

/** @typedef {import('../client/codec.js').Commit} Commit */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {import('../client/replica.js').Told} Told */
/** @typedef {import('../client/change.js').Change} Change */
/** @typedef {{ who: string, verb: string, what: string }} Action */
/** @typedef {{ commit: Commit, before: List, after: List }} Followed somebody else's commit, and the list around it */

const VERBS = new Map([["insert", "added"], ["delete", "deleted"], ["pick", "moved"]]);
/** More actions of one person than this are only counted. */
const MOST_DEEDS = 3;
const MOST_PEOPLE = 3;

const RESTORED = "The server has an earlier state of this list now: it was restored from a backup.";

/** Why edits are refused, if that needs no number. */
const WHYS = new Map([
  ["kindNotAllowed", "the list does not take items of this kind"],
  ["deckEmpty", "the deck is empty; delete a card first"],
  ["cardNotInDeck", "that card is not in the deck"],
  ["cardsAreDealt", "only the server deals the cards of this list"],
  ["duplicateItem", "the item is in the list already"],
  ["revisionMoved", "somebody changed the list meanwhile; look at it, and try again"],
  ["notStored", "the server could not store it"],
  ["tooManyPending", "the server has too much to do; try again"],
  ["notAllowed", "your role does not allow it"],
  ["storeFull", "there is no room for more"],
]);

/**
 * Why an edit was refused.
 * @param {{ reason: number, first: number, second: number }} rejection
 */
export function whyRefused({ reason, first, second }) {
  const name = REASONS[reason];
  if (name === "listFull") return `the list is full: it takes ${amount(first, "item")}`;
  if (name === "itemTooLarge") return `the text is too long: ${numeral(first)} bytes of at most ${numeral(second)}`;
  if (name === "levelTooHigh") return `the list has no level ${first}`;
  return WHYS.get(name) ?? "the server did not take it";
}

/**
 * Why a text is refused before it is sent.
 * @param {number} size in bytes @param {number} largest that the list takes
 */
export function tooLong(size, largest) {
  return `The text is too long: it has ${numeral(size)} bytes, and the list takes ${numeral(largest)}.`;
}

/** Errors of the protocol, and what one can do. */
const ERRORS = new Map([
  ["offline", "The server cannot be reached right now."],
  ["unreachable", "The server cannot be reached right now."],
  ["no network", "This device has no network."],
  ["silent", "Something between this device and the server blocks live connections."],
  ["lost", "The connection was lost."],
  ["noSuchList", "There is no such list, or you may not read it."],
  ["listExists", "There is a list of that name already."],
  [
    "badListName",
    "A list cannot have that name: it has 1 to 128 bytes, no “/” and nothing invisible, and is not “.”, “..” or “-”.",
  ],
  ["listDeleted", "The list was deleted."],
  ["notAllowed", "Your role does not allow that."],
  ["notAuthenticated", "The link is not valid any more. Ask whoever gave it to you for a new one."],
  ["noSuchRevision", "The server does not keep that revision any more."],
  ["tooManyLists", "The server has as many lists as it takes."],
  ["versionNotSupported", "The server is newer than this page, or older. Load the page again."],
  ["closedByOperator", "The operator of the server has closed the connection."],
  ["editsWait", "The list is gone; your edits of it are still here."],
  ["taken", "Another tab has gone on with what was done here. Load the page again."],
  ["damaged", "This device cannot read what it has kept."],
  ["later format", "A newer version of this page has kept that. Load the page again."],
  ["slowedDown", "That was too much at once. Try again in a moment."],
  ["taken", "Another tab went on with what this one had. Load the page again."],
  ["replaced", "Another page takes the connection from this one again and again. Close it, and load this one again."],
]);
for (const name of ["malformedMessage", "frameTooLarge", "outOfOrder", "wrongSequence", "baseInFuture"]) {
  ERRORS.set(name, "The server and this page do not understand each other. Load the page again.");
}

/** @param {unknown} error or its name */
export function errorText(error) {
  const name = error instanceof Error ? error.name : String(error);
  return ERRORS.get(name) ?? `The server cannot do that (${name}).`;
}

/**
 * What a person should know, and the words that were lost; nothing if the person need not know.
 * @param {Told} told @param {Item | undefined} item that it is about, as it is now @param {string} who
 * @returns {import('./noticebar.js').Notice | undefined}
 */
export function noticeOf(told, item, who) {
  switch (told.type) {
    case "rejected": {
      const words = wordsOf([told.edit]);
      const which = words.length > 0 ? ` (“${shortened(words[0])}”${words.length > 1 ? " …" : ""})` : "";
      const text = `Your edit was not taken: ${whyRefused(told)}${which}.`;
      return { text, lost: words.join("\n"), isOne: words.length === 1 };
    }
    case "overridden":
      return { ...overridden(told, item, who), isOne: true, ...placeOf(told, item) };
    case "kept":
      return {
        text: `“${shortened(textOf(told.words.present))}” stays, since somebody else wrote it.`,
        lost: textOf(told.words.words),
        isOne: true,
      };
    case "usedTwice":
      return { text: "Another program used this page's id; your edit is sent again.", lost: "" };
    case "diverged":
      return { text: "This copy of the list differed from the server's; it was loaded again.", lost: "" };
    case "restored": {
      const { gone } = told;
      const count = gone.length === 0 ? "" : ` Gone with that: ${amount(gone.length, "item")}.`;
      return { text: RESTORED + count, lost: gone.map(({ text }) => text).join("\n"), isOne: gone.length === 1 };
    }
    default:
      return undefined;
  }
}

/**
 * Where words that were overwritten can be put back.
 * @param {Extract<Told, { type: "overridden" }>} told @param {Item | undefined} item
 */
function placeOf({ lost }, item) {
  if (!item || lost.lost !== "words" || lost.field !== "text") return {};
  return { item: item.id, present: textOf(lost.present) };
}

/**
 * @param {Extract<Told, { type: "overridden" }>} told @param {Item | undefined} item @param {string} who
 */
function overridden({ lost, was }, item, who) {
  if (!item) {
    const what = was ? `“${nameOf(was)}”, which you had changed` : "an item that you had changed";
    return { text: `${who} deleted ${what}.`, lost: was?.text ?? (lost.lost === "words" ? textOf(lost.words) : "") };
  }
  const what = `“${lineOf(item)}”`;
  if (lost.lost === "move") return { text: `${who} moved ${what} after you did.`, lost: "" };
  if (lost.lost === "edit") return { text: `${who} changed ${what} after you did.`, lost: "" };
  const [words, present] = [shortened(textOf(lost.words)), shortened(textOf(lost.present))];
  if (present === "") return { text: `${who} removed “${words}” in ${what}.`, lost: textOf(lost.words) };
  if (words === "") return { text: `${who} put “${present}” back in ${what}.`, lost: "" };
  return { text: `${who} overwrote “${words}” with “${present}” in ${what}.`, lost: textOf(lost.words) };
}

/**
 * What a commit did, in a few words, and to which item at first, as far as the lists before it and after it are known.
 * @param {Pick<Commit, "delta" | "refused">} commit @param {List} [before] @param {List} [after]
 */
export function summaryOf({ delta, refused }, before, after) {
  if (refused) return `refused: ${whyRefused(refused)}`;
  /** @type {Map<string, { count: number, item: Item | undefined, change: Change | undefined }>} */
  const actions = new Map();
  let [old, now] = [0, 0];
  for (const component of delta) {
    const change = "change" in component ? component.change : undefined;
    const verb = change ? verbOf(change) : VERBS.get(component.op);
    if (verb !== undefined) {
      const item = component.op === "insert" ? component.items[0] : change ? after?.at(now) : before?.at(old);
      const action = actions.get(verb) ?? { count: 0, item, change };
      action.count += oldCount(component) || newCount(component);
      actions.set(verb, action);
    }
    old += oldCount(component);
    now += newCount(component);
  }
  const parts = [...actions].map(([verb, { count, item, change }]) => {
    const words = change && count === 1 ? wordsOfChange(change) : verb;
    if (!item) return change && count === 1 ? words : `${verb} ${amount(count, "item")}`;
    const more = count > 1 ? ` and ${numeral(count - 1)} more` : "";
    return `${words}${words === verb ? "" : " in"} “${nameOf(item)}”${more}`;
  });
  return parts.length > 0 ? parts.join(", ") : "nothing was left to change";
}

/**
 * What a change of one item did.
 * @param {Change} change
 */
export function wordsOfChange(change) {
  const parts = [];
  if (change.done !== undefined) parts.push(change.done ? "ticked" : "unticked");
  for (const { removed, inserted } of [...(change.text ?? []), ...(change.url ?? [])]) {
    const [old, now] = [shortened(textOf(removed), 30), shortened(textOf(inserted), 30)];
    parts.push(old === "" ? `wrote “${now}”` : now === "" ? `removed “${old}”` : `“${old}” became “${now}”`);
  }
  if (change.level !== undefined) parts.push(`set level ${change.level}`);
  if (change.card !== undefined) parts.push("turned the card");
  return parts.length > 0 ? parts.join(", ") : "changed";
}

/**
 * What a commit did to each item.
 * @param {Followed} followed @param {string} who
 */
export function actionsOf({ commit, before, after }, who) {
  /** @type {Action[]} */
  const actions = [];
  let [old, now] = [0, 0];
  /** @type {(verb: string, list: List, from: number, count: number) => void} */
  const note = (verb, list, from, count) => {
    for (const item of list.slice(from, from + count)) actions.push({ who, verb, what: nameOf(item) });
  };
  for (const component of commit.delta) {
    const { op } = component;
    if (op === "insert") note("added", after, now, component.items.length);
    else if (op === "delete") note("deleted", before, old, component.count);
    else if (op === "pick") note("moved", before, old, component.count);
    else if (op === "edit") note(verbOf(component.change), after, now, 1);
    old += oldCount(component);
    now += newCount(component);
  }
  return actions;
}

/** @param {import('../client/change.js').Change} change */
function verbOf({ done, ...others }) {
  const isTick = done !== undefined && Object.values(others).every(value => value === undefined);
  return !isTick ? "changed" : done ? "ticked" : "unticked";
}

/**
 * What others have just done, in words that are spoken: `Bob added milk, ticked bread`.
 * @param {readonly Action[]} actions
 */
export function sentenceOf(actions) {
  /** @type {Map<string, Action[]>} */
  const people = new Map();
  for (const action of actions) {
    const own = people.get(action.who) ?? [];
    people.set(action.who, own);
    own.push(action);
  }
  const sentences = [...people].slice(0, MOST_PEOPLE).map(([who, own]) => {
    // Somebody who writes changes one text again and again.
    const different = [...new Set(own.map(({ verb, what }) => `${verb} ${what}`))];
    if (different.length <= MOST_DEEDS) return `${who} ${different.join(", ")}`;
    return `${who} changed ${amount(new Set(own.map(({ what }) => what)).size, "item")}`;
  });
  const more = people.size - MOST_PEOPLE;
  return sentences.join(". ")
    + (more > 0 ? `, and ${amount(more, "other person", "other people")} changed the list` : "");
}

/**
 * When something was: the time today, else the date.
 * @param {number} time in ms since 1970 @param {number} now
 */
export function whenText(time, now) {
  const date = new Date(time);
  const clock = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const isToday = new Date(now).toDateString() === date.toDateString();
  return isToday
    ? clock
    : `${date.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" })} ${clock}`;
}

/**
 * How long ago something was, by the clock of the device.
 * @param {number} time @param {number} now
 */
export function agoText(time, now) {
  const minutes = Math.floor(Math.max(0, now - time) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${amount(minutes, "minute")} ago`;
  if (minutes < 48 * 60) return `${amount(Math.floor(minutes / 60), "hour")} ago`;
  return `${amount(Math.floor(minutes / 1440), "day")} ago`;
}
