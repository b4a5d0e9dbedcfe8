// What items are for people: what a line of text becomes, what an item shows. It is pure.

import { bytesOf, textOf } from "../client/bytes.js";
import { CARD, HEADING, LINK, NOTE, TASK, encoded } from "../client/item.js";

/** @typedef {import('../client/codec.js').Rules} Rules */
/** @typedef {import('../client/item.js').Item} Item */
/** @typedef {{ kind: number, text: string, url?: string, done?: boolean, level?: number }} Written */

const NAMES = new Map([[CARD, "card"], [NOTE, "note"], [TASK, "task"], [LINK, "link"], [HEADING, "heading"]]);
const RANKS = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
const SUITS = ["clubs", "diamonds", "hearts", "spades"];
const SIGNS = ["♣", "♦", "♥", "♠"];

/** @param {number} kind */
export function kindName(kind) {
  return NAMES.get(kind) ?? "item of an unknown kind";
}

/**
 * What a line becomes: `[ ]` and `[x]` begin a task, `#` a heading, and an address alone is a link, if the list takes
 * such items. All else is of the kind that is usual here.
 * @param {string} line @param {number} usual @param {readonly number[]} [kinds] that the list takes
 * @returns {Written}
 */
export function written(line, usual, kinds = [TASK, LINK, HEADING]) {
  const found = (/** @type {number} */ kind, /** @type {RegExp} */ form) => kinds.includes(kind) && form.exec(line);
  const task = found(TASK, /^(?:[-*] )?\[([ xX])\] (.*)$/s);
  if (task) return { kind: TASK, done: task[1] !== " ", text: task[2] };
  const link = found(LINK, /^(?:[-*] )?\[(.+)\]\(((?:https?|mailto):\S+)\)$/s);
  if (link) return { kind: LINK, text: link[1], url: link[2] };
  const heading = found(HEADING, /^#{1,6} (.*)$/s);
  if (heading) return { kind: HEADING, text: heading[1] };
  const isLink = usual === LINK || found(LINK, /^https?:\/\/\S+$/);
  return isLink ? { kind: LINK, text: line, url: line } : { kind: usual, text: line };
}

/**
 * The lines of a text that was pasted, with their levels: a line is nested in one above that is at least two columns
 * further left; a tab is two. Bullets are left out; a line without one that begins where the text of the last bullet
 * began goes on with that text.
 * @param {string} text @param {number} usual @param {number} most the highest level
 * @param {readonly number[]} [kinds] that the list takes
 * @returns {Written[]}
 */
export function writtenLines(text, usual, most, kinds) {
  /** @type {Written[]} */
  const all = [];
  /** @type {number[]} */
  const enclosing = [];
  let [within, empty] = [Infinity, 0];
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, blanks, bullet, rest] = /^([ \t]*)((?:[-*+•◦▪–] )?)(.*)$/.exec(line) ?? ["", "", "", line];
    const depth = blanks.replaceAll("\t", "  ").length;
    if (line.trim() === "") empty++;
    else {
      if (bullet === "" && depth === within) {
        all[all.length - 1].text += "\n".repeat(empty + 1) + rest;
      } else {
        while (enclosing.length > 0 && depth < enclosing[enclosing.length - 1] + 2) enclosing.pop();
        all.push({ ...written(rest, usual, kinds), level: Math.min(most, enclosing.length) });
        enclosing.push(depth);
        within = bullet === "" ? Infinity : depth + 2;
      }
      empty = 0;
    }
  }
  return all;
}

/** @param {readonly Item[]} items */
export function leastLevel(items) {
  return items.reduce((least, { level }) => Math.min(least, level), Infinity);
}

/**
 * Items as a text for other programs, in Markdown.
 * @param {readonly Item[]} items
 */
