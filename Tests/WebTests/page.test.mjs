// What happens to a page besides crashes: it is hidden and shown, its person gets another name, other tabs have edits,
// and there are no locks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { bytesOfDelta } from "../../Sources/Web/client/codec.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { apply } from "../../Sources/Web/client/delta.js";
import { List } from "../../Sources/Web/client/list.js";
import { Locks } from "../../Sources/Web/client/locks.js";
import { Heirs } from "../../Sources/Web/client/heirs.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { ERRORS, decodeUp, encodeDown } from "../../Sources/Web/client/messages.js";
import { Neighbours } from "../../Sources/Web/client/neighbours.js";
import { OpenList } from "../../Sources/Web/client/openlist.js";
import { shownWith, wordsOf } from "../../Sources/Web/client/others.js";
import { NO_LOG, Replica } from "../../Sources/Web/client/replica.js";
import { Requests, listOf } from "../../Sources/Web/client/requests.js";
import { needsServer } from "./host.mjs";
import { Random, seed } from "./random.mjs";
import { World } from "./world.mjs";

const note = (number, text) => encoded(Uint8Array.of(number, 0, 0, 0, 0, 0, 0, 0), 2, {
  text: bytesOf(text), level: 0,
});
const appending = (count, ...items) => [
  ...(count > 0 ? [{ op: "keep", count }] : []), { op: "insert", items, side: "before" },
];
const texts = list => [...list].map(({ text }) => text);

/** A device with one tab whose list is live. */
function live() {
  const world = new World(new Random(seed));
  const sim = world.open();
  world.settle();
  return { world, sim, tab: sim.tab };
}

/** Time goes by, and all that is due is done. */
function pass(world, ms) {
  const until = world.now + ms;
  for (;;) {
    for (let i = 0; i < 200 && world.deliver(); i++);
    const next = Math.min(world.host.deadline, ...world.tabs.map(({ tab }) => tab.deadline));
    if (next > until) break;
    world.pass(Math.max(world.now, next));
  }
  world.pass(until);
}

// Hidden tabs

test("a hidden tab stays connected for minutes, then pauses, and is back when it is shown", needsServer, () => {
  const { world, sim, tab } = live();
  const connections = () => [...world.connections].filter(({ isDead }) => !isDead).length;
  sim.run(tab.hidden(world.now));
  pass(world, 290_000);
  assert.deepEqual([tab.state, connections()], ["open", 1]);
  pass(world, 20_000);
  assert.equal(tab.state, "paused");
  assert.ok(tab.deadline - world.now > 200_000, "no timer for long");
  pass(world, 3_600_000);
  assert.equal(tab.state, "paused");
  sim.run(tab.woke(world.now));
  pass(world, 400);
  assert.equal(tab.state, "open");
});

test("edits of a hidden tab are sent before it pauses, and those of a paused one when it is shown", needsServer, () => {
  const { world, sim, tab } = live();
  sim.run(tab.hidden(world.now));
  pass(world, 400_000);
  world.edit(sim);
  pass(world, 1000);
  assert.equal(sim.opened.replica.pending.length > 0, true);
  sim.run(tab.woke(world.now));
  pass(world, 1000);
  assert.equal(sim.opened.replica.pending.length, 0);
});

test("a connection that has died in a sleep is noticed within seconds of waking", needsServer, () => {
  const { world, sim, tab } = live();
  // It stays open for the browser, and nothing comes.
  for (const one of world.connections) one.isMute = true;
  sim.run(tab.woke(world.now));
  pass(world, 2600);
  pass(world, 400);
  assert.equal(tab.state, "open");
  assert.ok([...world.connections].some(({ isMute, isOpen }) => isOpen && !isMute));
});

