// What tabs of one device see of each other's edits, and questions that wait for a connection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { OpenList } from "../../Sources/Web/client/openlist.js";
import { shownWith } from "../../Sources/Web/client/others.js";
import { NO_LOG, Replica } from "../../Sources/Web/client/replica.js";
import { Requests } from "../../Sources/Web/client/requests.js";

const note = (number, text) =>
  encoded(Uint8Array.of(number, 0, 0, 0, 0, 0, 0, 0), 2, { text: bytesOf(text), level: 0 });
const appending = (count, ...items) => [
  ...(count > 0 ? [{ op: "keep", count }] : []), { op: "insert", items, side: "before" },
];
const texts = list => [...list].map(({ text }) => text);

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
