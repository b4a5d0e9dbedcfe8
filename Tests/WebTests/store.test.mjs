// The storage of a tab, on an IndexedDB that fails in each way in which browsers do: what happens is a state, and never
// an exception, and nothing is written by two tabs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Reader, joined } from "../../Sources/Web/client/bytes.js";
import { readItems } from "../../Sources/Web/client/codec.js";
import { Copies } from "../../Sources/Web/client/copies.js";
import { List } from "../../Sources/Web/client/list.js";
import { Settings } from "../../Sources/Web/client/settings.js";
import { Store } from "../../Sources/Web/client/store.js";
import { FakeIndexedDB } from "./fakeidb.mjs";
import { Random } from "./random.mjs";

const client = "a".repeat(32);
const other = "b".repeat(32);
const TIMEOUT = 40;

function owner(holder = "tab 1", name = client) {
  return { client: name, holder, person: "Ada", token: "" };
}

/** A job that writes and deletes rows of some numbers. */
function job({ holder, name = client, fresh = false, puts = [], deletes = [], leaves } = {}) {
  const key = number => [name, 0, number];
  return {
    changes: {
      puts: puts.map(number => ({ key: key(number), row: { format: 1, number } })), deletes: deletes.map(key),
    },
    owner: owner(holder, name), fresh, leaves,
  };
}

let names = 0;
const draw = () => `storage ${++names}`;
const open = factory => new Store(draw, { factory, timeout: TIMEOUT }, TIMEOUT);
const write = (store, it) => new Promise(resolve => store.write(it, resolve));
const numbers = async store => (await store.look()).rows.map(({ row }) => row.number);

/** All answers to a job, as they come. */
function answers(store, it) {
  const all = [];
  store.write(it, outcome => all.push(outcome));
  return all;
}

