// What is written so that no edit is lost: a row for each edit that is pending, and one for its list. It is pure: it
// says which rows to write and to delete, in one transaction, and somebody else does it. While nothing is pending there
// is no row, so that the commits of others cost no writing.

import { Malformed, Reader } from "./bytes.js";
import { bytesOfDelta, readDelta } from "./codec.js";

/** @typedef {import('./pending.js').Edit} Edit */
/** @typedef {import('./session.js').Followed} Followed */
/**
 * The client id; the number of the list among those that the client follows; 0 for the list's own row, else the number
 * of the edit, in the order in which the edits were made.
 * @typedef {readonly [client: string, list: number, number: number]} Key
 */
/**
 * A list of which edits are pending. Its digest and revision name the list on which the first of them was made.
 * @typedef {object} ListRow
 * @property {number} format
 * @property {string} name
 * @property {string} log
 * @property {number} revision
 * @property {string} digest
 * @property {number} used the last sequence that is used
 * @property {boolean} isShared
 * @property {string} [awaits] the client id whose journal has the edits that are assumed
 */
/**
 * An edit that is pending: what `Edit` has, its delta as bytes.
 * @typedef {object} EditRow
 * @property {number} format
 * @property {Uint8Array} delta
 * @property {number} seen
 * @property {number} [exact]
 * @property {number} [sequence] once it is in flight
 * @property {number} [sender]
 * @property {boolean} crossed
 * @property {boolean} [isAssumed]
 * @property {import('./pending.js').Step} [step]
 */
/** @typedef {{ key: Key, row: ListRow | EditRow }} Entry */
/**
 * One transaction, and which edits get their row by it.
 * @typedef {{ puts: Entry[], deletes: Key[], begun?: Edit[] }} Changes
 */
/** @typedef {ListRow & { list: number, edits: Edit[], numbers: number[] }} Kept a list as it was kept */
/**
 * The journal of one client id, as it was kept. A journal that cannot be read has no lists, and is left as it is.
 * @typedef {{ client: string, rows: { key: Key, row: any }[], lists: Kept[], refused?: "later format" | "damaged"
 *   }} Read
 */

/** Rows of a later format are not touched. */
export const FORMAT = 1;

export class Journal {
  #client;
  /**
   * What is written, by list and number: the values of each row. A delta is the same if it is the same object.
   * @type {Map<string, unknown[]>}
   */
  #written = new Map();
  /** @type {WeakMap<Edit, number>} */
  #numbers = new WeakMap();
  #next = 1;
  /**
   * The numbers of the lists that are or were followed: rows of others are left alone.
   * @type {Set<number>}
   */
  #followed = new Set();

  /**
   * @param {string} client the client id
   * @param {readonly Kept[]} [lists] what is in the storage already; each is followed under its number
   */
  constructor(client, lists = []) {
    this.#client = client;
    for (const { list, edits, numbers, ...row } of lists) {
      this.#written.set(String([list, 0]), valuesOfList(row));
      edits.forEach((edit, i) => {
        this.#numbers.set(edit, numbers[i]);
        this.#next = Math.max(this.#next, numbers[i] + 1);
        this.#written.set(String([list, numbers[i]]), valuesOfEdit(edit));
      });
    }
  }

