// A database of the browser, for which nothing can be relied on: its connection may die, its transactions may never call
// back, another page may want to upgrade it. Each transaction is tried twice, the second time on a new connection; what
// is then not done is an error with a name.

/** @typedef {"readonly" | "readwrite"} Mode */
/**
 * Where the database is, and what stores it has when it is made. Later versions add stores and leave these alone, so
 * that this page can use theirs, too: it opens whatever version there is.
 * @typedef {{ name: string, stores: readonly string[], factory?: IDBFactory, patience?: number }} Place
 */

/** Longer than a slow disk takes, and shorter than a person waits. */
const PATIENCE = 3000;

export class StorageError extends Error {
  /** @param {string} name `timeout`, or the name of an exception of the browser */
  constructor(name) {
    super(name);
    this.name = name;
  }
}

export class Database {
  #place;
  /** @type {Promise<IDBDatabase> | undefined} */
  #connection;

  /** @param {Place} place */
  constructor(place) {
    this.#place = place;
  }

  /**
   * Runs a transaction. Throws `StorageError` if it has not happened, or nobody knows whether it has.
   * @template T
   * @param {readonly string[]} stores @param {Mode} mode
   * @param {(transaction: IDBTransaction, give: (result: T) => void) => void} body asks for everything in callbacks of
   *   the transaction, and calls `give` with what comes of it, last
   * @param {boolean} [isStrict] whether done means that it is on the disk
   * @returns {Promise<T>}
   */
  async transaction(stores, mode, body, isStrict = false) {
    try {
      return await this.#try(stores, mode, body, isStrict);
    } catch (error) {
      const { name } = /** @type {Error} */ (error);
      this.close();
      if (name === "QuotaExceededError") throw error;
      return this.#try(stores, mode, body, isStrict);
    }
  }

  /** The next transaction makes a new connection. */
  close() {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(database => database.close(), () => {});
  }

  /**
   * @template T
   * @param {readonly string[]} stores @param {Mode} mode
   * @param {(transaction: IDBTransaction, give: (result: T) => void) => void} body
   * @param {boolean} isStrict
   * @returns {Promise<T>}
   */
  async #try(stores, mode, body, isStrict) {
    const database = await (this.#connection ??= this.#open());
    return this.#watched((resolve, reject) => {
      const transaction = database.transaction([...stores], mode, { durability: isStrict ? "strict" : "relaxed" });
      /** @type {T} */
      let result;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error);
      body(transaction, given => {
        result = given;
        // A tab that is frozen inside a transaction would block all others.
        transaction.commit?.();
      });
      return () => transaction.abort();
    });
  }

  /** @returns {Promise<IDBDatabase>} */
  #open() {
    const { name, stores, factory = globalThis.indexedDB } = this.#place;
    return this.#watched((resolve, reject) => {
      const request = factory.open(name);
      let isLate = false;
      request.onupgradeneeded = () => {
        for (const store of stores) request.result.createObjectStore(store);
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
      const fail = (/** @type {unknown} */ error) => {
        clearTimeout(timer);
        reject(new StorageError(/** @type {Error | null} */ (error)?.name ?? "AbortError"));
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
      }, this.#place.patience ?? PATIENCE);
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