test("a wake does not end a wait that the server has asked for", needsServer, () => {
  const { world, sim, tab } = live();
  const [connection] = world.connections;
  const code = ERRORS.indexOf("shuttingDown");
  connection.received(framed(encodeDown({ type: "error", code, request: 0, list: 0, retryAfter: 5000, message: "" })));
  pass(world, 1);
  sim.run(tab.woke(world.now));
  pass(world, 4900);
  assert.equal(tab.state, "waiting");
  pass(world, 500);
  assert.equal(tab.state, "open");
});

test("a person who is hidden is away", needsServer, () => {
  const { world, sim, tab } = live();
  const said = [];
  const frames = new FrameReader();
  world.host.receive = (number, bytes) => frames.read(bytes, body => said.push(decodeUp(body).focus?.place));
  sim.run(tab.place(sim.opened, { place: 0 }, world.now));
  pass(world, 10);
  sim.run(tab.hidden(world.now));
  pass(world, 10);
  sim.run(tab.place(sim.opened, { place: 0 }, world.now));
  sim.run(tab.woke(world.now));
  pass(world, 10);
  delete world.host.receive;
  assert.deepEqual(said.filter(place => place !== undefined), [0, 3, 0]);
});

// Persons

test("another name goes on with the client id", needsServer, () => {
  const { world, sim, tab } = live();
  const first = tab.client;
  sim.run(tab.introduce("Eve", world.now));
  pass(world, 1000);
  assert.deepEqual([tab.client, tab.state, tab.person], [first, "open", "Eve"]);
});

test("what waits under one token is not sent under another one, but for an heir's", needsServer, () => {
  const { world, sim, tab } = live();
  sim.isOffline = true;
  pass(world, 1000);
  // A tab that has ended has left something, too.
  const ended = world.open();
  ended.isOffline = true;
  pass(world, 1000);
  for (const one of [sim, ended]) world.edit(one);
  pass(world, 1000);
  world.crash(ended);
  const heir = { person: "Max", token: "another" };
  const other = world.open(heir);
  sim.run(tab.woke(world.now));
  pass(world, 120_000);
  const waiting = { own: sim.opened.replica.pending.length, others: tab.others.length };
  assert.deepEqual([world.device.owners.size, other.tab.foreign.length, waiting.others], [2, 2, 1]);
  assert.ok(waiting.own > 0);
  sim.run(tab.bequeath(heir, world.now));
  sim.run(tab.woke(world.now));
  pass(world, 120_000);
  assert.deepEqual([world.device.rows.size, sim.opened.replica.pending.length, tab.others], [0, 0, []]);
  world.settle();
  world.judge();
});

test("what another tab has left is deleted, and nothing of it is stored later", needsServer, () => {
  const { world, sim, tab } = live();
  const other = world.open();
  other.isOffline = sim.isOffline = true;
  pass(world, 1000);
  world.edit(other);
  pass(world, 1000);
  const { client } = other.tab;
  sim.run(tab.discard(client, world.now));
  pass(world, 10);
  assert.deepEqual([world.device.rows.size, world.device.owners.has(client)], [0, false]);
  const mark = other.made.size;
  world.edit(other);
  pass(world, 1000);
  assert.notEqual(other.tab.client, client, "it lives, and goes on under another id");
  assert.ok([...world.device.rows.values()].every(({ key }) => key[0] === other.tab.client) && other.made.size > mark);
});

// Storage

test("edits that were kept before the storage failed are sent without it, one by one", needsServer, () => {
  const { world, sim, tab } = live();
  sim.isOffline = true;
  pass(world, 1000);
  for (let left = 3; left > 0; left--) {
    world.edit(sim);
    pass(world, 10);
  }
  const { length } = sim.opened.replica.pending;
  sim.storageFails = true;
  // It is noticed by an edit.
  world.edit(sim);
  pass(world, 10);
  sim.isOffline = false;
  sim.run(tab.woke(world.now));
  const before = world.server.revision;
  pass(world, 5000);
  assert.deepEqual([sim.opened.replica.pending.length, tab.isUnsafe], [0, true]);
  assert.ok(world.server.revision - before > length, `${world.server.revision - before} commits`);
  assert.ok(world.device.rows.size > 3, "the storage has them still");
  world.crash(sim);
  world.open();
  world.settle();
  world.judge();
});

