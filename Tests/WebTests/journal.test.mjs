// Journals: rows are read as they were written, what cannot be read harms nothing else, and no edit is lost or made
// twice when a program ends at any moment and another one adopts its journal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Adoption } from "../../Sources/Web/client/adoption.js";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { FORMAT, Journal, readJournals } from "../../Sources/Web/client/journal.js";
import { ERRORS, decodeUp, encodeDown } from "../../Sources/Web/client/messages.js";
import { NO_LOG, Replica } from "../../Sources/Web/client/replica.js";
import { Session } from "../../Sources/Web/client/session.js";
import * as json from "./json.mjs";
import { Random, seed, times } from "./random.mjs";
import { SmallServer } from "./server.mjs";

const note = number => encoded(Uint8Array.of(number & 255, number >> 8, 1, 0, 0, 0, 0, 0), 2, {
  text: bytesOf(`n${number}`), level: 0,
});
const insertion = number => [{ op: "insert", items: [note(number)], side: "after" }];
const clientID = number => String(number).padStart(32, "0");

/** The rows of a storage after some changes, as the storage gives them: copies. */
class Storage {
  #rows = new Map();

  apply({ puts, deletes }) {
    for (const key of deletes) this.#rows.delete(String(key));
    for (const entry of puts) this.#rows.set(String(entry.key), structuredClone(entry));
  }

