// What people are told, as sentences. It is pure.

import { textOf } from "../client/bytes.js";
import { oldCount } from "../client/components.js";
import { newCount } from "../client/delta.js";
import { REASONS } from "../client/messages.js";
import { wordsOf } from "../client/others.js";
import { amount, lineOf, nameOf, numeral, shortened } from "./content.js";
import { verbOf } from "./deeds.js";

/** @typedef {import('../client/codec.js').Commit} Commit */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {import('../client/replica.js').Told} Told */
/** @typedef {import('../client/change.js').Change} Change */

const VERBS = new Map([["insert", "added"], ["delete", "deleted"], ["pick", "moved"]]);

/**
 * Why an edit was refused.
 * @param {{ reason: number, first: number, second: number }} rejection
 */
export function whyRefused({ reason, first, second }) {
  switch (REASONS[reason]) {
    case "listFull":
      return `the list is full: it takes ${amount(first, "item")}`;
    case "kindNotAllowed":
      return "the list does not take items of this kind";
    case "itemTooLarge":
      return `the text is too long: ${numeral(first)} bytes of at most ${numeral(second)}`;
    case "deckEmpty":
      return "the deck is empty; delete a card first";
    case "cardNotInDeck":
      return "that card is not in the deck";
    case "cardsAreDealt":
      return "only the server deals the cards of this list";
    case "duplicateItem":
      return "the item is in the list already";
    case "revisionMoved":
      return "somebody changed the list meanwhile; look at it, and try again";
    case "notStored":
      return "the server could not store it";
    case "tooManyPending":
      return "the server has too much to do; try again";
    case "notAllowed":
      return "your role does not allow it";
    case "storeFull":
      return "the server's disk is full";
    case "levelTooHigh":
      return `the list has no level ${first}`;
    default:
      return "the server did not take it";
  }
}

/** Errors of the protocol, and what one can do. */
const ERRORS = new Map([
  ["offline", "The server cannot be reached right now."],
  ["noSuchList", "There is no such list, or you may not read it."],
  ["listExists", "There is a list of that name already."],
  ["badListName", "A list cannot have that name: it has 1 to 200 bytes, and no control characters."],
  ["listDeleted", "The list was deleted."],
  ["notAllowed", "Your role does not allow that."],
  ["notAuthenticated", "The link is not valid any more. Ask whoever gave it to you for a new one."],
  ["noSuchRevision", "The server does not keep that revision any more."],
  ["tooManyLists", "The server has as many lists as it takes."],
  ["versionNotSupported", "The server is newer than this page, or older. Load the page again."],
  ["closedByOperator", "The operator of the server has closed the connection."],
  ["editsWait", "The list is gone; your edits of it are still here."],
  ["slowedDown", "That was too much at once. Try again in a moment."],
]);

/** @param {string} name of an error */
export function errorText(name) {
  return ERRORS.get(name) ?? `The server cannot do that (${name}).`;
}

/**
 * What a person should know, and the words that were lost; nothing if the person need not know.
 * @param {Told} told @param {Item | undefined} item that it is about, as it is now @param {string} who
 * @returns {{ text: string, lost: string } | undefined}
 */
export function noticeOf(told, item, who) {
  switch (told.type) {
    case "rejected":
      return { text: `Your edit was not taken: ${whyRefused(told)}.`, lost: wordsOf([told.edit]).join("\n") };
    case "overridden":
      return overridden(told.lost, item, who);
    case "kept":
      return {
        text: `“${textOf(told.words.present)}” stays, since somebody else wrote it.`, lost: textOf(told.words.words),
      };
    case "usedTwice":
      return { text: "Another program used this page's id; your edit is sent again.", lost: "" };
    case "diverged":
      return { text: "This copy of the list differed from the server's; it was loaded again.", lost: "" };
    default:
      return undefined;
  }
}

/**
 * @param {import('../client/superseded.js').Lost} lost @param {Item | undefined} item @param {string} who
 */
function overridden(lost, item, who) {
  if (!item) {
    return {
      text: `${who} deleted an item that you had changed.`, lost: lost.lost === "words" ? textOf(lost.words) : "",
    };
  }
  const what = `“${lineOf(item)}”`;
  if (lost.lost === "move") return { text: `${who} moved ${what} after you did.`, lost: "" };
  if (lost.lost === "edit") return { text: `${who} changed ${what} after you did.`, lost: "" };
  const [words, present] = [shortened(textOf(lost.words)), shortened(textOf(lost.present))];
  if (present === "") return { text: `${who} removed “${words}” in ${what}.`, lost: words };
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
  const deeds = new Map();
  let [old, now] = [0, 0];
  for (const component of delta) {
    const change = "change" in component ? component.change : undefined;
    const verb = change ? verbOf(change) : VERBS.get(component.op);
    if (verb !== undefined) {
      const item = component.op === "insert" ? component.items[0] : change ? after?.at(now) : before?.at(old);
      const deed = deeds.get(verb) ?? { count: 0, item, change };
      deed.count += oldCount(component) || newCount(component);
      deeds.set(verb, deed);
    }
    old += oldCount(component);
    now += newCount(component);
  }
  const parts = [...deeds].map(([verb, { count, item, change }]) => {
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