const notes = (...numbers) => List.of(numbers.map(number => note(number, "x")));

/** A replica that was restored with some edits, after four sequences. */
function restoredWith(count) {
  const edits = Array.from({ length: count }, (_, number) => ({
    delta: appending(number, note(number + 1, "x")), seen: 0, crossed: false, isWritten: true, isStored: true,
  }));
  const log = "0000000200000005";
  return Replica.restored({ log, revision: 0, confirmed: List.empty, used: 4, isShared: false, edits });
}

test("edits that go out as one use a sequence each, which tells another tab how many of them were sent", () => {
  const [sender, sleeper] = [restoredWith(4), restoredWith(4)];
  sender.launch();
  assert.deepEqual([sender.pending.length, sender.inFlight.sequence, sender.used], [1, 8, 8]);
  sleeper.suspect();
  sleeper.settleRestored(7, notes(1, 2, 3));
  assert.deepEqual([sleeper.pending.length, sleeper.view.count], [1, 4]);
});

test("what was sent after restored edits, and never stored, is not taken for later edits", () => {
  const replica = restoredWith(2);
  replica.edit(appending(2, note(3, "y")));
  replica.pending[2].isStored = true;
  replica.suspect();
  replica.settleRestored(7, notes(1, 2, 9));
  assert.equal(replica.pending.length, 1);
  // The same sequences are not counted twice, if the tab wakes before a snapshot has come.
  replica.suspect();
  replica.settleRestored(7, notes(1, 2, 9));
  assert.equal(replica.pending.length, 1);
});

/** A commit arrives that another program has sent under the replica's client id. */
function arrives(replica, sequence, delta) {
  const after = apply(replica.confirmed, delta);
  const { count, digest } = after;
  const commit = { revision: replica.revision + 1, author: 1, sequence, base: 0, time: 0, count, digest, delta };
  if (replica.recognize(commit, 1)) return;
  if (replica.isAnswer(commit, 1)) replica.acknowledge(commit, after);
  else replica.follow(commit, after, 1);
}

test("commits show which of the restored edits another tab has sent, whatever it sent besides", () => {
  const [first, later] = [appending(0, note(1, "x")), appending(1, note(3, "later"))];
  for (const [sent, left, next] of [
    [[], 2, 5], [[first], 1, 6], [[first, later], 0, undefined], [[first, appending(1, note(9, "unstored"))], 1, 7],
    [[[], first], 1, 7], [[appending(0, note(9, "unstored"))], 2, 6],
  ]) {
    const replica = restoredWith(1);
    replica.edit(later);
    replica.pending[1].isStored = true;
    replica.join(false);
    sent.forEach((delta, i) => arrives(replica, 5 + i, delta));
    assert.deepEqual([replica.pending.length, replica.launch()?.sequence], [left, next]);
    assert.ok(texts(replica.view).includes("later"));
  }
});

test("a commit of what is in flight is known, if another tab has sent it under another name", () => {
  const replica = restoredWith(1);
  replica.launch().sender = 3;
  arrives(replica, 5, appending(0, note(9, "of another program")));
  assert.equal(replica.pending.length, 1);
  arrives(replica, 5, replica.inFlight.delta);
  assert.equal(replica.pending.length, 0);
});

test("the answer to what is in flight is judged as that, whatever it became", () => {
  const replica = restoredWith(2);
  replica.launch().sender = 1;
  const { sequence } = replica.inFlight;
  assert.equal(replica.recognize({ author: 1, sequence, delta: appending(0, note(1, "another text")) }, 1), false);
  assert.equal(replica.inFlight.sequence, sequence);
});

test("what another tab had in other parts is sent, if its items are there, and what follows waits", () => {
  const replica = restoredWith(3);
  arrives(replica, 6, appending(0, note(1, "another text"), note(2, "another text"), note(8, "x")));
  assert.deepEqual([replica.pending.length, replica.view.count, replica.revision], [1, 3, 0]);
});

