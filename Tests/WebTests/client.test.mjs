// The client as the view sees it, with a browser that has a socket and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Copies } from "../../Sources/Web/client/copies.js";
import { apply } from "../../Sources/Web/client/delta.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { Journal } from "../../Sources/Web/client/journal.js";
import { List } from "../../Sources/Web/client/list.js";
import { ERRORS, decodeUp, encodeDown } from "../../Sources/Web/client/messages.js";
import { Replica } from "../../Sources/Web/client/replica.js";
import { Store } from "../../Sources/Web/client/store.js";
import { FakeIndexedDB } from "./fakeidb.mjs";
import { insertion, item, log, subscribed, welcome } from "./live.mjs";

const sockets = [];

class Socket {
  constructor() {
    sockets.unshift(this);
    queueMicrotask(() => this.onopen());
  }

  sent = [];

  send(bytes) {
    new FrameReader().read(bytes, body => this.sent.push(decodeUp(body)));
  }

  close() {}
}

/** What the newest client has asked the browser to tell it. */
const listeners = {};
const addEventListener = (type, listener) => (listeners[type] = listener);
const nobody = { addEventListener, posted: [], postMessage: message => void nobody.posted.push(message) };
Object.assign(globalThis, {
  addEventListener, document: nobody, WebSocket: Socket, BroadcastChannel: function () { return nobody; },
});
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
// Its timers do not keep the test from ending.
const later = setTimeout;
globalThis.setTimeout = (...args) => later(...args).unref();
const { Client } = await import("../../Sources/Web/client/client.js");

const { Clients } = await import("../../Sources/Web/view/clients.js");
const { Identity } = await import("../../Sources/Web/view/identity.js");

const moment = () => new Promise(resolve => later(resolve, 20));

/** What the server says on the present connection. */
async function hear(...messages) {
  await moment();
  for (const message of messages) sockets[0].onmessage({ data: encodedAs(message) });
}

const encodedAs = message => framed(encodeDown(message)).slice().buffer;
const answer = (request, list, logID = log) => ({ ...subscribed, request, list, logID });
const error = (name, request) => ({
  type: "error", code: ERRORS.indexOf(name), request, list: 0, retryAfter: 0, message: "",
});

/** A client, without a storage unless there is one. */
async function started(token) {
  const count = sockets.length;
  let client;
  void Client.start({ url: "ws://x/", person: "Ada", token, program: "test" }).then(one => (client = one));
  await until(() => client && sockets.length > count);
  return client;
}

async function until(isSo) {
  for (let left = 200; left > 0 && !isSo(); left--) await moment();
  assert.ok(isSo());
}

test("a list that is left is followed until its edits are sent", async () => {
  const client = await started();
  const list = client.open("list");
  await hear(welcome, answer(1, 7));
  await until(() => list.subscription.isLive);
  client.act(list, replica => replica.edit(insertion(1)));
  client.leave(list);
  assert.equal(list.subscription.isLive, true);
  const { view, inFlight: { sequence, delta } } = list.replica;
  const commit = { revision: 1, author: 1, sequence, base: 0, time: 0, count: 1, digest: view.digest, delta };
  await hear({ type: "commit", list: 7, commit });
  assert.deepEqual([list.replica.pending.length, list.subscription.ended], [0, "left"]);
  const again = client.open("list");
  assert.notEqual(again, list);
  client.leave(again);
  assert.equal(again.subscription.ended, "left");
  assert.deepEqual([...client.lists], [again]);
});

test("a list with edits that wait stays what it is beside another one of its name", async () => {
  const client = await started();
  const former = client.open("list");
  await hear(welcome, answer(1, 7));
  await until(() => former.subscription.isLive);
  client.act(former, replica => replica.edit(insertion(2)));
  const count = sockets.length;
  sockets[0].onclose();
  await until(() => sockets.length > count);
  await hear(welcome, answer(2, 9, "0000000200000006"), error("noSuchList", 3));
  await until(() => former.subscription.hasEnded);
  client.revive();
  await hear(answer(4, 9, "0000000200000006"), error("noSuchList", 5));
  assert.deepEqual([former.subscription.ended, [...client.lists]], ["editsWait", [former]]);
  assert.equal(client.obstacle(former), "editsWait");
  const present = client.open("list");
  assert.deepEqual(client.stuck.map(({ list, reason }) => [list === former, reason]), [[true, "editsWait"]]);
  assert.equal(client.open("list"), present);
  assert.deepEqual([...client.lists], [former, present]);
});

