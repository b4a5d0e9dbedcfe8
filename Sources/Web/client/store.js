// What a tab keeps on this device: journals and their owners, on the disk before anything is sent; and small settings.
// Whatever the browser does is a state in here, and never an exception.

import { Database, allOf, resultOf } from "./database.js";

/** @typedef {import('./database.js').Place} Place */
/** @typedef {import('./heirs.js').Row} Row */
/** @typedef {import('./journal.js').Key} Key */
/** @typedef {import('./line.js').Job} Job */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {"stored" | "taken" | "failed" | "wiped"} Outcome */
/**
 * Jobs of one owner that wait, as one: what becomes of each row, and who is told in the end. After `failed` comes
 * another answer, once the storage works again.
 * @typedef {Omit<Job, "changes"> & { rows: Map<string, { key: Key, row?: unknown }>, answer: (outcome: Outcome) => void
 *   }} Waiting
 */

const STORES = ["journal", "owners", "fences", "settings"];
const RETRY_EVERY = 5000;
/** A frozen tab does not live longer. */
const OLD = 60 * 24 * 3_600_000;

export class Store {
  /** @type {"opening" | "kept" | "failed" | "none"} */
  state = "opening";
  /** Why it is as it is: a name of an exception, or `timeout`. */
  reason = "";
  /** Called when the state is another one. */
  onstate = () => {};
  #database;
  /** @type {Waiting[]} */
  #queue = [];
  #isWriting = false;
  /** Whether the last write has failed, and whether it is not tried again yet. */
  #isFailing = false;
  #isResting = false;
  /**
   * In which storage the rows of a client are.
   * @type {Map<string, string>}
   */
  #homes = new Map();
  #retryEvery;

  /**
   * @param {() => string} draw a name that nobody else draws
   * @param {Partial<Place>} [place] the factory and the timeout of a test
   * @param {number} [retryEvery] how often what has failed is tried, in ms
   */
  constructor(draw, place = {}, retryEvery = RETRY_EVERY) {
    this.#retryEvery = retryEvery;
    this.#database = new Database({ name: "hand", stores: STORES, draw, ...place });
    if (!(place.factory ?? globalThis.indexedDB)) this.#be("none", "");
  }

