// A small IndexedDB in memory, for tests of what uses one: it can fail as browsers do.

/** The databases of one origin. */
export class FakeIndexedDB {
  databases = new Map();
  connections = new Set();
  /** What fails next: opening hangs or is refused, transactions hang, are aborted, or the connection is dead. */
  opens = "well";
  transactions = "well";
  /** How often a connection was opened, and the durability of each transaction that writes. */
  opened = 0;
  durabilities = [];

  open(name) {
    const request = {};
    this.opened++;
    if (this.opens === "hang") return request;
    later(() => {
      if (this.opens === "refuse") {
        request.error = { name: "InvalidStateError" };
        return request.onerror?.();
      }
      const isNew = !this.databases.has(name);
      if (isNew) this.databases.set(name, { stores: new Map(), queue: [], version: 1 });
      request.result = new Connection(this, this.databases.get(name));
      this.connections.add(request.result);
      if (isNew) request.onupgradeneeded?.();
      later(() => request.onsuccess?.());
    });
    return request;
  }

  /** Everything is gone, as after the browser has cleared its storage. */
  wipe() {
    this.databases.clear();
    this.kill();
  }

  /** All connections die. */
  kill() {
    for (const connection of this.connections) {
      connection.isDead = true;
      connection.onclose?.();
    }
    this.connections.clear();
  }
}

class Connection {
  isDead = false;
  isClosed = false;
  #factory;
  #database;

  constructor(factory, database) {
    this.#factory = factory;
    this.#database = database;
  }

  createObjectStore(name) {
    this.#database.stores.set(name, new Map());
  }

  close() {
    this.isClosed = true;
    this.#factory.connections.delete(this);
  }

  transaction(names, mode, { durability }) {
    if (this.isDead || this.isClosed) throw new DOMException("the connection is closing", "InvalidStateError");
    if (mode === "readwrite") this.#factory.durabilities.push(durability);
    const transaction = new Transaction(this.#database, names, mode, this.#factory.transactions);
    this.#database.queue.push(transaction);
    later(() => advance(this.#database));
    return transaction;
  }
}

/** Transactions that write run one after the other. */
function advance({ queue }) {
  const [first] = queue;
  if (!first || first.isRunning) return;
  first.isRunning = true;
  first.run(() => {
    queue.shift();
    advance({ queue });
  });
}

class Transaction {
  error = null;
  #database;
  #mode;
  #fault;
  #requests = [];
  #undo = [];
  #state = "active";
  #end = () => {};

  constructor(database, names, mode, fault) {
    this.#database = database;
    this.#mode = mode;
    this.#fault = fault;
    this.names = names;
  }

  objectStore(name) {
    const store = this.#database.stores.get(name);
    if (!this.names.includes(name) || !store) throw new DOMException("there is no such store", "NotFoundError");
    const ask = work => {
      if (this.#state !== "active") throw new DOMException("it has ended", "TransactionInactiveError");
      const request = {};
      this.#requests.push({ request, work });
      return request;
    };
    const change = work => {
      if (this.#mode !== "readwrite") throw new DOMException("it only reads", "ReadOnlyError");
      return ask(() => {
        const before = new Map(store);
        this.#undo.push(() => (store.clear(), before.forEach((value, key) => store.set(key, value))));
        return work();
      });
    };
    const within = range => [...store].filter(([key]) => !range || range.includes(JSON.parse(key)))
      .sort(([a], [b]) => compare(JSON.parse(a), JSON.parse(b)));
    return {
      get: key => ask(() => structuredClone(store.get(JSON.stringify(key)))),
      getAll: range => ask(() => within(range).map(([, value]) => structuredClone(value))),
      getAllKeys: range => ask(() => within(range).map(([key]) => JSON.parse(key))),
      count: range => ask(() => within(range).length),
      put: (value, key) => {
        const copy = structuredClone(value);
        return change(() => store.set(JSON.stringify(key), copy));
      },
      add: (value, key) => change(() => {
        if (store.has(JSON.stringify(key))) throw new DOMException("it is there", "ConstraintError");
        store.set(JSON.stringify(key), value);
      }),
      delete: key => change(
        () => (key instanceof Range ? within(key).forEach(([one]) => store.delete(one)) : store.delete(
          JSON.stringify(key),
        )),
      ),
    };
  }

  commit() {
    if (this.#state === "active") this.#state = "committing";
  }

  abort() {
    this.#abort("AbortError");
  }

  run(end) {
    this.#end = end;
    if (this.#fault === "hang") return;
    if (this.#fault !== "well") return this.#abort(this.#fault);
    this.#step();
  }

  #step() {
    if (this.#state === "ended") return;
    const next = this.#requests.shift();
    if (!next) {
      this.#state = "ended";
      this.oncomplete?.();
      return this.#end();
    }
    later(() => {
      if (this.#state === "ended") return;
      try {
        next.request.result = next.work();
      } catch ({ name }) {
        return this.#abort(name);
      }
      // As in Chromium 156: what is committed while it reads a long value never ends.
      if (this.#state === "committing" && isLong(next.request.result)) return;
      next.request.onsuccess?.();
      this.#step();
    });
  }

  #abort(name) {
    if (this.#state === "ended") throw new DOMException("it has ended", "InvalidStateError");
    this.#state = "ended";
    for (const undo of this.#undo.reverse()) undo();
    this.error = { name };
    later(() => {
      this.onabort?.();
      this.#end();
    });
  }
}

function isLong(value) {
  if (value instanceof Uint8Array) return value.length > 65_536;
  return typeof value === "object" && value !== null && Object.values(value).some(isLong);
}

class Range {
  constructor(lower, upper) {
    this.lower = lower;
    this.upper = upper;
  }

  static bound(lower, upper) {
    return new Range(lower, upper);
  }

  includes(key) {
    return compare(this.lower, key) <= 0 && compare(key, this.upper) <= 0;
  }
}

globalThis.IDBKeyRange ??= Range;

/** Numbers come before texts, and these before arrays. */
function compare(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) {
    if (Array.isArray(a) !== Array.isArray(b)) return Array.isArray(a) ? 1 : -1;
    if (typeof a !== typeof b) return typeof a === "string" ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (compare(a[i], b[i]) !== 0) return compare(a[i], b[i]);
  return a.length - b.length;
}

function later(work) {
  setImmediate(work);
}