test("whoever may not read a list any more has no copy of it", async () => {
  globalThis.indexedDB = new FakeIndexedDB();
  const copies = new Copies(() => "name");
  for (const [reason, isLeft] of [["tooManySubscriptions", 1], ["noSuchList", 0], ["notAllowed", 0]]) {
    await copies.keep({ name: "list", log, revision: 3, items: List.of([item(1)]) });
    const client = await started();
    const list = client.open("list");
    await until(() => list.replica.revision === 3);
    await hear(welcome, error(reason, 1));
    // A name may be another list's by now: it is asked for by its log, too.
    if (reason === "noSuchList") await hear(error(reason, 2));
    await until(() => list.subscription.ended === reason);
    await moment();
    assert.equal((await copies.heads()).length, isLeft, reason);
  }
  delete globalThis.indexedDB;
});

/** The journal of a tab that has ended, with an edit of a list. */
async function leave(digit, token = "") {
  const client = digit.repeat(32);
  const replica = new Replica();
  replica.begin({ log, revision: 3, items: List.of([item(1)]) });
  replica.edit(insertion(2));
  const changes = new Journal(client).changes([{ subscription: { name: "list" }, replica, number: 0 }]);
  const job = { changes, owner: { client, holder: "ended", person: "Ada", token }, fresh: true };
  await new Promise(resolve => new Store(() => "name").write(job, resolve));
  return changes.puts;
}

const rowsLeft = async () => (await new Store(() => "name").look()).rows.length;

test("what nobody can read is told, can be saved as it is, and discarded", async () => {
  const factory = (globalThis.indexedDB = new FakeIndexedDB());
  const [, { key }] = await leave("a");
  factory.databases.get("hand").stores.get("journal").get(JSON.stringify(key)).delta = Uint8Array.of(9, 8, 7);
  const client = await started();
  const told = client.stuck.map(({ name, count, reason }) => [name, count, reason]);
  assert.deepEqual([told, client.waiting.count], [[["", 1, "damaged"]], 1]);
  assert.match(client.exportWaiting(), /"delta":\[9,8,7\]/);
  nobody.posted.length = 0;
  client.stuck[0].discard();
  await until(() => client.waiting.count === 0);
  assert.deepEqual([client.stuck, await rowsLeft()], [[], 0]);
  assert.deepEqual(nobody.posted, [{ type: "look" }], "the other tabs do not show it any more");
  delete globalThis.indexedDB;
});

test("what waits under a token that the server does not take is discarded, or another client sends it", async () => {
  globalThis.indexedDB = new FakeIndexedDB();
  for (const digit of ["a", "b"]) await leave(digit, "old");
  const [client, heir] = [await started("old"), await started("new")];
  assert.deepEqual([client.stuck, client.waiting.count], [[], 2]);
  const list = client.open("list");
  assert.equal(client.obstacle(list), "");
  sockets[1].onmessage({ data: encodedAs(error("notAuthenticated", 0)) });
  assert.equal(client.obstacle(list), "notAuthenticated");
  await until(() => client.stuck.length === 2);
  const [{ name, count, reason, discard }] = client.stuck;
  assert.deepEqual([name, count, reason], ["list", 1, "notAuthenticated"]);
  discard();
  await until(() => client.stuck.length === 1);
  client.bequeath(heir);
  await until(() => client.waiting.count === 0);
  const { rows, owners } = await new Store(() => "name").look();
  assert.deepEqual([rows.length, owners.map(({ token }) => token)], [2, ["new"]]);
  delete globalThis.indexedDB;
});

test("a link that is gone leaves its token nowhere", async () => {
  globalThis.localStorage = { getItem: () => null, setItem() {} };
  const identity = new Identity();
  for (const token of ["old", "new"]) identity.addLink(token, "list");
  identity.links.reverse();
  const clients = new Clients(identity, "ws://x/");
  const client = await clients.asker("list");
  await hear(welcome, { type: "granted", person: "Ada", role: 1, lists: [] });
  for (const key of [`own ${log} old`, `own ${log} new`, "old"]) client.settings.set(key, 1);
  assert.equal(identity.linkOf("old").granted.role, 1);
  await hear(error("notAuthenticated", 0));
  await moment();
  assert.deepEqual([identity.links.map(({ token }) => token), client.settings.keys], [
    ["new"], [`own ${log} new`, "old"],
  ]);
});

test("what waits of a gone list is told if that is opened, and not again after each reload", async () => {
  for (const isOpened of [false, true]) {
    globalThis.indexedDB = new FakeIndexedDB();
    await leave("a");
    const copies = new Copies(() => "name");
    await copies.keep({ name: "list", log, revision: 3, items: List.of([item(1)]) });
    const client = await started();
    const told = [];
    client.ontold = (list, { type, reason }) => told.push([list.name, type, reason]);
    if (isOpened) client.open("list");
    await hear(welcome, error("noSuchList", 1), error("noSuchList", 2));
    await until(() => client.stuck.length === 1);
    assert.deepEqual([client.stuck[0].reason, (await copies.heads()).length], ["editsWait", 1]);
    assert.deepEqual(told, isOpened ? [["list", "ended", "editsWait"]] : []);
  }
  delete globalThis.indexedDB;
});

