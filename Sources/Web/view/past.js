// Who has done what to one item: the history is read backwards until the item's beginning is found.

import { insertedItems } from "../client/components.js";
import { commitsOf } from "../client/requests.js";
import { originOf } from "./edits.js";
import { wordsOfChange } from "./sentences.js";

/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/codec.js').Commit} Commit */
/** @typedef {{ revision: number, time: number, who: string, what: string }} Step */

const AT_ONCE = 200;

/**
 * The steps of an item that is at an index in a revision, newest first. It ends when the item was added, when nothing
 * is kept of it, or when the reader stops. Fails as requests do.
 * @param {Client} client @param {string} name @param {number} revision @param {number} index
 * @returns {AsyncGenerator<Step>}
 */
export async function* pastOf(client, name, revision, index) {
  let at = index;
  for (let last = revision; last > 0; last -= AT_ONCE) {
    const from = Math.max(1, last - AT_ONCE + 1);
    const commits = await commitsOf(client, name, from, last);
    for (const { commit, who } of commits.reverse()) {
      const { old, does } = originOf(commit.delta, at);
      const { revision, time } = commit;
      if (does !== undefined) yield { revision, time, who, what: wordsOf(commit, at, does) };
      if (old === undefined) return;
      at = old;
    }
    // Earlier commits are not kept.
    if (commits.length < last - from + 1) return;
  }
}

/** @param {Commit} commit @param {number} index @param {"inserted" | "edited" | "moved"} does */
function wordsOf({ delta }, index, does) {
  if (does === "inserted") return insertedItems(delta).length > 1 ? "added, with others" : "added";
  let now = 0;
  for (const component of delta) {
    if (component.op === "edit") {
      if (now === index) return wordsOfChange(component.change);
      now++;
    } else if (component.op === "drop") {
      now += component.to - component.from;
      if (index < now) return component.change ? `moved, ${wordsOfChange(component.change)}` : "moved";
    } else if (component.op === "keep") now += component.count;
    else if (component.op === "insert") now += component.items.length;
  }
  return "moved";
}