  /**
   * Writes in the order in which it is asked to. An answer is about all jobs of the owner up to this one.
   * @param {Job} job @param {(outcome: Outcome) => void} answer
   */
  write({ changes: { puts, deletes }, owner, fresh, leaves }, answer) {
    if (this.state === "none") return answer("failed");
    // The first one may have been begun.
    const free = this.#queue.slice(this.#isWriting ? 1 : 0);
    let last = free[free.length - 1];
    const isSame = last?.owner.client === owner.client && last.owner.holder === owner.holder && !leaves;
    if (!isSame) this.#queue.push((last = { rows: new Map(), owner, fresh, leaves, answer }));
    for (const key of deletes) last.rows.set(String(key), { key });
    for (const entry of puts) last.rows.set(String(entry.key), entry);
    Object.assign(last, { owner, fresh: fresh || last.fresh, answer });
    // What has failed has to be written before, and nobody waits for each attempt.
    if (this.#isFailing) answer("failed");
    void this.#next();
  }

  /**
   * All rows, and all owners.
   * @returns {Promise<{ rows: Row[], owners: Owner[] } | undefined>} nothing if it fails
   */
  look() {
    return this.#quietly("readonly", ["journal", "owners"], transaction => {
      const rows = rowsOf(transaction, undefined);
      const owners = transaction.objectStore("owners").getAll();
      return () => ({ rows: rows(), owners: owners.result.filter(isOwner) });
    });
  }

  /**
   * Becomes the holder of a journal, and gives its rows.
   * @param {string} client @param {Pick<Owner, "holder"> & Partial<Owner>} owner whose it is then
   * @returns {Promise<Row[] | undefined>} nothing if it fails, or somebody else was faster
   */
  async claim(client, owner) {
    /** @param {IDBTransaction} transaction */
    const read = transaction => resultOf(transaction.objectStore("owners").get(client));
    const former = await this.#quietly("readonly", ["owners"], read);
    // There is none if all has been wiped meanwhile: then its owner writes it anew.
    if (!isOwner(former)) return [];
    const home = await this.#quietly("readwrite", ["owners", "fences"], (transaction, storage) => {
      transaction.objectStore("fences").add(Date.now(), [client, former.holder]);
      transaction.objectStore("owners").put({ ...former, ...owner }, client);
      return () => storage;
    });
    if (home === undefined) return undefined;
    this.#homes.set(client, home);
    // Nobody else changes them any more.
    return this.#quietly("readonly", ["journal"], transaction => rowsOf(transaction, allOf(client)));
  }

  /**
   * Deletes a journal, whoever has it.
   * @param {string} client @param {string} holder who has it then
   */
  async discard(client, holder) {
    if (!(await this.claim(client, { holder }))) return;
    await this.#quietly("readwrite", ["journal", "owners", "fences"], transaction => {
      pass(transaction.objectStore("fences"), client, holder);
      transaction.objectStore("journal").delete(allOf(client));
      transaction.objectStore("owners").delete(client);
      return () => undefined;
    });
  }

  /**
   * Deletes the owner's row of a journal that has no rows.
   * @param {string} client @param {string} holder
   */
  async forget(client, holder) {
    const found = await this.#quietly("readonly", ["journal", "owners"], transaction => {
      const count = transaction.objectStore("journal").count(allOf(client));
      const owner = transaction.objectStore("owners").get(client);
      return () => ({ count: count.result, owner: owner.result });
    });
    if (found?.owner?.holder !== holder || found.count > 0) return;
    await this.#quietly("readwrite", ["owners", "fences"], transaction => {
      pass(transaction.objectStore("fences"), client, holder);
      transaction.objectStore("owners").delete(client);
      return () => undefined;
    });
  }

  // Settings

  /** @returns {Promise<Map<string, unknown> | undefined>} nothing if it fails, and may work later */
  async settings() {
    if (this.state === "none") return new Map();
    const found = await this.#quietly("readonly", ["settings"], transaction => {
      const settings = entriesOf(transaction.objectStore("settings"));
      return () => new Map(settings());
    });
    if (found) void this.#sweep();
    return found;
  }

  /** @param {string} key @param {unknown} value nothing deletes it */
  set(key, value) {
    return this.#quietly("readwrite", ["settings"], transaction => {
      const settings = transaction.objectStore("settings");
      if (value === undefined) settings.delete(key);
      else settings.put(value, key);
      return () => undefined;
    });
  }

  // Private

  /** Writes what waits, one transaction after the other. */
  async #next() {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#queue.length > 0 && !this.#isResting) await this.#write(this.#queue[0]);
    this.#isWriting = false;
  }

  /** @param {Waiting} first of the queue */
  async #write(first) {
    try {
      const outcome = await this.#transact(first);
      this.#queue.shift();
      this.#isFailing = false;
      this.#be("kept", "");
      first.answer(outcome);
    } catch (error) {
      this.#isFailing = this.#isResting = true;
      setTimeout(() => {
        this.#isResting = false;
        void this.#next();
      }, this.#retryEvery);
      this.#be("failed", /** @type {Error} */ (error).name);
      for (const { answer } of [...this.#queue]) answer("failed");
    }
  }

  /**
   * One transaction.
   * @param {Waiting} waiting
   * @returns {Promise<Outcome>}
   */
  async #transact(waiting) {
    const { rows, owner: { client, holder }, fresh } = waiting;
    try {
      return await this.#database.transaction(["journal", "owners", "fences"], "readwrite", (transaction, storage) => {
        if (fresh) this.#homes.set(client, storage);
        if (this.#homes.get(client) !== storage) return () => "wiped";
        const [journal, owners, fences] = ["journal", "owners", "fences"].map(name => transaction.objectStore(name));
        for (const one of new Set([client, ...[...rows.values()].map(({ key }) => key[0])])) pass(fences, one, holder);
        perform(waiting, journal, owners);
        return () => "stored";
      }, true);
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "ConstraintError") throw error;
      return this.#afterFence(waiting);
    }
  }

  /**
   * A fence, or an owner's row that is there already, has kept it from being done.
   * @param {Waiting} waiting
   * @returns {Promise<Outcome>}
   */
  async #afterFence(waiting) {
    if (!waiting.fresh) return "taken";
    const { client, holder } = waiting.owner;
    /** @param {IDBTransaction} transaction */
    const read = transaction => resultOf(transaction.objectStore("owners").get(client));
    const owner = await this.#database.transaction(["owners"], "readonly", read);
    // It was done before, and nobody knew.
    return owner?.holder === holder ? this.#transact({ ...waiting, fresh: false }) : "taken";
  }

  /** Fences for tabs that nobody will wake any more. */
  async #sweep() {
    const old = await this.#quietly("readonly", ["fences"], transaction => {
      const fences = entriesOf(transaction.objectStore("fences"));
      return () => fences().filter(([, time]) => time < Date.now() - OLD);
    });
    if (!old || old.length === 0) return;
    await this.#quietly("readwrite", ["fences"], transaction => {
      for (const [key] of old) transaction.objectStore("fences").delete(key);
      return () => undefined;
    });
  }

  /**
   * A transaction that need not be done.
   * @template T
   * @param {import('./database.js').Mode} mode @param {string[]} stores
   * @param {(transaction: IDBTransaction, storage: string) => () => T} body
   * @returns {Promise<T | undefined>}
   */
  async #quietly(mode, stores, body) {
    if (this.state === "none") return undefined;
    try {
      const result = await this.#database.transaction(stores, mode, body);
      if (this.#queue.length === 0) this.#be("kept", "");
      return result;
    } catch (error) {
      const { name } = /** @type {Error} */ (error);
      if (name !== "ConstraintError") this.#be("failed", name);
      return undefined;
    }
  }

  /** @param {Store["state"]} state @param {string} reason */
  #be(state, reason) {
    if (this.state === state && this.reason === reason) return;
    this.state = state;
    this.reason = reason;
    this.onstate();
  }
}