test("a commit of edits that went out as one is known as theirs", () => {
  const replica = restoredWith(4);
  const notes = [1, 2, 3].map(number => note(number, "x"));
  arrives(replica, 7, appending(0, ...notes));
  const { pending, view, revision } = replica;
  assert.deepEqual([pending.length, view.count, revision, replica.launch().sequence], [1, 4, 1, 8]);
});

test("an edit whose items a snapshot does not have was not sent, unless a later one was", () => {
  for (const [there, left] of [[[1], 2], [[3], 0], [[1, 2, 3], 0], [[], 3], [[9], 3]]) {
    const replica = restoredWith(3);
    const snapshot = { items: notes(...there), revision: 9, log: replica.log, last: 9, isLastRefused: false };
    replica.restart(snapshot, 1);
    assert.equal(replica.pending.length, left, String(there));
  }
});

test("once the server has said what was sent, later edits are not taken for sent", () => {
  const replica = restoredWith(1);
  replica.renumber(4);
  replica.settleRestored(7, notes(1));
  assert.equal(replica.pending.length, 1);
});

test("an edit that inserts nothing may be in any snapshot, but was not sent under a sequence of before", () => {
  const delta = [{ op: "edit", change: { text: [{ at: 1, removed: bytesOf(""), inserted: bytesOf("y") }] } }];
  const edits = [{ delta, seen: 3, crossed: false, isWritten: true, isStored: true }];
  const kept = { log: "0000000200000005", revision: 3, confirmed: notes(1), used: 4, isShared: false, edits };
  const replica = Replica.restored(kept);
  replica.recognize({ author: 1, sequence: 4, delta }, 1);
  assert.equal(replica.inFlight, undefined);
  replica.settleRestored(5, notes(2));
  assert.equal(replica.pending.length, 0);
});

test("a journal whose edits were made upon those of another one waits for it", () => {
  const [first, second] = ["a", "b"].map(digit => digit.repeat(32));
  const owner = client => ({ client, holder: "x", person: "Ada", token: "" });
  const rows = (client, awaits) => [
    { key: [client, 0, 0], row: {
      format: 1, name: "list", log: "0000000200000005", revision: 3, digest: "0".repeat(16), used: 0, isShared: false,
      awaits,
    } },
    { key: [client, 0, 1], row: {
      format: 1, delta: bytesOfDelta(appending(2, note(4, "x"))), seen: 0, crossed: false,
    } },
  ];
  const refused = new Map();
  const neighbours = new Neighbours(client => refused.get(client));
  const left = () => neighbours.left("", "").map(({ client }) => client[0]);
  const see = rows => neighbours.see({ rows, owners: [owner(first), owner(second)], copies: [] });
  see([...rows(first), ...rows(second, first)]);
  assert.deepEqual(left(), ["a"]);
  refused.set(first, "noSuchRevision");
  assert.deepEqual(left(), ["a", "b"], "what cannot be sent keeps nobody waiting");
  refused.clear();
  see(rows(second, first));
  assert.deepEqual(left(), ["a", "b"]);
});

test("edits upon those that another tab took over wait until a look shows that these are sent", needsServer, () => {
  const { world, sim, tab } = live();
  const act = (delta, ms) => {
    sim.run(tab.act(sim.opened, replica => replica.edit(delta), world.now));
    pass(world, ms);
  };
  sim.isOffline = true;
  pass(world, 1000);
  const { count } = sim.opened.replica.view;
  act(appending(count, note(9, "[e1]")), 10);
  const { client } = tab;
  // Another tab takes the journal over, and ends.
  world.device.claim(client, { ...world.device.owners.get(client), holder: "another" });
  const text = [{ at: 4, removed: new Uint8Array(0), inserted: bytesOf(" [e2]") }];
  act([{ op: "keep", count }, { op: "edit", change: { text } }], 10);
  assert.notEqual(tab.client, client);
  sim.isOffline = false;
  sim.storageFails = true;
  sim.run(tab.woke(world.now));
  pass(world, 120_000);
  assert.deepEqual([sim.opened.subscription.isHeld, sim.opened.replica.pending.length], [true, 1]);
  sim.storageFails = false;
  world.settle();
  assert.ok(texts(world.server.list).includes("[e1] [e2]"));
  world.judge();
});