  /**
   * What is to be written now, in one transaction: nothing if all is as it was. O(pending edits and their bytes)
   * @param {readonly Followed[]} lists
   * @returns {Changes | undefined}
   */
  changes(lists) {
    /** @type {Entry[]} */
    const puts = [];
    for (const { number } of lists) this.#followed.add(number);
    /** @type {Edit[]} */
    const begun = [];
    const gone = new Set([...this.#written.keys()].filter(place => this.#followed.has(this.#keyOf(place)[1])));
    for (const followed of lists) {
      for (const { number, values, row, edit } of this.#rows(followed)) {
        const place = String([followed.number, number]);
        gone.delete(place);
        if (areSame(this.#written.get(place), values)) continue;
        this.#written.set(place, values);
        if (edit && !edit.isWritten) {
          edit.isWritten = true;
          begun.push(edit);
        }
        puts.push({ key: [this.#client, followed.number, number], row: row() });
      }
    }
    for (const place of gone) this.#written.delete(place);
    const deletes = [...gone].map(place => this.#keyOf(place));
    return puts.length + deletes.length > 0 ? { puts, deletes, begun } : undefined;
  }

  /**
   * Another client id: all rows move to it.
   * @param {string} client
   * @returns {Changes} the deletion of the rows of the old one; `changes` writes those of the new one
   */
  rename(client) {
    const deletes = [...this.#written.keys()].map(place => this.#keyOf(place));
    this.#written.clear();
    this.#client = client;
    return { puts: [], deletes };
  }

  /**
   * @param {Followed} followed
   * @returns {Generator<{ number: number, values: unknown[], row: () => ListRow | EditRow, edit?: Edit }>}
   */
  *#rows({ subscription, replica }) {
    if (replica.pending.length === 0) return;
    const { used, isShared, origin } = replica;
    const { log, revision, digest, assumed, awaits } = origin ?? { ...headOf(replica), assumed: [], awaits: undefined };
    const list = { format: FORMAT, name: subscription.name, log, revision, digest, used, isShared, awaits };
    yield { number: 0, values: valuesOfList(list), row: () => list };
    const edits = [...assumed, ...replica.pending];
    for (const [i, number] of this.#numbered(edits)) {
      const edit = edits[i];
      yield { number, values: valuesOfEdit(edit), row: () => rowOf(edit), edit };
    }
  }

  /**
   * The numbers of edits, in their order. Edits that were joined and are separate again come before those that have
   * rows already. O(edits)
   * @param {readonly Edit[]} edits
   */
  #numbered(edits) {
    let [last, next] = [0, 0];
    return edits.map((edit, i) => {
      while (next < edits.length && (next < i || !this.#numbers.has(edits[next]))) next++;
      if (next > i) {
        const above = next < edits.length ? this.#numbers.get(edits[next]) : undefined;
        this.#numbers.set(edit, above === undefined ? this.#next++ : last + (above - last) / (next - i + 1));
      }
      last = this.#numbers.get(edit) ?? last;
      return last;
    }).entries();
  }

  /** @param {string} place @returns {Key} */
  #keyOf(place) {
    const [list, number] = place.split(",").map(Number);
    return [this.#client, list, number];
  }
}

/**
 * The journals among some rows, one for each client id. A journal with a row of a later format, or with one that makes
 * no sense, is refused as a whole; the others are read all the same.
 * @param {Iterable<{ key: Key, row: any }>} rows
 * @returns {Read[]}
 */
export function readJournals(rows) {
  /** @type {Map<string, { key: Key, row: any }[]>} */
  const clients = new Map();
  for (const entry of rows) {
    const [client] = entry.key;
    const own = clients.get(client) ?? [];
    clients.set(client, own);
    own.push(entry);
  }
  return [...clients].map(([client, rows]) => {
    if (rows.some(({ row }) => row?.format > FORMAT)) return { client, rows, lists: [], refused: "later format" };
    try {
      return { client, rows, lists: readLists(rows) };
    } catch (error) {
      if (error instanceof Malformed) return { client, rows, lists: [], refused: "damaged" };
      throw error;
    }
  });
}

/** @param {{ key: Key, row: any }[]} entries @returns {Kept[]} */
function readLists(entries) {
  entries.sort((a, b) => a.key[1] - b.key[1] || a.key[2] - b.key[2]);
  /** @type {Kept[]} */
  const lists = [];
  for (const { key: [, list, number], row } of entries) {
    const last = lists[lists.length - 1];
    if (number === 0) {
      lists.push({ ...checkedList(row), list, edits: [], numbers: [] });
    } else {
      if (last?.list !== list) throw new Malformed("an edit without its list");
      last.edits.push(checkedEdit(row));
      last.numbers.push(number);
    }
  }
  if (lists.some(({ edits }) => edits.length === 0)) throw new Malformed("a list without its edits");
  /** @param {Edit} edit */
  const isInFlight = ({ sequence }) => sequence !== undefined;
  if (lists.some(({ edits }) => edits.slice(1).some(isInFlight))) throw new Malformed("a later edit is in flight");
  return lists;
}

/** @param {any} row @returns {ListRow} */
function checkedList(row) {
  const { format, name, log, revision, digest, used, isShared, awaits } = row ?? {};
  const isRight = format === FORMAT && typeof name === "string" && typeof isShared === "boolean";
  const areRight = [log, digest].every(isHex) && [revision, used].every(isNumber) && isClientOrNothing(awaits);
  if (!isRight || !areRight) throw new Malformed("the row of a list");
  return { format, name, log, revision, digest, used, isShared, awaits };
}

/** @param {any} row @returns {Edit} */
function checkedEdit(row) {
  const { format, delta, seen, exact, sequence, sender, crossed, isAssumed, step } = row ?? {};
  const isRight = format === FORMAT && delta instanceof Uint8Array && isNumber(seen) && typeof crossed === "boolean";
  const areNumbers = [exact, sequence, sender].every(number => number === undefined || isNumber(number));
  const areKnown = [undefined, true, false].includes(isAssumed) && [undefined, "", "undo", "redo"].includes(step);
  if (!isRight || !areNumbers || !areKnown) throw new Malformed("the row of an edit");
  const reader = new Reader(delta);
  const read = readDelta(reader);
  reader.finish();
  return { delta: read, seen, exact, sequence, sender, crossed, isAssumed, step, isWritten: true, isStored: true };
}

/** @param {Edit} edit @returns {EditRow} */
function rowOf({ delta, seen, exact, sequence, sender, crossed, isAssumed, step }) {
  return { format: FORMAT, delta: bytesOfDelta(delta), seen, exact, sequence, sender, crossed, isAssumed, step };
}

/** @param {import('./replica.js').Replica} replica */
function headOf({ log, revision, confirmed }) {
  return { log, revision, digest: confirmed.digest };
}

/** @param {ListRow} row */
function valuesOfList({ name, log, revision, digest, used, isShared, awaits }) {
  return [name, log, revision, digest, used, isShared, awaits];
}

/** @param {Edit} edit */
function valuesOfEdit({ delta, seen, exact, sequence, sender, crossed, isAssumed, step }) {
  return [delta, seen, exact, sequence, sender, crossed, isAssumed, step];
}

/** @param {unknown[] | undefined} a @param {unknown[]} b */
function areSame(a, b) {
  return a?.every((value, i) => value === b[i]);
}

/** @param {unknown} value */
function isClientOrNothing(value) {
  return value === undefined || (typeof value === "string" && /^([0-9a-f]{32})?$/.test(value));
}

/** @param {unknown} value */
function isHex(value) {
  return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
