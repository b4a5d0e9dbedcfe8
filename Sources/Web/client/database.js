// A database of the browser, for which nothing can be relied on: its connection may die, its transactions may never
// call back, another page may want to upgrade it. Each transaction is tried twice, the second time on a new connection;
// what is then not done is an error with a name.

/** @typedef {"readonly" | "readwrite"} Mode */
/**
 * Where the database is, and what stores it has when it is made. Later versions add stores and leave these alone, so
 * that this page can use theirs, too: it opens whatever version there is.
 * @typedef {{ name: string, stores: readonly string[], draw: () => string, factory?: IDBFactory, timeout?: number
 *   }} Place `draw` gives a name that nobody else draws
 */
/** @typedef {{ database: IDBDatabase, storage: string }} Connection */

/** The store that has the database's name. */
const NAME = "name";

/** Longer than a slow disk takes, and shorter than a person waits. */
const TIMEOUT = 3000;

export class StorageError extends Error {
  /** @param {string} name `timeout`, or the name of an exception of the browser */
  constructor(name) {
    super(name);
    this.name = name;
  }
}

export class Database {
  #place;
  /** @type {Promise<Connection> | undefined} */
  #connection;

  /** @param {Place} place */
  constructor(place) {
    this.#place = place;
  }

  /**
   * Runs a transaction. Throws `StorageError` if it has not happened, or nobody knows whether it has.
   * @template T
   * @param {readonly string[]} stores @param {Mode} mode
   * @param {(transaction: IDBTransaction, storage: string) => () => T} body asks for everything at once, in no
   *   callback: a tab that is frozen inside a transaction would block all others. What writes does not read. It gives
   *   what the result is made of in the end. `storage` is the name of the database: another one once everything has
   *   been wiped
   * @param {boolean} [isStrict] whether done means that it is on the disk
   * @returns {Promise<T>}
   */
  async transaction(stores, mode, body, isStrict = false) {
    try {
      return await this.#try(stores, mode, body, isStrict);
    } catch (error) {
      const { name } = /** @type {Error} */ (error);
      if (name !== "ConstraintError") this.close();
      if (name === "QuotaExceededError" || name === "ConstraintError") throw error;
      return this.#try(stores, mode, body, isStrict);
    }
  }

  /** The next transaction makes a new connection. */
  close() {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(({ database }) => database.close(), () => {});
  }

  /**
   * @template T
   * @param {readonly string[]} stores @param {Mode} mode
   * @param {(transaction: IDBTransaction, storage: string) => () => T} body
   * @param {boolean} isStrict
   * @returns {Promise<T>}
   */
  async #try(stores, mode, body, isStrict) {
    const { database, storage } = await (this.#connection ??= this.#connect());
    return this.#run(database, stores, mode, transaction => body(transaction, storage), isStrict);
  }

  /**
   * @template T
   * @param {IDBDatabase} database @param {readonly string[]} stores @param {Mode} mode
   * @param {(transaction: IDBTransaction) => () => T} body @param {boolean} [isStrict]
   * @returns {Promise<T>}
   */
  #run(database, stores, mode, body, isStrict = false) {
    return this.#watched((resolve, reject) => {
      const transaction = database.transaction([...stores], mode, { durability: isStrict ? "strict" : "relaxed" });
      const result = body(transaction);
      transaction.oncomplete = () => resolve(result());
      transaction.onabort = () => reject(transaction.error);
      // In Chromium 156, a transaction that reads a value of more than 64 KiB and is committed never ends.
      if (mode === "readwrite") transaction.commit?.();
      return () => transaction.abort();
    });
  }

  /**
   * A database is only wiped while nobody is connected to it.
   * @returns {Promise<Connection>}
   */
  async #connect() {
    const database = await this.#open();
    /** @param {IDBTransaction} transaction */
    const read = transaction => resultOf(transaction.objectStore(NAME).get(0));
    const known = await this.#run(database, [NAME], "readonly", read);
    if (known !== undefined) return { database, storage: known };
    const { draw } = this.#place;
    /** @param {IDBTransaction} transaction */
    const add = transaction => resultOf(transaction.objectStore(NAME).add(draw(), 0));
    // Another tab may have been faster.
    await this.#run(database, [NAME], "readwrite", add, true).catch(() => {});
    return { database, storage: await this.#run(database, [NAME], "readonly", read) };
  }

  /** @returns {Promise<IDBDatabase>} */
  #open() {
    const { name, stores, factory = globalThis.indexedDB } = this.#place;
    return this.#watched((resolve, reject) => {
      const request = factory.open(name);
      let isLate = false;
      request.onupgradeneeded = () => {
        for (const store of [NAME, ...stores]) request.result.createObjectStore(store);
      };
      request.onsuccess = () => {
        const database = request.result;
        if (isLate) return database.close();
        // Without this, an older page would keep a newer one from upgrading.
        database.onversionchange = () => this.close();
        database.onclose = () => this.close();
        resolve(database);
      };
      request.onerror = () => reject(request.error);
      return () => {
        isLate = true;
      };
    });
  }

  /**
   * An answer that comes in time, or an error.
   * @template T
   * @param {(resolve: (value: T) => void, reject: (error: unknown) => void) => () => void} work gives what ends it
   * @returns {Promise<T>}
   */
  #watched(work) {
    return new Promise((resolve, reject) => {
      /** @param {any} error */
      const fail = error => {
        clearTimeout(timer);
        reject(new StorageError(error?.name ?? "AbortError"));
      };
      /** @type {() => void} */
      let end = () => {};
      const timer = setTimeout(() => {
        fail({ name: "timeout" });
        try {
          end();
        } catch {
          // It has ended, and nobody has been told.
        }
      }, this.#place.timeout ?? TIMEOUT);
      try {
        end = work(value => {
          clearTimeout(timer);
          resolve(value);
        }, fail);
      } catch (error) {
        fail(error);
      }
    });
  }
}

/**
 * What a request has given in the end.
 * @template T
 * @param {IDBRequest<T>} request
 */
export function resultOf(request) {
  return () => request.result;
}

/**
 * All keys that begin so, and go on.
 * @param {string} first
 */
export function allOf(first) {
  return IDBKeyRange.bound([first], [first, []]);
}