// Edits of other tabs

/** A list that the server has, what is pending here, and what is pending elsewhere. */
function shared(revision = 3) {
  const confirmed = List.of([note(1, "milk"), note(2, "bread")]);
  const log = "0000000200000005";
  const replica = new Replica();
  replica.begin({ log, revision, items: confirmed });
  replica.edit(appending(2, note(3, "mine")));
  const edit = delta => ({ delta, seen: 3, crossed: false });
  const kept = edits => ({
    format: 1, name: "list", log, revision: 3, digest: confirmed.digest, used: 0, isShared: false, list: 0,
    edits: edits.map(edit), numbers: [],
  });
  return { replica, kept };
}

test("edits of other tabs are merged into what is shown, and their items are known", () => {
  const { replica, kept } = shared();
  const changed = [
    { op: "edit", change: { text: [{ at: 4, removed: new Uint8Array(0), inserted: bytesOf(", 2 l") }] } },
    { op: "delete", count: 1 },
  ];
  const { list, theirs } = shownWith(replica, [
    kept([appending(2, note(4, "theirs")), changed]), kept([appending(2, note(5, "third"))]),
  ]);
  assert.deepEqual(texts(list), ["milk, 2 l", "mine", "theirs", "third"]);
  const ids = new Map([...list].map(({ id, text }) => [text, id]));
  assert.deepEqual([...theirs].sort(), ["milk, 2 l", "theirs", "third"].map(text => ids.get(text)).sort());
  assert.deepEqual(texts(replica.view), ["milk", "bread", "mine"]);
});

test("what was made on another revision is shown at the end, as far as it adds items", () => {
  const { replica, kept } = shared(7);
  const { list, theirs } = shownWith(replica, [kept([appending(2, note(4, "theirs"))])]);
  assert.deepEqual([texts(list), theirs.size], [["milk", "bread", "mine", "theirs"], 1]);
});

test("edits of several other tabs are merged with each other, too", () => {
  const { replica, kept } = shared();
  const inFront = [{ op: "insert", items: [note(4, "first"), note(5, "second")], side: "before" }];
  const change = { text: [{ at: 5, removed: new Uint8Array(0), inserted: bytesOf("!") }] };
  const { list } = shownWith(replica, [kept([inFront]), kept([[{ op: "keep", count: 1 }, { op: "edit", change }]])]);
  assert.deepEqual(texts(list), ["first", "second", "milk", "bread!", "mine"]);
});

test("what another tab's journal still has, and the list has already, is shown once", () => {
  const { replica, kept } = shared(7);
  assert.deepEqual(texts(shownWith(replica, [kept([appending(2, note(2, "bread"))])]).list), ["milk", "bread", "mine"]);
});

test("a question that waits for a connection fails if there will be none", async () => {
  const requests = new Requests();
  const asked = requests.ask({ type: "lists", after: "" });
  requests.fail();
  const late = new Promise(resolve => setTimeout(resolve, 100, "nothing"));
  assert.equal(await Promise.race([asked.catch(({ name }) => name), late]), "offline");
});

test("what another tab adds to a list that nobody has seen is shown in that list only", () => {
  const edits = [{ delta: appending(0, note(1, "of x")), seen: 0, crossed: false }];
  const kept = {
    format: 1, name: "x", log: NO_LOG, revision: 0, digest: List.empty.digest, used: 0, isShared: false, list: 0, edits,
    numbers: [1],
  };
  const tab = { others: [{ owner: {}, lists: [kept] }] };
  assert.deepEqual(texts(new OpenList({ name: "y", replica: new Replica() }, tab).shown.list), []);
  assert.deepEqual(texts(new OpenList({ name: "x", replica: new Replica() }, tab).shown.list), ["of x"]);
});

