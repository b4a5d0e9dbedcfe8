// The client as the view sees it, with a browser that has a socket and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { framed } from "../../Sources/Web/client/frames.js";
import { ERRORS, encodeDown } from "../../Sources/Web/client/messages.js";
import { insertion, log, subscribed, welcome } from "./live.mjs";

const sockets = [];

class Socket {
  constructor() {
    sockets.unshift(this);
    queueMicrotask(() => this.onopen());
  }

  send() {}

  close() {}
}

const nobody = { addEventListener() {}, postMessage() {} };
Object.assign(globalThis, {
  addEventListener() {}, document: nobody, WebSocket: Socket, BroadcastChannel: function () { return nobody; },
});
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
// Its timers do not keep the test from ending.
const later = setTimeout;
globalThis.setTimeout = (...args) => later(...args).unref();
const { Client } = await import("../../Sources/Web/client/client.js");

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

/** A client without a storage. */
async function started() {
  const count = sockets.length;
  const client = await Client.start({ url: "ws://x/", person: "Ada", program: "test" });
  await until(() => sockets.length > count);
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
  const present = client.open("list");
  assert.deepEqual(client.stuck.map(({ list, reason }) => [list === former, reason]), [[true, "editsWait"]]);
  assert.equal(client.open("list"), present);
  assert.deepEqual([...client.lists], [former, present]);
});
