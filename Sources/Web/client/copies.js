// Copies of lists, so that a page has something to show before the server answers, and without it. They can all be
// fetched again: nothing waits for them, and no failure here touches the journal, which is in another database.

import { Reader } from "./bytes.js";
import { readItems } from "./codec.js";
import { Database, allOf, resultOf } from "./database.js";
import { List } from "./list.js";

/** @typedef {import('./database.js').Place} Place */
/** @typedef {import('./heirs.js').Copy} Copy */
/** @typedef {import('./neighbours.js').CopyHead} CopyHead */
/** @typedef {{ count: number, bytes: Uint8Array }} Chunk */

const FORMAT = 1;
const CHUNK = 262_144;
const STORES = ["heads", "chunks"];

export class Copies {
  #database;
  #isThere;

  /** @param {() => string} draw a name that nobody else draws @param {Partial<Place>} [place] those of a test */
  constructor(draw, place = {}) {
    this.#isThere = Boolean(place.factory ?? globalThis.indexedDB);
    this.#database = new Database({ name: "hand copies", stores: STORES, draw, ...place });
  }

  /**
   * Which copies there are.
   * @returns {Promise<CopyHead[]>}
   */
  async heads() {
    const heads = await this.#quietly("readonly", transaction => resultOf(transaction.objectStore("heads").getAll()));
    return (heads ?? []).filter(isHead);
  }

  /**
   * The copy of a list, if it is there and whole.
   * @param {string} name
   * @returns {Promise<Copy | undefined>}
   */
  async read(name) {
    const found = await this.#quietly("readonly", transaction => {
      const head = transaction.objectStore("heads").get(name);
      const chunks = transaction.objectStore("chunks").getAll(allOf(name));
      return () => ({ head: head.result, chunks: chunks.result });
    });
    if (!isHead(found?.head)) return undefined;
    try {
      const items = listOf(found.chunks);
      const { log, revision, digest } = found.head;
      return items.digest === digest ? { name, log, revision, items } : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * @param {Copy} copy
   * @param {string} [former] name of the list: under that, it would be offered without a connection
   */
  keep({ name, log, revision, items }, former) {
    const head = { format: FORMAT, name, log, revision, digest: items.digest };
    return this.#quietly("readwrite", transaction => {
      const chunks = transaction.objectStore("chunks");
      transaction.objectStore("heads").put(head, name);
      chunks.delete(allOf(name));
      chunksOf(items).forEach((chunk, i) => chunks.put(chunk, [name, i]));
      if (former !== undefined) dropFrom(transaction, former);
      return () => undefined;
    });
  }

  /** @param {string} name of a list that is gone */
  drop(name) {
    return this.#quietly("readwrite", transaction => {
      dropFrom(transaction, name);
      return () => undefined;
    });
  }

  /**
   * @param {import('./database.js').Mode} mode @param {(transaction: IDBTransaction) => () => any} body
   * @returns {Promise<any>}
   */
  async #quietly(mode, body) {
    try {
      return this.#isThere ? await this.#database.transaction(STORES, mode, body) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** @param {IDBTransaction} transaction @param {string} name */
function dropFrom(transaction, name) {
  transaction.objectStore("heads").delete(name);
  transaction.objectStore("chunks").delete(allOf(name));
}

/** @param {List} list @returns {Chunk[]} */
function chunksOf(list) {
  /** @type {Chunk[]} */
  const chunks = [];
  /** @type {{ bytes: Uint8Array, start: number, end: number }[]} what arrived together is copied together */
  let pieces = [];
  let [count, size] = [0, 0];
  const cut = () => {
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const { bytes: from, start, end } of pieces) {
      bytes.set(from.subarray(start, end), at);
      at += end - start;
    }
    chunks.push({ count, bytes });
    pieces = [];
    count = size = 0;
  };
  for (const { bytes, start, end } of list) {
    if (size > 0 && size + end - start > CHUNK) cut();
    const last = pieces[pieces.length - 1];
    if (last?.bytes === bytes && last.end === start) last.end = end;
    else pieces.push({ bytes, start, end });
    count++;
    size += end - start;
  }
  if (size > 0) cut();
  return chunks;
}

/** @param {Chunk[]} chunks what is not one throws */
function listOf(chunks) {
  return List.of(chunks.flatMap(({ count, bytes }) => readItems(new Reader(bytes), count)));
}

/** @param {any} head of this format */
function isHead(head) {
  const { format, name, log, revision, digest } = head ?? {};
  const areTexts = [name, log, digest].every(value => typeof value === "string");
  return format === FORMAT && areTexts && Number.isSafeInteger(revision);
}