test("what another tab has for a former list of the name is not shown in the new one", () => {
  const { replica, kept } = shared();
  const other = { ...kept([appending(2, note(9, "former"))]), log: "0000000200000006" };
  const opened = { name: "list", replica };
  assert.deepEqual(texts(new OpenList(opened, { others: [{ lists: [other] }] }).shown.list), ["milk", "bread", "mine"]);
  // After a restore, it is the same list.
  const same = { ...other, log: "0000000300000005" };
  assert.ok(texts(new OpenList(opened, { others: [{ lists: [same] }] }).shown.list).includes("former"));
});

test("what is assumed is shown with the journal that has it, and not twice", () => {
  const { replica, kept } = shared();
  const base = kept([appending(2, note(4, "theirs"))]);
  const rest = kept([appending(2, note(4, "theirs")), appending(3, note(5, "rest"))]);
  rest.edits[0].isAssumed = true;
  assert.deepEqual(texts(shownWith(replica, [base, rest]).list), ["milk", "bread", "mine", "theirs", "rest"]);
});

test("the words of edits can be read", () => {
  const edits = [
    { delta: appending(
      2,
      note(4, "eggs"),
      encoded(new Uint8Array(8), 4, { text: bytesOf("page"), url: bytesOf("https://example.org"), level: 0 }),
    ) },
    { delta: [
      { op: "edit", change: { text: [
        { at: 0, removed: new Uint8Array(0), inserted: bytesOf("oat ") },
        { at: 4, removed: bytesOf("s"), inserted: bytesOf("two") },
      ] } },
    ] },
    { delta: [{ op: "delete", count: 1 }] },
  ];
  assert.deepEqual(wordsOf(edits), ["eggs", "[page](https://example.org)", "oat  … two"]);
});

// Requests

test("questions wait for a connection, and fail with it", async () => {
  const requests = new Requests();
  const first = requests.ask({ type: "lists", after: "" });
  let number = 0;
  assert.deepEqual(requests.take(() => ++number), [{ type: "lists", after: "", request: 1 }]);
  assert.deepEqual(requests.take(() => ++number), []);
  assert.equal(requests.hear({ type: "lists", request: 2, hasMore: false, entries: [] }), false);
  const lists = { type: "lists", request: 1, hasMore: false, entries: [] };
  assert.equal(requests.hear(lists), true);
  assert.equal(await first, lists);
  const [sent, waiting] = [
    requests.ask({ type: "fetch", name: "x", revision: undefined }), requests.ask({ type: "lists", after: "" }),
  ];
  requests.take(() => ++number);
  requests.fail();
  for (const one of [sent, waiting]) await assert.rejects(one, { name: "offline" });
});

test("a fetched list is put together", async () => {
  const requests = new Requests();
  for (const items of [[], [note(1, "a"), note(2, "b"), note(3, "c")]]) {
    const answer = requests.ask({ type: "fetch", name: "x", revision: 4 });
    requests.take(() => 7);
    requests.hear({ type: "state", request: 7, revision: 4, count: items.length, digest: "", rules: undefined });
    for (const item of items) requests.hear({ type: "chunk", request: 7, items: [item] });
    assert.deepEqual(texts(listOf(await answer)), texts(items));
  }
  const failing = requests.ask({ type: "fetch", name: "x", revision: 4 });
  requests.take(() => 8);
  requests.hear({
    type: "error", code: ERRORS.indexOf("noSuchRevision"), request: 8, list: 0, retryAfter: 0, message: "gone",
  });
  await assert.rejects(failing, { name: "noSuchRevision", message: "gone" });
});

// Locks