async function until(condition) {
  for (let left = 400; !condition(); left--) {
    assert.ok(left > 0, `in time: ${condition}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

test("rows are written, read and deleted, and on the disk when that is said", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  assert.equal(store.state, "opening");
  assert.equal(await write(store, job({ fresh: true, puts: [0, 1, 2] })), "stored");
  assert.equal(await write(store, job({ puts: [3], deletes: [1] })), "stored");
  assert.deepEqual(await numbers(store), [0, 2, 3]);
  assert.equal(store.state, "kept");
  assert.deepEqual((await store.look()).owners.map(({ client, holder }) => [client, holder]), [[client, "tab 1"]]);
  assert.deepEqual([...new Set(factory.durabilities)], ["strict"]);
  assert.deepEqual(await numbers(open(factory)), [0, 2, 3], "another tab sees them");
});

test("jobs that wait for each other share a transaction, in their order", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  const all = [answers(store, job({ fresh: true, puts: [0, 1] }))];
  for (let i = 2; i < 20; i++) all.push(answers(store, job({ puts: [i], deletes: [i - 1] })));
  await until(() => all.at(-1).length === 1);
  assert.deepEqual(all.flat(), ["stored", "stored"], "the last answer is about all of them");
  assert.deepEqual(await numbers(store), [0, 19]);
  assert.ok(factory.durabilities.length < 5, `${factory.durabilities.length} transactions`);
});

test("a journal whose first write has failed begins with what was written since", async () => {
  const factory = new FakeIndexedDB();
  factory.transactions = "AbortError";
  const store = open(factory);
  const all = [answers(store, job({ fresh: true, puts: [0, 1] }))];
  await until(() => store.state === "failed");
  all.push(answers(store, job({ puts: [2] })));
  factory.transactions = "well";
  await until(() => all[1].includes("stored"));
  assert.deepEqual([all, await numbers(store)], [[["failed"], ["failed", "stored"]], [0, 1, 2]]);
});

test("who has taken a journal over is its only writer", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  await write(first, job({ fresh: true, puts: [0, 1] }));
  const rows = await second.claim(client, owner("tab 2"));
  assert.deepEqual(rows.map(({ row }) => row.number), [0, 1]);
  assert.equal(await write(first, job({ puts: [2] })), "taken");
  assert.equal(await write(second, job({ holder: "tab 2", deletes: [0, 1] })), "stored");
  await second.forget(client, "tab 1");
  assert.equal((await first.look()).owners.length, 1, "another holder cannot forget it");
  await second.forget(client, "tab 2");
  assert.deepEqual(await first.look(), { rows: [], owners: [] });
  assert.equal(await write(first, job({ puts: [2] })), "taken", "it does not begin anew by mistake");
});

test("a journal can be deleted, and becomes somebody else's, whoever has it", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  await write(first, job({ fresh: true, puts: [0, 1] }));
  await write(first, job({ fresh: true, name: other, puts: [0] }));
  await second.discard(client, "tab 2");
  const heir = { person: "Max", token: "secret" };
  await second.claim(other, { ...heir, holder: "tab 2" });
  const { rows, owners } = await first.look();
  assert.deepEqual([rows.map(({ key }) => key[0]), owners], [
    [other], [{ client: other, holder: "tab 2", ...heir, at: owners[0].at }],
  ]);
  for (const name of [client, other]) assert.equal(await write(first, job({ name, puts: [2] })), "taken");
});

test("an owner stays while its journal has rows", async () => {
  const store = open(new FakeIndexedDB());
  await write(store, job({ fresh: true, puts: [0, 1] }));
  await store.forget(client, "tab 1");
  assert.equal((await store.look()).owners.length, 1);
});

test("fences go when nobody can run into them any more", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  await open(factory).claim(client, owner("tab 2"));
  const { stores } = factory.databases.get("hand");
  stores.get("fences").set(JSON.stringify([other, "tab 9"]), Date.now() - 1e10);
  await store.settings();
  await until(() => stores.get("fences").size === 1);
  assert.equal(await write(store, job({ puts: [1] })), "taken");
});

test("another client id gets all rows in one transaction", async () => {
  const store = open(new FakeIndexedDB());
  await write(store, job({ fresh: true, puts: [0, 1] }));
  const moving = job({ fresh: true, name: other, puts: [0, 1], leaves: client });
  moving.changes.deletes = [[client, 0, 0], [client, 0, 1]];
  assert.equal(await write(store, moving), "stored");
  const { rows, owners } = await store.look();
  assert.deepEqual([...new Set(rows.map(({ key }) => key[0])), ...owners.map(({ client }) => client)], [other, other]);
});

test("who has lost a journal takes no row out of it, also under another client id", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  await write(first, job({ fresh: true, puts: [0, 1] }));
  await second.claim(client, owner("tab 2"));
  const moving = job({ fresh: true, name: other, puts: [0, 1], leaves: client });
  moving.changes.deletes = [[client, 0, 0], [client, 0, 1]];
  assert.equal(await write(first, moving), "taken");
  const { rows, owners } = await first.look();
  assert.deepEqual([rows.map(({ key }) => key[0]), owners.map(({ client }) => client)], [[client, client], [client]]);
});

test("a connection that has died is replaced, and nothing is lost", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0, 1] }));
  for (const connection of factory.connections) connection.isDead = true;
  assert.equal(await write(store, job({ puts: [2] })), "stored");
  factory.kill();
  assert.equal(await write(store, job({ puts: [3] })), "stored");
  assert.deepEqual(await numbers(store), [0, 1, 2, 3]);
  assert.equal(factory.opened, 3);
});

test("a page that wants to upgrade is not kept waiting", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  const [connection] = factory.connections;
  connection.onversionchange();
  await until(() => connection.isClosed);
  factory.databases.get("hand").version = 2;
  assert.equal(await write(store, job({ puts: [1] })), "stored", "it goes on with the newer one");
});

test("transactions that never call back are a state, and what they were for is written later", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  const states = [];
  store.onstate = () => states.push(store.state);
  assert.equal(await write(store, job({ fresh: true, puts: [0, 1] })), "stored");
  factory.transactions = "hang";
  const hanging = answers(store, job({ puts: [2] }));
  const next = answers(store, job({ puts: [3], deletes: [1] }));
  assert.equal(await store.look(), undefined);
  await until(() => hanging[0] === "failed" && next[0] === "failed");
  assert.deepEqual([store.state, store.reason], ["failed", "timeout"]);
  factory.transactions = "well";
  await until(() => hanging.at(-1) === "stored" && next.at(-1) === "stored");
  assert.deepEqual(states, ["kept", "failed", "kept"]);
  assert.deepEqual(await numbers(store), [0, 2, 3]);
});

test("a full disk is a state", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "QuotaExceededError";
  assert.equal(await write(store, job({ puts: [1] })), "failed");
  assert.deepEqual([store.state, store.reason, factory.opened], ["failed", "QuotaExceededError", 1]);
  factory.transactions = "well";
  await until(() => store.state === "kept");
});

for (const opens of ["hang", "refuse"]) {
  test(`a database that cannot be opened (${opens}) is a state, as in private windows`, async () => {
    const factory = new FakeIndexedDB();
    factory.opens = opens;
    const store = open(factory);
    assert.equal(await store.look(), undefined);
    assert.equal(store.state, "failed");
    assert.equal(await write(store, job({ fresh: true, puts: [0] })), "failed");
    assert.equal(await store.settings(), undefined);
    factory.opens = "well";
    await until(() => store.state === "kept");
  });
}

test("without any database nothing is kept, and nobody waits", async () => {
  const store = new Store(draw);
  assert.equal(store.state, "none");
  assert.equal(await write(store, job({ fresh: true, puts: [0] })), "failed");
  assert.equal(await store.look(), undefined);
  assert.equal(await new Copies(draw).read("list"), undefined);
});

test("who finds that all has been wiped is told so, until all is written again", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0, 1] }));
  factory.wipe();
  assert.equal(await write(store, job({ puts: [2] })), "wiped");
  assert.equal(await write(store, job({ puts: [3] })), "wiped");
  assert.equal(await write(store, job({ fresh: true, puts: [0, 1, 2, 3] })), "stored");
  assert.equal(await write(store, job({ deletes: [1] })), "stored");
  assert.deepEqual(await numbers(store), [0, 2, 3]);
});

test("who claims a journal of a wiped storage gets nothing, and its owner can write it anew", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  await write(first, job({ fresh: true, puts: [0] }));
  factory.wipe();
  assert.deepEqual(await second.claim(client, owner("tab 2")), []);
  assert.equal(await write(first, job({ fresh: true, puts: [0] })), "stored");
});

test("of two tabs with one client id, which only a wiped storage allows, one writes its journal anew", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  await write(first, job({ fresh: true, puts: [0] }));
  await second.claim(client, owner("tab 2"));
  factory.wipe();
  assert.equal(await write(second, job({ holder: "tab 2", fresh: true, puts: [0, 1] })), "stored");
  assert.equal(await write(first, job({ fresh: true, puts: [0, 1] })), "taken");
  assert.equal(
    await write(second, job({ holder: "tab 2", fresh: true, puts: [0, 2] })),
    "stored",
    "its own is no other",
  );
});

test("long rows can be read, too", async () => {
  const factory = new FakeIndexedDB();
  const [first, second] = [open(factory), open(factory)];
  const long = job({ fresh: true, puts: [0, 1] });
  long.changes.puts[1].row.delta = new Uint8Array(100_000);
  await write(first, long);
  assert.equal((await first.look()).rows.length, 2);
  assert.equal((await second.claim(client, owner("tab 2"))).length, 2);
});

test("rows of a later format stay as they are", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.databases.get("hand").stores.get("journal").set(JSON.stringify([other, 0, 0]), { format: 9, what: "ever" });
  await write(store, job({ deletes: [0] }));
  assert.deepEqual((await store.look()).rows.map(({ row }) => row), [{ format: 9, what: "ever" }]);
});

test("settings are kept, and read when the page begins", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await store.set("person", "Ada");
  await store.set("lists", [{ name: "groceries", token: "t", role: "write" }]);
  await store.set("draft", "x");
  await store.set("draft", undefined);
  assert.deepEqual([...(await open(factory).settings())], [
    ["lists", [{ name: "groceries", token: "t", role: "write" }]], ["person", "Ada"],
  ]);
  assert.deepEqual([...new Set(factory.durabilities.slice(1))], ["relaxed"], "but for the database's name");
});

// Copies

const copy = (count, revision = 3) => ({
  name: "list", log: "0000000200000005", revision,
  items: List.of(new Random(count).items(0).concat(Array.from({ length: count }, (_, i) => new Random(i).item([2])))),
});

test("a copy of a list is what was kept, in chunks", async () => {
  const factory = new FakeIndexedDB();
  const copies = new Copies(draw, { factory });
  for (const count of [0, 1, 30_000, 7]) {
    const kept = copy(count, count);
    await copies.keep(kept);
    const { items, ...head } = await copies.read("list");
    assert.deepEqual([items.count, items.digest, head], [
      count, kept.items.digest, { name: "list", log: kept.log, revision: count },
    ]);
    assert.deepEqual((await copies.heads()).map(({ revision, digest }) => [revision, digest]), [
      [count, kept.items.digest],
    ]);
  }
  const chunks = factory.databases.get("hand copies").stores.get("chunks");
  assert.equal(chunks.size, 1, "nothing is left of longer ones");
  await copies.keep({ ...copy(9), name: "list 2" });
  await copies.drop("list");
  assert.deepEqual([await copies.read("list"), (await copies.heads()).map(({ name }) => name), chunks.size], [
    undefined, ["list 2"], 1,
  ]);
});

test("a copy of items that arrived together has those that are left, in their order", async () => {
  const copies = new Copies(draw, { factory: new FakeIndexedDB() });
  const bytes = joined(...Array.from({ length: 9 }, (_, i) => new Random(i).item().whole));
  const all = readItems(new Reader(bytes), 9);
  const items = List.of([4, 5, 1, 2, 3, 7, 8].map(i => all[i]));
  await copies.keep({ name: "list", log: "ab", revision: 1, items });
  assert.equal((await copies.read("list"))?.items.digest, items.digest);
});

test("a copy that is damaged, or of a later format, is none", async () => {
  const factory = new FakeIndexedDB();
  const copies = new Copies(draw, { factory });
  const stores = () => factory.databases.get("hand copies").stores;
  const harm = [
    () => stores().get("chunks").clear(),
    () => stores().get("chunks").forEach(chunk => chunk.bytes.fill(7)),
    () => stores().get("chunks").forEach(chunk => chunk.count++),
    () => stores().get("heads").forEach(head => (head.digest = "0000000000000000")),
    () => stores().get("heads").forEach(head => (head.format = 2)),
    () => stores().get("heads").forEach((_, key, heads) => heads.set(key, null)),
  ];
  for (const one of harm) {
    await copies.keep(copy(50));
    assert.ok(await copies.read("list"));
    one();
    assert.equal(await copies.read("list"), undefined, String(one));
  }
});

test("a full disk for copies harms no journal", async () => {
  const factory = new FakeIndexedDB();
  const [store, copies] = [open(factory), new Copies(draw, { factory })];
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "QuotaExceededError";
  assert.equal(await copies.keep(copy(10)), undefined);
  factory.transactions = "well";
  assert.equal(store.state, "kept");
  assert.equal(await write(store, job({ puts: [1] })), "stored");
});

test("what has failed is written before what comes after it, also if the storage works again by then", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "QuotaExceededError";
  const first = answers(store, job({ puts: [1] }));
  await until(() => first.length === 1);
  factory.transactions = "well";
  // The edit of row 1 is committed: if this were written first, the row would come back, and the edit be sent again.
  const second = answers(store, job({ deletes: [1] }));
  await until(() => second.at(-1) === "stored");
  assert.deepEqual([first, second], [["failed"], ["failed", "stored"]]);
  assert.deepEqual(await numbers(store), [0]);
});

test("while the storage fails, what waits for it is one job, however long that takes", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "QuotaExceededError";
  await write(store, job({ puts: [1] }));
  const all = [];
  for (let i = 2; i < 500; i++) store.write(job({ puts: [i], deletes: [i - 1] }), outcome => all.push(outcome));
  all.length = 0;
  await new Promise(resolve => setTimeout(resolve, 3 * TIMEOUT));
  factory.transactions = "well";
  assert.ok(all.length > 0 && all.length <= 4, `${all.length} answers to the attempts`);
  await until(() => all.at(-1) === "stored");
  assert.deepEqual(await numbers(store), [0, 499]);
});

test("nobody waits for an attempt to write what has failed", async () => {
  const factory = new FakeIndexedDB();
  const store = open(factory);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "hang";
  await write(store, job({ puts: [1] }));
  const { opened } = factory;
  await until(() => factory.opened > opened);
  const all = answers(store, job({ puts: [2] }));
  assert.deepEqual(all, ["failed"]);
  factory.transactions = "well";
  await until(() => all.at(-1) === "stored");
  assert.deepEqual(await numbers(store), [0, 1, 2]);
  const next = answers(store, job({ puts: [3] }));
  assert.deepEqual(next, [], "it works again");
  await until(() => next.at(-1) === "stored");
});

test("of two journals that one tab writes at once, one may have been taken over", async () => {
  const factory = new FakeIndexedDB();
  const [store, taker] = [open(factory), open(factory)];
  await write(store, job({ fresh: true, puts: [0] }));
  await write(store, job({ fresh: true, holder: "tab 1 2", name: other, puts: [0] }));
  await taker.claim(other, owner("tab 2", other));
  // The first keeps the storage busy, so that the others wait for it together.
  const all = [
    answers(store, job({ puts: [1] })), answers(store, job({ puts: [2] })),
    answers(store, job({ holder: "tab 1 2", name: other, puts: [3] })),
  ];
  await until(() => all.every(({ length }) => length === 1));
  assert.deepEqual(all.flat(), ["stored", "stored", "taken"]);
});

test("while an edit is in memory only, nothing else that works makes the storage one that keeps", async () => {
  const factory = new FakeIndexedDB();
  const store = new Store(draw, { factory, timeout: TIMEOUT }, 300);
  await write(store, job({ fresh: true, puts: [0] }));
  factory.transactions = "QuotaExceededError";
  await write(store, job({ puts: [1] }));
  factory.transactions = "well";
  await store.look();
  await store.set("key", 1);
  assert.equal(store.state, "failed");
});

test("who is not the first to claim a journal has a storage that works", async () => {
  const factory = new FakeIndexedDB();
  const [first, second, third] = [1, 2, 3].map(() => new Store(draw, { factory, timeout: 40 }, 40));
  const owner = holder => ({ client, holder, person: "Ada", token: "" });
  const job = { changes: { puts: [], deletes: [] }, owner: owner("tab 1"), fresh: true };
  await new Promise(resolve => first.write(job, resolve));
  const claims = await Promise.all([second.claim(client, owner("tab 2")), third.claim(client, owner("tab 3"))]);
  assert.equal(claims.filter(rows => rows === undefined).length, 1, "one of them was faster");
  assert.deepEqual([second.state, third.state], ["kept", "kept"]);
});

test("the copy of a list that has another name now is not offered under the former one", async () => {
  const factory = new FakeIndexedDB();
  const copies = new Copies(draw, { factory });
  const copy = { name: "before", log: "0000000200000005", revision: 3, items: List.empty };
  await copies.keep(copy);
  await copies.keep({ ...copy, name: "after", revision: 4 }, "before");
  assert.deepEqual((await copies.heads()).map(({ name }) => name), ["after"]);
  assert.equal(await copies.read("before"), undefined);
});

test("what was changed before the storage answered is changed in what it has, and written then", () => {
  const written = [];
  const settings = new Settings((key, value) => written.push([key, value]));
  settings.set("draft", "new");
  for (const one of ["second", "third"]) settings.change("notices", (known = []) => [...known, one]);
  settings.hear("person", "Eve");
  assert.deepEqual([settings.get("notices"), written], [["second", "third"], []]);
  for (const text of ["ne", "new"]) settings.set("draft", text);
  settings.fill(new Map([["draft", "old"], ["seen list", 3], ["notices", ["first"]], ["person", "Ada"]]));
  assert.deepEqual(["draft", "seen list", "notices", "person"].map(key => settings.get(key)), [
    "new", 3, ["first", "second", "third"], "Eve",
  ]);
  const notices = ["first", "second", "third"];
  assert.deepEqual(written, [["notices", ["first", "second"]], ["notices", notices], ["draft", "new"]]);
  settings.change("notices", known => known.slice(1));
  assert.deepEqual(written.at(-1), ["notices", ["second", "third"]]);
});