/** @param {Waiting} waiting @param {IDBObjectStore} journal @param {IDBObjectStore} owners */
function perform({ rows, owner, fresh, leaves }, journal, owners) {
  for (const { key, row } of rows.values()) row ? journal.put(row, [...key]) : journal.delete([...key]);
  const row = { ...owner, at: Date.now() };
  // Who begins a journal does not take over that of somebody else who has begun it.
  if (fresh) owners.add(row, owner.client);
  else owners.put(row, owner.client);
  if (leaves) owners.delete(leaves);
}

/**
 * Whoever has taken a journal over has put a fence up for its former holder: then the transaction is aborted, without
 * asking anybody.
 * @param {IDBObjectStore} fences @param {string} client @param {string} holder
 */
function pass(fences, client, holder) {
  fences.add(0, [client, holder]);
  fences.delete([client, holder]);
}

/**
 * @param {IDBTransaction} transaction @param {IDBKeyRange | undefined} range
 * @returns {() => Row[]}
 */
function rowsOf(transaction, range) {
  const journal = entriesOf(transaction.objectStore("journal"), range);
  return () => journal().map(([key, row]) => ({ key, row }));
}

/**
 * @param {IDBObjectStore} store @param {IDBKeyRange} [range]
 * @returns {() => [key: any, value: any][]}
 */
function entriesOf(store, range) {
  const [keys, values] = [store.getAllKeys(range), store.getAll(range)];
  return () => keys.result.map((key, i) => [key, values.result[i]]);
}

/** @param {any} row */
function isOwner(row) {
  return [row?.client, row?.holder, row?.person, row?.token].every(value => typeof value === "string");
}