test("tabs without locks ask each other", async () => {
  const tabs = [];
  const tab = () => {
    const locks = new Locks(
      { post: message => queueMicrotask(
        () => tabs.filter(other => other !== locks).forEach(other => other.hear(message)),
      ) },
      null,
    );
    tabs.push(locks);
    return locks;
  };
  const [a, b] = [tab(), tab()];
  assert.equal(a.areReal, false);
  assert.deepEqual([await a.take("x"), await a.take("x"), await b.take("x"), await b.take("y")], [
    true, true, false, true,
  ]);
  a.free("x");
  assert.equal(await b.verify("x"), true);
});

/** The browser's locks: a tab may lose all of them. */
class FakeLocks {
  held = new Map();

  constructor(shared, clientId) {
    this.shared = shared;
    this.clientId = clientId;
  }

  async request(name, _, callback) {
    if (this.shared.has(name)) return callback(null);
    const lock = { name, clientId: this.clientId };
    this.shared.set(name, lock);
    await callback(lock);
    if (this.shared.get(name) === lock) this.shared.delete(name);
  }

  async query() {
    return { held: [...this.shared.values()] };
  }
}

test("a lock that the browser has dropped is taken again, or seen to be gone", async () => {
  const shared = new Map();
  const [a, b] = ["a", "b"].map(name => new Locks({ post: () => {} }, new FakeLocks(shared, name)));
  assert.deepEqual([await a.take("x"), await b.take("x"), await a.verify("x")], [true, false, true]);
  shared.clear();
  assert.equal(await a.verify("x"), "again");
  shared.clear();
  assert.deepEqual([await b.take("x"), await a.verify("x")], [true, false]);
  b.free("x");
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(await a.take("x"), true);
});

test("who asks for a lock twice at once gets one answer, and can give it back", async () => {
  const shared = new Map();
  const [a, b] = ["a", "b"].map(name => new Locks({ post: () => {} }, new FakeLocks(shared, name)));
  assert.deepEqual(await Promise.all([a.take("x"), a.take("x"), a.verify("x")]), [true, true, true]);
  assert.equal(await a.verify("x"), true);
  shared.clear();
  // A page that wakes is told so by several events.
  assert.deepEqual(await Promise.all([a.verify("x"), a.verify("x")]), ["again", "again"]);
  assert.deepEqual([await b.take("x"), await a.verify("x")], [false, true]);
  a.free("x");
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(await b.take("x"), true);
});

test("without locks, a tab that lives answers whoever asks", async () => {
  const asking = new Locks({ post: message => setTimeout(() => answering.hear(message)) }, null);
  const answering = new Locks({ post: message => setTimeout(() => asking.hear(message)) }, null);
  assert.equal(await answering.take("x"), true);
  assert.deepEqual(await Promise.all([asking.isFree("x"), asking.take("x")]), [false, false]);
  assert.deepEqual(await Promise.all([asking.isFree("y"), asking.take("y")]), [true, true]);
  assert.equal(await answering.take("y"), false, "who is asked whether it is free does not free it");
});

test("what a tab that has paused has not sent may be sent by another one", needsServer, () => {
  const { world, sim, tab } = live();
  assert.equal(world.device.locks.has(tab.client), true);
  sim.run(tab.hidden(world.now));
  pass(world, 310_000);
  assert.deepEqual([tab.state, world.device.locks.has(tab.client)], ["paused", false]);
  sim.run(tab.woke(world.now));
  pass(world, 1000);
  assert.equal(world.device.locks.has(tab.client), true);
});

test("the server is told another name at once", needsServer, () => {
  const { world, sim, tab } = live();
  const names = [];
  const { receive } = world.host;
  // A frame may arrive in parts.
  const readers = new Map();
  world.host.receive = (number, bytes, now) => {
    if (!readers.has(number)) readers.set(number, new FrameReader());
    readers.get(number).read(bytes, body => {
      const message = decodeUp(body);
      if (message.type === "hello") names.push(message.person);
    });
    receive.call(world.host, number, bytes, now);
  };
  sim.run(tab.introduce("Eve", world.now));
  pass(world, 1000);
  delete world.host.receive;
  assert.deepEqual(names, ["Eve"]);
});

