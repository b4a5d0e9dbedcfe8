// What a tab keeps on this device: journals and their owners, on the disk before anything is sent; and small settings.
// Whatever the browser does is a state in here, and never an exception.

import { Database } from "./database.js";

/** @typedef {import('./database.js').Place} Place */
/** @typedef {import('./heirs.js').Row} Row */
/** @typedef {import('./line.js').Job} Job */
/** @typedef {import('./line.js').Owner} Owner */
/** @typedef {"stored" | "taken" | "failed" | "wiped"} Outcome */
/**
 * A job that waits, and who is told of it. After `failed` comes another answer, once the storage works again.
 * @typedef {{ job: Job, answer: (outcome: Outcome) => void }} Waiting
 */

const STORES = ["journal", "owners", "settings"];
/** The key under which `owners` has the name of the storage: another one once everything has been wiped. */
const NAME = "";
/** So many writes go into one transaction, if they have to wait anyway. */
const MOST = 64;
const RETRY_EVERY = 5000;

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
  /** @type {Waiting[]} */
  #failed = [];
  #isWriting = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /**
   * In which storage the rows of a client are.
   * @type {Map<string, string>}
   */
  #homes = new Map();
  #draw;
  #retryEvery;

  /**
   * @param {() => string} draw a name that nobody else draws
   * @param {Partial<Place> & { retryEvery?: number }} [place] the factory and the patience of a test
   */
  constructor(draw, { retryEvery = RETRY_EVERY, ...place } = {}) {
    this.#draw = draw;
    this.#retryEvery = retryEvery;
    this.#database = new Database({ name: "hand", stores: STORES, ...place });
    if (!(place.factory ?? globalThis.indexedDB)) this.#be("none", "");
  }

  /**
   * Writes in the order in which it is asked to.
   * @param {Job} job @param {(outcome: Outcome) => void} answer
   */
  write(job, answer) {
    this.#queue.push({ job, answer });
    void this.#next();
  }

  /**
   * All rows, and all owners.
   * @returns {Promise<{ rows: Row[], owners: Owner[] } | undefined>} nothing if it fails
   */
  look() {
    return this.#quietly("readonly", ["journal", "owners"], (transaction, give) => {
      const [journal, owners] = ["journal", "owners"].map(name => transaction.objectStore(name));
      const [keys, rows, all] = [journal.getAllKeys(), journal.getAll(), owners.getAll()];
      all.onsuccess = () => give({ rows: rowsOf(keys.result, rows.result), owners: all.result.filter(isOwner) });
    });
  }

  /**
   * Becomes the holder of a journal, if it has one, and gives its rows.
   * @param {string} client @param {Owner} owner
   * @returns {Promise<Row[] | undefined>} nothing if it fails
   */
  async claim(client, owner) {
    const claimed = await this.#quietly("readwrite", ["journal", "owners"], (transaction, give) => {
      const [journal, owners] = ["journal", "owners"].map(name => transaction.objectStore(name));
      const [keys, rows, name] = [journal.getAllKeys(allOf(client)), journal.getAll(allOf(client)), owners.get(NAME)];
      const former = owners.get(client);
      former.onsuccess = () => {
        // There is none if all has been wiped meanwhile: then its owner writes it anew.
        if (former.result) owners.put({ ...former.result, holder: owner.holder }, client);
        give({ rows: rowsOf(keys.result, rows.result), storage: name.result?.storage });
      };
    });
    if (claimed?.storage) this.#homes.set(client, claimed.storage);
    return claimed?.rows;
  }

  /**
   * Deletes the owner's row of a journal that has no rows.
   * @param {string} client @param {string} holder
   */
  forget(client, holder) {
    return this.#quietly("readwrite", ["journal", "owners"], (transaction, give) => {
      const owners = transaction.objectStore("owners");
      const [count, owner] = [transaction.objectStore("journal").count(allOf(client)), owners.get(client)];
      owner.onsuccess = () => {
        if (count.result === 0 && owner.result?.holder === holder) owners.delete(client);
        give(undefined);
      };
    });
  }

  // Settings

  /** @returns {Promise<Map<string, unknown>>} */
  async settings() {
    const found = await this.#quietly("readonly", ["settings"], (transaction, give) => {
      const settings = transaction.objectStore("settings");
      const [keys, values] = [settings.getAllKeys(), settings.getAll()];
      values.onsuccess = () => give(keys.result.map((key, i) => [key, values.result[i]]));
    });
    return new Map(found ?? []);
  }

  /** @param {string} key @param {unknown} value nothing deletes it */
  set(key, value) {
    return this.#quietly("readwrite", ["settings"], (transaction, give) => {
      const settings = transaction.objectStore("settings");
      if (value === undefined) settings.delete(key);
      else settings.put(value, key);
      give(undefined);
    });
  }

  // Private

  /** Writes what waits, one transaction after the other. */
  async #next() {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#queue.length > 0) {
      // What has failed has to be written before: then it all waits for the next attempt.
      if (this.state === "none" || this.#failed.length > 0) this.#fail(this.#queue.splice(0));
      else await this.#write(this.#queue.splice(0, this.#sameOwner()));
    }
    this.#isWriting = false;
  }

  /** How many of the next jobs are of one owner. */
  #sameOwner() {
    const [{ job }] = this.#queue;
    const other = this.#queue.findIndex((one, i) => i >= MOST || one.job.owner.holder !== job.owner.holder || one.job.leaves);
    return Math.max(1, other < 0 ? this.#queue.length : other);
  }

  /** @param {Waiting[]} waiting of one owner */
  async #write(waiting) {
    try {
      const outcome = await this.#transact(waiting.map(({ job }) => job));
      this.#be("kept", "");
      for (const { answer } of waiting) answer(outcome);
    } catch (error) {
      this.#be("failed", /** @type {Error} */ (error).name);
      this.#fail(waiting);
    }
  }

  /** @param {Waiting[]} waiting */
  #fail(waiting) {
    for (const { answer } of waiting) answer("failed");
    if (this.state === "none") return;
    this.#failed.push(...waiting);
    this.#retry ??= setTimeout(() => void this.#again(), this.#retryEvery);
  }

  /** Writes what has failed. */
  async #again() {
    this.#retry = undefined;
    if (this.#isWriting) return this.#fail([]);
    const waiting = this.#failed;
    this.#failed = [];
    this.#queue.unshift(...waiting);
    await this.#next();
  }

  /**
   * One transaction for jobs of one owner, which are done one after the other.
   * @param {Job[]} jobs
   * @returns {Promise<Outcome>}
   */
  #transact(jobs) {
    return this.#database.transaction(["journal", "owners"], "readwrite", (transaction, give) => {
      const [journal, owners] = ["journal", "owners"].map(name => transaction.objectStore(name));
      const clients = [...new Set(jobs.flatMap(clientsOf))];
      const [name, ...held] = [NAME, ...clients].map(client => owners.get(client));
      const last = held[held.length - 1] ?? name;
      last.onsuccess = () => {
        const storage = name.result?.storage ?? this.#draw();
        if (!name.result) owners.put({ storage }, NAME);
        const holders = new Map(held.map((request, i) => [clients[i], request.result?.holder]));
        const outcome = this.#judge(jobs, storage, holders);
        if (outcome === "stored") for (const job of jobs) perform(job, journal, owners);
        give(outcome);
      };
    }, true);
  }

  /** @param {Job[]} jobs @param {string} storage @param {Map<string, string | undefined>} holders by client */
  #judge(jobs, storage, holders) {
    for (const job of jobs) {
      const { client, holder } = job.owner;
      if (job.fresh) this.#homes.set(client, storage);
      if (this.#homes.get(client) !== storage) return "wiped";
      for (const touched of clientsOf(job)) {
        const held = holders.get(touched);
        if (held === undefined ? !(job.fresh && touched === client) : held !== holder) return "taken";
      }
      holders.set(client, holder);
    }
    return "stored";
  }

  /**
   * A transaction that need not be done.
   * @template T
   * @param {import('./database.js').Mode} mode @param {string[]} stores
   * @param {(transaction: IDBTransaction, give: (result: T) => void) => void} body
   * @returns {Promise<T | undefined>}
   */
  async #quietly(mode, stores, body) {
    if (this.state === "none") return undefined;
    try {
      const result = await this.#database.transaction(stores, mode, body);
      if (this.#failed.length === 0) this.#be("kept", "");
      return result;
    } catch (error) {
      this.#be("failed", /** @type {Error} */ (error).name);
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

/** @param {Job} job @param {IDBObjectStore} journal @param {IDBObjectStore} owners */
function perform({ changes: { puts, deletes }, owner, leaves }, journal, owners) {
  for (const key of deletes) journal.delete([...key]);
  for (const { key, row } of puts) journal.put(row, [...key]);
  owners.put({ ...owner, at: Date.now() }, owner.client);
  if (leaves) owners.delete(leaves);
}

/** @param {Job} job whose clients' rows it touches */
function clientsOf({ changes: { puts, deletes }, owner }) {
  return [owner.client, ...puts.map(({ key }) => key[0]), ...deletes.map(([client]) => client)];
}

/** @param {readonly IDBValidKey[]} keys @param {any[]} rows @returns {Row[]} */
function rowsOf(keys, rows) {
  return keys.map((key, i) => ({ key: /** @type {any} */ (key), row: rows[i] }));
}

/** @param {any} row */
function isOwner(row) {
  return [row?.client, row?.holder, row?.person, row?.token].every(value => typeof value === "string");
}

/** @param {string} client all keys of its journal */
function allOf(client) {
  return IDBKeyRange.bound([client], [client, []]);
}