  get rows() {
    return [...this.#rows.values()].map(entry => structuredClone(entry));
  }
}

/** A replica with some pending edits, and its journal. */
function sample(client = clientID(1)) {
  const storage = new Storage();
  const replica = new Replica();
  const subscription = { name: "list" };
  const lists = [{ replica, subscription, number: 0 }];
  const journal = new Journal(client);
  const write = () => {
    const changes = journal.changes(lists);
    if (changes) storage.apply(changes);
    return changes;
  };
  return { storage, replica, lists, journal, write };
}

test("there is a row for each edit, and none while nothing is pending", () => {
  const { storage, replica, write } = sample();
  assert.equal(write(), undefined);
  replica.edit(insertion(1));
  assert.deepEqual(write().puts.map(({ key }) => key.slice(1)), [[0, 0], [0, 1]]);
  assert.equal(write(), undefined, "nothing has changed");
  replica.launch();
  replica.edit(insertion(2));
  assert.deepEqual(write().puts.map(({ key }) => key.slice(1)), [[0, 0], [0, 1], [0, 2]]);
  replica.edit(insertion(3));
  assert.deepEqual(
    write().puts.map(({ key }) => key.slice(1)),
    [[0, 3]],
    "what is written is not joined with anything",
  );
  const [{ lists }] = readJournals(storage.rows);
  const restored = Replica.restored({ ...lists[0], confirmed: replica.confirmed });
  assert.deepEqual(json.listTo(restored.view), json.listTo(replica.view));
  const pending = ({ pending }) => JSON.stringify(pending.map(({ delta, seen, exact, sequence, crossed }) => [
    json.deltaTo(delta), seen, exact, sequence, crossed,
  ]));
  assert.equal(pending(restored), pending(replica));
  assert.equal(restored.used, 1);
  const commit = { revision: 1, author: 1, sequence: 1, base: 0, time: 0, count: 1, digest: "", delta: insertion(1) };
  const after = replica.after({
    ...commit,
    digest: Replica.restored({
      ...lists[0], edits: lists[0].edits.slice(0, 1), confirmed: replica.confirmed,
    }).view.digest,
  });
  replica.acknowledge(commit, after);
  const changes = write();
  assert.deepEqual(changes.deletes.map(key => key.slice(1)), [[0, 1]]);
  assert.deepEqual(changes.puts.map(({ key }) => key.slice(1)), [[0, 0]]);
});

test("an edit that was stored and is assumed to be sent says so in its row", () => {
  const { storage, replica, write } = sample();
  for (const number of [1, 2]) replica.edit(insertion(number), "whole");
  write();
  replica.assume(1);
  write();
  const [{ lists: [{ edits }] }] = readJournals(storage.rows);
  assert.deepEqual(edits.map(({ isAssumed }) => isAssumed), [true, undefined]);
});

test("whatever changes of a list or of an edit is written again", () => {
  const { replica, lists: [{ subscription }], write } = sample();
  for (const number of [1, 2, 3]) replica.edit(insertion(number), "whole");
  write();
  const edit = { seen: 5, exact: 6, sequence: 7, sender: 8, crossed: true, step: "undo" };
  for (const [field, value] of Object.entries(edit)) {
    replica.pending[0][field] = value;
    assert.deepEqual(write().puts.map(({ row }) => row[field]), [value], field);
  }
  subscription.name = "new name";
  assert.deepEqual(write().puts.map(({ row }) => row.name), ["new name"]);
  for (const client of [clientID(2), clientID(3)]) {
    replica.assume(1, client);
    assert.equal(write().puts.find(({ key }) => key[2] === 0)?.row.awaits, client);
  }
});

test("the rows of another client id replace those of the old one", () => {
  const { storage, replica, journal, write } = sample();
  replica.edit(insertion(1));
  write();
  storage.apply(journal.rename(clientID(2)));
  write();
  assert.deepEqual(readJournals(storage.rows).map(({ client }) => client), [clientID(2)]);
});

test("a journal of a later format, or a damaged one, harms no other", () => {
  const all = [];
  for (let i = 1; i <= 5; i++) {
    const { storage, replica, write } = sample(clientID(i));
    replica.edit(insertion(i));
    write();
    all.push(storage.rows);
  }
  all[1][1].row.format = FORMAT + 1;
  all[2][1].row.delta = Uint8Array.of(1, 2, 3);
  all[3] = all[3].slice(1);
  const read = readJournals(all.flat());
  assert.deepEqual(read.map(({ refused }) => refused), [undefined, "later format", "damaged", "damaged", undefined]);
});

test("each field of a row may be of another type", () => {
  const { storage, replica, write } = sample();
  replica.edit(insertion(1));
  write();
  const { rows } = storage;
  for (const [i, { row }] of rows.entries()) {
    for (const field of Object.keys(row)) {
      for (const value of [null, -1, 0.5, "x", {}, 2 ** 60]) {
        const others = structuredClone(rows);
        others[i].row[field] = value;
        const [{ refused, lists }] = readJournals(others);
        assert.ok(refused || (field === "name" && lists), `${field}: ${value}`);
      }
    }
  }
});

test("the rows of a list that could not be adopted yet stay", () => {
  const { storage, replica, write } = sample();
  replica.edit(insertion(1));
  write();
  const [{ client, lists }] = readJournals(storage.rows);
  const journal = new Journal(client, lists);
  assert.equal(journal.changes([]), undefined);
  const other = { replica: new Replica(), subscription: { name: "other" }, number: 1 };
  assert.equal(journal.changes([other]), undefined);
});

test("edits that were joined and are separate again keep their places", () => {
  const { storage, replica, write } = sample();
  for (const number of [1, 2, 3]) {
    replica.edit(insertion(number));
    for (const edit of write().begun) edit.isStored = true;
  }
  const joined = replica.launch();
  write();
  replica.edit(insertion(4));
  write();
  assert.equal(storage.rows.length, 3, "the list, what is in flight, and what waits");
  replica.takeBack(joined, replica.confirmed, { reason: 1, first: 3, second: 0 }, 1);
  write();
  const [{ lists: [kept] }] = readJournals(storage.rows);
  const restored = Replica.restored({ ...kept, confirmed: replica.confirmed });
  const deltas = ({ pending }) => pending.map(({ delta }) => json.deltaTo(delta));
  assert.deepEqual(deltas(restored), deltas(replica));
  assert.equal(restored.pending.length, 4);
  assert.deepEqual([...restored.view].map(item => item.text), ["n4", "n3", "n2", "n1"]);
  replica.launch();
  replica.edit(insertion(5));
  write();
  assert.equal(readJournals(storage.rows)[0].lists[0].edits.length, 5);
});

// Adoption, message by message

/** An adoption of edits that were made on revision 3 of a list with one item. */
function adoption() {
  const base = List.of([note(7)]);
  const edit = { delta: insertion(8), seen: 3, exact: undefined, sequence: 5, crossed: false };
  const kept = {
    format: FORMAT, name: "list", log: "0000000200000005", revision: 3, digest: base.digest, used: 5, isShared: false,
    list: 0, edits: [edit], numbers: [1],
  };
  let request = 0;
  return { adoption: new Adoption(kept, () => ++request), base };
}

const state = (request, list) => ({
  type: "state", request, revision: 3, count: list.count, digest: list.digest, rules: undefined,
});
const noSuchList = request => ({
  type: "error", code: ERRORS.indexOf("noSuchList"), request, list: 0, retryAfter: 0, message: "",
});

test("what is adopted is pending as it was", () => {
  const { adoption: adopted, base } = adoption();
  assert.deepEqual(adopted.begin().messages, [{ type: "fetch", request: 1, name: "list", revision: 3 }]);
  assert.equal(adopted.answer({ type: "pong", nonce: 1 }), undefined);
  assert.equal(adopted.answer(state(1, base)), undefined);
  assert.equal(adopted.answer({ type: "chunk", request: 9, items: [note(1)] }), undefined);
  const { do: step, name, replica } = adopted.answer({ type: "chunk", request: 1, items: [...base] });
  assert.deepEqual([step, name, replica.used, replica.inFlight.sequence, replica.revision], [
    "follow", "list", 5, 5, 3,
  ]);
  assert.deepEqual([...replica.view].map(item => item.text), ["n8", "n7"]);
});

test("another list of the name is not taken for one's own, which may have another name", () => {
  const { adoption: adopted, base } = adoption();
  adopted.begin();
  const other = List.of([note(9)]);
  adopted.answer(state(1, other));
  const byLog = adopted.answer({ type: "chunk", request: 1, items: [...other] });
  assert.deepEqual(byLog.messages, [
    { type: "subscribe", request: 2, name: "", logID: "0000000200000005", revision: 3, wants: 0 },
  ]);
  adopted.answer({ type: "subscribed", request: 2, list: 4 });
  assert.equal(adopted.answer({ type: "renamed", list: 5, name: "others" }), undefined);
  const again = adopted.answer({ type: "renamed", list: 4, name: "new" });
  assert.deepEqual(again.messages, [
    { type: "unsubscribe", list: 4 }, { type: "fetch", request: 3, name: "new", revision: 3 },
  ]);
  adopted.answer(state(3, base));
  assert.equal(adopted.answer({ type: "chunk", request: 3, items: [...base] }).name, "new");
});

test("a list that is gone, or does not keep the revision, leaves the journal alone", () => {
  const { adoption: gone } = adoption();
  gone.begin();
  gone.answer(noSuchList(1));
  assert.deepEqual(gone.answer(noSuchList(2)), { do: "fail", reason: "noSuchList" });
  const { adoption: forgotten } = adoption();
  forgotten.begin();
  assert.deepEqual(forgotten.answer({ ...noSuchList(1), code: ERRORS.indexOf("noSuchRevision") }), {
    do: "fail", reason: "noSuchRevision",
  });
});

// Programs that end at any moment

/** A program with one client id: it connects to the server at once, and each message arrives at once or never. */
class Tab {
  #server;
  #storage;
  #journal;
  #session;
  #adoptions;
  #list;
  #now = 0;
  #writes = [];
  hasFailed = false;

