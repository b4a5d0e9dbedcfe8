// What the person did before the page was loaded, and can still take back or make again: the list's history has it.

import { commitsOf, listAt } from "../client/requests.js";
import { retraced } from "../client/undo.js";

/** @typedef {import('../client/client.js').Client} Client */
/** @typedef {import('../client/client.js').OpenList} OpenList */

/** How many of one's own commits are read at first, and how far back they are looked for. */
const AT_FIRST = 20;
const MOST_COMMITS = 10_000;

/**
 * The commits of a list that were made on this device, and that may be taken back or made again.
 * @param {Pick<Client, "ownCommits">} client @param {Pick<OpenList, "replica">} open
 */
export function ownCommits(client, { replica: { log, revision } }) {
  return client.ownCommits(log).filter(([own]) => own > revision - MOST_COMMITS);
}

/**
 * Tells a replica without pending edits what can be undone, or redone. False if its person has edited the list
 * meanwhile, or has left it. Fails as requests do.
 * @param {Pick<Client, "ownCommits" | "request">} client
 * @param {Pick<OpenList, "name" | "replica" | "subscription">} open @param {boolean} isUndo
 */
export async function recall(client, { name, replica, subscription }, isUndo) {
  const own = ownCommits(client, { replica });
  for (let count = AT_FIRST; own.length > 0; count *= 8) {
    const [first] = own[Math.max(0, own.length - count)];
    const commits = (await commitsOf(client, name, first, replica.revision)).map(({ commit }) => commit);
    if (commits.length === 0) break;
    const list = await listAt(client, name, commits[0].revision - 1);
    // Others go on meanwhile.
    const last = () => commits[commits.length - 1].revision;
    while (last() < replica.revision) {
      for (const { commit } of await commitsOf(client, name, last() + 1, replica.revision)) commits.push(commit);
    }
    if (!subscription.isLive || replica.pending.length > 0) return false;
    const past = retraced(list, commits, new Map(own));
    // After an edit, nothing can be redone.
    const isFound = !past.undos.isEmpty || (!isUndo && !past.redos.isEmpty);
    if (isFound || count >= own.length) {
      replica.remember(past);
      break;
    }
  }
  return true;
}