/** Heirs whose journals are answered by hand. */
function heirsOf(...names) {
  const owners = names.map(name => ({ client: name.repeat(32), holder: "x", person: "Ada", token: "" }));
  const pushed = [];
  const claims = {
    claim: owner => pushed.push(["claim", owner.client[0]]), forget: client => pushed.push(["forget", client[0]]),
  };
  const heirs = new Heirs({
    claims, push: effect => pushed.push([effect.do, effect.client[0]]), line: () => {
      throw new Error("no line is needed");
    }, owner: client => owners.find(owner => owner.client === client),
  });
  return { heirs, owners, pushed };
}

test("why one journal cannot be sent says nothing of the next one", () => {
  const { heirs, owners: [first, second] } = heirsOf("a", "b");
  heirs.find([first, second], 0);
  heirs.locked(first.client, true, 0);
  heirs.claimed(first.client, { rows: [{ key: [first.client, 0, 0], row: { format: 9 } }], copies: [] }, 0);
  heirs.locked(second.client, true, 0);
  heirs.claimed(second.client, { rows: [], copies: [] }, 0);
  assert.deepEqual([heirs.refusal(first.client), heirs.refusal(second.client)], ["later format", undefined]);
});

test("a journal that cannot be sent is not tried again and again", () => {
  const { heirs, owners, pushed } = heirsOf("a");
  heirs.find(owners, 0);
  heirs.locked(owners[0].client, true, 0);
  heirs.claimed(owners[0].client, { rows: [{ key: [owners[0].client, 0, 0], row: { format: 9 } }], copies: [] }, 0);
  pushed.length = 0;
  heirs.find(owners, 1);
  assert.deepEqual(pushed, []);
});

test("a journal whose tab lives keeps no other waiting, and what was locked is free in the end", () => {
  const { heirs, owners: [first, second], pushed } = heirsOf("a", "b");
  heirs.find([first, second], 0);
  heirs.locked(first.client, false, 0);
  heirs.locked(second.client, true, 0);
  heirs.claimed(second.client, undefined, 0);
  assert.deepEqual(pushed, [["lock", "a"], ["lock", "b"], ["claim", "b"], ["unlock", "b"]]);
});

test("a journal of which the server says nothing keeps no other waiting", needsServer, () => {
  const { world, tab } = live();
  const ended = [1, 2].map(() => world.open());
  pass(world, 1000);
  for (const one of ended) one.isOffline = true;
  pass(world, 1000);
  for (const one of ended) world.edit(one);
  pass(world, 1000);
  for (const one of ended) world.crash(one);
  const waiting = () => new Set([...world.device.rows.values()].map(({ key }) => key[0])).size;
  assert.equal(waiting(), 2);
  // Nothing but answers to pings comes for the first of them.
  const { receive } = world.host;
  const readers = new Map();
  let mute;
  world.host.receive = (number, bytes, now) => {
    if (!readers.has(number)) readers.set(number, new FrameReader());
    readers.get(number).read(bytes, body => {
      const { type, client } = decodeUp(body);
      if (type === "hello" && client !== tab.client) mute ??= number;
      if (number !== mute || ["hello", "ping"].includes(type)) receive.call(world.host, number, framed(body), now);
    });
  };
  pass(world, 50_000);
  assert.equal(waiting(), 2);
  pass(world, 100_000);
  delete world.host.receive;
  assert.equal(waiting(), 0, "the first one had another turn, on another connection");
});

test("one's own edits are not among those of other tabs", needsServer, () => {
  const { world, sim, tab } = live();
  sim.isOffline = true;
  pass(world, 1000);
  world.edit(sim);
  pass(world, 120_000);
  assert.ok(sim.opened.replica.pending.length > 0);
  sim.run(tab.woke(world.now));
  pass(world, 100);
  assert.deepEqual(tab.others, []);
});
