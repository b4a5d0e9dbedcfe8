// What others have just done, in words that are spoken: `Bob added milk, ticked bread`. It is pure.

import { oldCount } from "../client/components.js";
import { newCount } from "../client/delta.js";
import { amount, nameOf } from "./content.js";

/** @typedef {import('../client/codec.js').Commit} Commit */
/** @typedef {import('../client/list.js').List} List */
/** @typedef {{ commit: Commit, before: List, after: List }} Followed somebody else's commit, and the list around it */
/** @typedef {{ who: string, verb: string, what: string }} Deed */

/** More deeds of one person than this are only counted. */
const MOST_DEEDS = 3;
const MOST_PEOPLE = 3;

/**
 * What a commit did to each item.
 * @param {Followed} followed @param {string} who
 */
export function deedsOf({ commit, before, after }, who) {
  /** @type {Deed[]} */
  const deeds = [];
  let [old, now] = [0, 0];
  /** @type {(verb: string, list: List, from: number, count: number) => void} */
  const note = (verb, list, from, count) => {
    for (const item of list.slice(from, from + count)) deeds.push({ who, verb, what: nameOf(item) });
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
  return deeds;
}

/** @param {import('../client/change.js').Change} change */
export function verbOf({ done, ...others }) {
  const isTick = done !== undefined && Object.values(others).every(value => value === undefined);
  return !isTick ? "changed" : done ? "ticked" : "unticked";
}

/**
 * @param {readonly Deed[]} deeds
 */
export function sentenceOf(deeds) {
  /** @type {Map<string, Deed[]>} */
  const people = new Map();
  for (const deed of deeds) people.set(deed.who, [...(people.get(deed.who) ?? []), deed]);
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