export function markdownOf(items) {
  const least = leastLevel(items);
  return items.map(item => {
    const { card, done, url } = item.fields();
    const indent = "  ".repeat(item.level - least);
    const mark = item.kind === TASK ? `- [${done ? "x" : " "}] ` : item.kind === HEADING ? "## " : "- ";
    const text = card !== undefined ? lineOf(item) : url ? `[${item.text}](${textOf(url)})` : item.text;
    return indent + mark + text.replace(/\r\n|\r|\n/g, `\n${indent}  `);
  }).join("\n");
}

/**
 * A new item.
 * @param {Written} content @param {number} level
 */
export function newItem({ kind, text, url = "", done = false }, level) {
  const id = crypto.getRandomValues(new Uint8Array(8));
  return encoded(id, kind, { text: bytesOf(text), url: bytesOf(url), done, level });
}

/**
 * The same item with another id, at a level.
 * @param {Item} item @param {number} level
 */
export function copyOf(item, level) {
  return encoded(crypto.getRandomValues(new Uint8Array(8)), item.kind, { ...item.fields(), level });
}

/**
 * A card from the deck: the server turns it over.
 * @param {number} [card] face down is 0
 */
export function newCard(card = 0) {
  return encoded(crypto.getRandomValues(new Uint8Array(8)), CARD, { card, level: 0 });
}

/**
 * The kind of a new item beside this one.
 * @param {Item | undefined} item @param {Rules | undefined} rules
 */
export function kindBeside(item, rules) {
  const kinds = [item?.kind === NOTE ? NOTE : TASK, TASK, NOTE, HEADING, LINK];
  return kinds.find(kind => rules?.kinds?.includes(kind) !== false) ?? TASK;
}

/**
 * A card: its name, its sign and whether it is red.
 * @param {number} card from 1 to 52
 */
export function cardOf(card) {
  const [rank, suit] = [(card - 1) % 13, Math.floor((card - 1) / 13)];
  const short = rank === 0 || rank > 9 ? RANKS[rank][0].toUpperCase() : RANKS[rank];
  return { name: `${RANKS[rank]} of ${SUITS[suit]}`, short, sign: SIGNS[suit], isRed: suit === 1 || suit === 2 };
}

/**
 * What an item is called in a sentence.
 * @param {Item} item
 */
export function lineOf(item) {
  const { card, done } = item.fields();
  if (card !== undefined) return card === 0 ? "a card face down" : cardOf(card).name;
  const text = item.text === "" ? "(empty)" : shortened(item.text.replace(/[\r\n\t]+/g, " "));
  return item.kind === TASK ? `${done ? "[x]" : "[ ]"} ${text}` : text;
}

/**
 * What an item is called where it is spoken.
 * @param {Item} item
 */
export function nameOf(item) {
  return item.kind === TASK ? lineOf(item).slice(4)
    : item.kind === HEADING ? lineOf(item).replace(/^#{1,6} /, "")
    : lineOf(item);
}

/**
 * The start of a long text, for a sentence: without marks that would change the direction of what comes after them.
 * @param {string} text @param {number} [most]
 */
export function shortened(text, most = 60) {
  const characters = [...text.replace(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "")];
  return (characters.length <= most ? characters : [...characters.slice(0, most - 1), "…"]).join("");
}

/**
 * An address that may be opened: others' texts never run.
 * @param {string} url
 */
export function safeAddress(url) {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(url).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The address that somebody has typed, perhaps without its beginning.
 * @param {string} typed
 */
export function addressOf(typed) {
  return safeAddress(typed) ?? (/^[^\s:/]+\.[^\s:]+$/.test(typed) ? safeAddress(`https://${typed}`) : undefined);
}

/** To make one takes longer than to use it. */
const numbers = new Intl.NumberFormat("en");

/**
 * A number as one reads it.
 * @param {number} number
 */
export function numeral(number) {
  return number < 1000 ? String(number) : numbers.format(number);
}

/**
 * @param {number} count @param {string} thing @param {string} [things]
 */
export function amount(count, thing, things = `${thing}s`) {
  return `${numeral(count)} ${count === 1 ? thing : things}`;
}