test("what another tab of the person has undone is not undone here once more", async () => {
  const client = await started();
  const list = client.open("list");
  await hear(welcome, answer(1, 7));
  await until(() => list.subscription.isLive);
  const edit = () => client.act(list, replica => replica.edit(insertion(replica.view.count + 1)));
  const commit = () => {
    const { revision, inFlight: { sequence, delta }, confirmed } = list.replica;
    const { count, digest } = apply(confirmed, delta);
    const commit = { revision: revision + 1, author: 1, sequence, base: revision, time: 0, count, digest, delta };
    return hear({ type: "commit", list: 7, commit });
  };
  const told = (...commits) => nobody.onmessage({ data: { type: "setting", key: `own ${log} `, value: commits } });
  edit();
  await commit();
  // Both have had a commit at once.
  told([2, ""]);
  assert.deepEqual(client.ownCommits(log), [[1, ""], [2, ""]]);
  assert.equal(list.replica.canUndo, true, "it has done something else");
  told([1, ""], [3, "undo"]);
  assert.deepEqual(client.ownCommits(log), [[1, ""], [2, ""], [3, "undo"]]);
  assert.equal(list.replica.canUndo, false, "the commits tell");
  edit();
  told([3, "undo"]);
  told([4, "undo"]);
  assert.equal(list.replica.canUndo, true, "what waits can be taken back");
  await commit();
  assert.equal(list.replica.canUndo, false);
  edit();
  told([3, "undo"], [4, "undo"]);
  await commit();
  assert.equal(list.replica.canUndo, true, "that was known");
});

test("settings that cannot be read at first are not written over", async () => {
  const factory = (globalThis.indexedDB = new FakeIndexedDB());
  await new Store(() => "name").set("notices", ["first"]);
  factory.transactions = "AbortError";
  const client = await started();
  client.settings.change("notices", (known = []) => [...known, "second"]);
  assert.deepEqual(client.settings.get("notices"), ["second"]);
  factory.transactions = "well";
  await until(() => client.settings.get("notices").length === 2);
  await moment();
  assert.deepEqual((await new Store(() => "name").settings()).get("notices"), ["first", "second"]);
  delete globalThis.indexedDB;
});

test("a list has one name, however it is typed", async () => {
  const client = await started();
  assert.equal(client.open("Cafe\u0301"), client.open("Caf\u00e9"));
});

test("another name is shown at once, and not the one that the server has given before", async () => {
  const client = await started();
  await hear(welcome, { type: "granted", person: "~Ada", role: 1, lists: [] });
  assert.equal(client.person, "~Ada");
  const count = sockets.length;
  client.setPerson("Eve");
  assert.deepEqual([client.person, client.connection.state], ["Eve", "connecting"]);
  await until(() => sockets.length > count);
  await hear(welcome);
});

test("others see when a tab is hidden, and when it is seen again; its network does not show it", async () => {
  const client = await started();
  const list = client.open("list");
  await hear(welcome, answer(1, 7));
  await until(() => list.subscription.isLive);
  client.place(list, { place: 0 });
  const place = () => sockets[0].sent.findLast(({ type }) => type === "presence").focus.place;
  for (const hidden of [true, false]) {
    document.hidden = hidden;
    listeners.visibilitychange();
    listeners.online();
    assert.equal(place(), hidden ? 3 : 0);
  }
  for (const [event, expected] of [["pagehide", 3], ["pageshow", 0]]) {
    listeners[event]();
    assert.equal(place(), expected, event);
  }
  // Each time that it is seen, it asks whether the connection lives.
  await hear({ type: "pong", nonce: 0 });
});

test("a page is not closed without a question while edits are in memory only", async () => {
  const client = await started();
  const list = client.open("list");
  await hear(welcome, answer(1, 7));
  await until(() => list.subscription.isLive);
  const asks = () => {
    let asks = false;
    listeners.beforeunload({ preventDefault: () => (asks = true) });
    return asks;
  };
  assert.equal(asks(), false);
  client.act(list, replica => replica.edit(insertion(1)));
  assert.equal(asks(), true);
});

test("whoever wants to be online now is told that it is tried, and a request then waits for the answer", async () => {
  const client = await started();
  await hear(welcome);
  assert.equal(client.connection.state, "online");
  const count = sockets.length;
  sockets[0].onclose();
  assert.equal(client.connection.state, "offline");
  await assert.rejects(client.request({ type: "lists", after: "" }), { name: "offline" });
  client.retry();
  assert.equal(client.connection.state, "connecting");
  const answered = client.request({ type: "lists", after: "" });
  await until(() => sockets.length > count);
  await hear(welcome, error("notAllowed", 1));
  await assert.rejects(answered, { name: "notAllowed" });
});