  constructor(server, storage, client, kept) {
    this.#server = server;
    this.#storage = storage;
    this.#journal = new Journal(client, kept);
    this.#session = new Session({ client, person: "", program: "" }, lists => this.#journal.changes(lists));
    this.#adoptions = (kept ?? []).map(list => ({
      list, adoption: new Adoption(list, () => this.#session.nextRequest()),
    }));
    if (!kept) this.#list = this.#session.follow("list");
  }

  get client() {
    return this.#session.client;
  }

  get isDone() {
    return this.#adoptions.length === 0 && this.#session.replica(this.#list).pending.length === 0;
  }

  edit(delta) {
    this.#run(this.#session.act(this.#list, replica => replica.edit(delta(replica.view)), ++this.#now));
  }

  connect() {
    this.#now = Math.max(this.#now + 1, this.#session.deadline);
    this.#session.tick(this.#now, 0);
    this.#run(this.#session.connected(this.#now));
  }

  lose() {
    this.#run(this.#session.lost(++this.#now, 0));
  }

  /** A write reaches the storage. */
  store() {
    const effect = this.#writes.shift();
    if (!effect) return false;
    this.#storage.apply(effect.changes);
    this.#run(this.#session.stored(effect.write));
    return true;
  }

  hear(message) {
    this.#run(this.#session.received(framed(encodeDown(message)), ++this.#now, 0));
  }

  #run(effects) {
    for (const effect of effects) {
      if (effect.do === "write") this.#writes.push(effect);
      if (effect.do === "send") new FrameReader().read(effect.bytes, body => this.#server.read(this, decodeUp(body)));
      if (effect.do === "open") for (const one of this.#adoptions) this.#step(one, one.adoption.begin());
      if (effect.do === "answer") {
        for (const one of [...this.#adoptions]) this.#step(one, one.adoption.answer(effect.message));
      }
      assert.ok(effect.do !== "stop" && effect.do !== "draw", effect.reason);
    }
  }

  #step(one, step) {
    if (step?.do === "ask") for (const message of step.messages) this.#run(this.#session.ask(message, ++this.#now));
    if (step?.do === "fail") this.hasFailed = true;
    if (step?.do !== "follow") return;
    this.#adoptions = this.#adoptions.filter(other => other !== one);
    this.#list = this.#session.follow(step.name, step.replica, one.list.list);
    this.#run(this.#session.tick(++this.#now, 0));
  }
}

/** The server, to which tabs are connected, and what is on the way to them. */
class World {
  #queue = [];
  lists = new SmallServer([note(60_000)]);
  name = "list";

  /** A client's message; answers wait until they are delivered. */
  read(tab, message) {
    const { lists } = this;
    switch (message.type) {
      case "hello":
        return this.#push(tab, {
          type: "welcome", version: 5, capabilities: 0, author: lists.authorOf(tab.client), idleDeadline: 45_000,
          frameBytes: 8_388_608, program: "",
        });
      case "subscribe":
        if (message.name !== "" && message.name !== this.name) return this.#push(tab, this.#noSuchList(message));
        for (const answer of lists.subscribe(tab.client, message, false)) this.#push(tab, answer);
        if (message.name === "") this.#push(tab, { type: "renamed", list: 7, name: this.name });
        return this.followers.add(tab);
      case "unsubscribe":
        return;
      case "fetch":
        if (message.name !== this.name) return this.#push(tab, this.#noSuchList(message));
        for (const answer of lists.fetch(message)) this.#push(tab, answer);
        return;
      case "submit": {
        const answer = lists.submit(tab.client, message);
        if ("delta" in answer) {
          for (const other of this.followers) this.#push(other, { type: "commit", list: 7, commit: answer });
        }
        else this.#push(tab, answer);
      }
    }
  }

  followers = new Set();

  deliver() {
    const next = this.#queue.shift();
    next?.tab.hear(next.message);
    return next !== undefined;
  }

  /** A tab's connection is gone. */
  forget(tab) {
    this.followers.delete(tab);
    this.#queue = this.#queue.filter(({ tab: other }) => other !== tab);
  }

  #push(tab, message) {
    this.#queue.push({ tab, message });
  }

  #noSuchList({ request }) {
    return { type: "error", code: ERRORS.indexOf("noSuchList"), request, list: 0, retryAfter: 0, message: "" };
  }
}

const runs = Math.ceil(100 * times);

test(`${runs} times, programs end at any moment, from seed ${seed}`, () => {
  for (let i = 0; i < runs; i++) {
    const random = new Random(seed + i);
    try {
      endAtAnyMoment(random);
    } catch (error) {
      throw new Error(`HAND_SEED=${seed + i}: ${error.stack}`);
    }
  }
});

function endAtAnyMoment(random) {
  const world = new World();
  const storage = new Storage();
  let clients = 0;
  let notes = 0;
  const open = () => {
    const tab = new Tab(world, storage, clientID(++clients));
    tab.connect();
    return tab;
  };
  let tab = open();
  for (let left = 120; left > 0; left--) {
    const what = random.below(20);
    if (what < 5) {
      const number = ++notes;
      tab.edit(view => [
        ...(view.count > 0 ? [{ op: "keep", count: random.below(view.count) + 1 }] : []),
        { op: "insert", items: [note(number)], side: random.side() },
      ]);
    } else if (what < 10) tab.store();
    else if (what < 16) world.deliver();
    else if (what === 16) world.lists.others(random);
    else if (what === 17) (world.forget(tab), tab.lose(), tab.connect());
    else if (what === 18 && random.is(0.3)) world.name = `list${left}`;
    else if (what === 19) {
      world.forget(tab);
      tab = open();
    }
  }
  // Everything that is in the storage is adopted, and sent.
  const kept = new Set(readJournals(storage.rows).flatMap(
    ({ lists }) => lists.flatMap(({ edits }) => edits.flatMap(({ delta }) => idsOf(delta))),
  ));
  world.forget(tab);
  for (const { client, lists } of readJournals(storage.rows)) {
    // Who has edited a list without ever having seen it knows it by its name alone.
    if (lists[0].log === NO_LOG) world.name = lists[0].name;
    const heir = new Tab(world, storage, client, lists);
    heir.connect();
    while (world.deliver() || heir.store());
    assert.equal(heir.hasFailed, false);
    assert.ok(heir.isDone, "everything is sent");
    world.forget(heir);
  }
  assert.deepEqual(storage.rows, []);
  const ids = [...world.lists.list].map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, "no item is there twice");
  for (const id of kept) assert.ok(ids.includes(id) || world.lists.deleted.has(id), `${id} is there`);
}

const idsOf = delta =>
  delta.flatMap(component => (component.op === "insert" ? component.items.map(({ id }) => id) : []));
