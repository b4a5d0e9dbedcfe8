// A replica after snapshots, refusals and tabs that were frozen; and the rows that its journal writes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { apply } from "../../Sources/Web/client/delta.js";
import { Journal, readJournals } from "../../Sources/Web/client/journal.js";
import { List } from "../../Sources/Web/client/list.js";
import { Replica, withoutHistory } from "../../Sources/Web/client/replica.js";
import { acknowledge, appended, begun, insertion, item, log, note, sent, texts } from "./live.mjs";

test("an undo after a snapshot takes back one's own edit, and nothing of others", () => {
  const replica = begun(note(1, "milk"));
  replica.edit(appended(1, note(2, "mine")));
  replica.launch();
  acknowledge(replica, 4);
  assert.equal(replica.pending.length, 0);
  const items = List.of([note(3, "theirs"), note(1, "milk"), note(2, "mine"), note(4, "last")]);
  replica.restart({ items, revision: 90, log, last: 1, isLastRefused: false }, 1);
  replica.undo();
  assert.deepEqual(texts(replica.view), ["theirs", "milk", "last"]);
});

test("what was refused is not undone", () => {
  const replica = begun(note(1, "milk"));
  replica.edit([{ op: "delete", count: 1 }]);
  replica.launch();
  acknowledge(replica, 4);
  replica.edit(insertion(2));
  replica.takeBack(replica.launch(), replica.confirmed, { reason: 3, first: 0, second: 0 }, 1);
  replica.skipSteps();
  replica.undo();
  assert.deepEqual(texts(replica.view), ["milk"]);
});

test("what a pending edit has overridden is not taken back with it", () => {
  const replica = begun(note(1, "a"));
  const splice = text => ({ at: 0, removed: bytesOf("a"), inserted: bytesOf(text) });
  const change = text => [{ op: "edit", change: { text: [splice(text)] } }];
  replica.edit(change("mine"));
  replica.launch();
  const after = List.of([note(1, "theirs")]);
  const commit = { revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest };
  replica.follow({ ...commit, delta: change("theirs") }, after, 1);
  acknowledge(replica, 5);
  assert.equal(replica.pending.length, 0);
  assert.equal(replica.canUndo, false, "the commits tell what can be undone");
});

test("what a pending edit has overridden is not taken back if only a snapshot shows that it is committed", () => {
  const replica = begun(note(1, "a"));
  const splice = text => ({ at: 0, removed: bytesOf("a"), inserted: bytesOf(text) });
  const change = text => [{ op: "edit", change: { text: [splice(text)] } }];
  replica.edit(change("mine"));
  const { sequence } = replica.launch();
  const after = List.of([note(1, "theirs")]);
  const commit = { revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest };
  replica.follow({ ...commit, delta: change("theirs") }, after, 1);
  replica.restart({ items: List.of([note(1, "mine")]), revision: 5, log, last: sequence, isLastRefused: false }, 1);
  assert.deepEqual([replica.pending.length, replica.canUndo], [0, false]);
});

test("words that others have written since are not taken for one's own after a snapshot", () => {
  const replica = begun(note(1, "milk"));
  const splice = (at, removed, inserted) => ({ at, removed: bytesOf(removed), inserted: bytesOf(inserted) });
  const change = splice => [{ op: "edit", change: { text: [splice] } }];
  replica.edit(change(splice(4, "", " mine")));
  replica.launch();
  acknowledge(replica, 4);
  const items = List.of([note(1, "oats and bread")]);
  replica.restart({ items, revision: 9, log, last: 1, isLastRefused: false }, 1);
  const told = [];
  replica.listen(one => told.push(one));
  const delta = change(splice(5, "and ", ""));
  const after = apply(items, delta);
  const commit = { revision: 10, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest, delta };
  replica.follow(commit, after, 1);
  assert.deepEqual(told, []);
});

test("a deletion that is undone after somebody has changed the item shows what the server will have", () => {
  const replica = begun(note(1, "milk"));
  replica.edit([{ op: "delete", count: 1 }], "whole");
  const splice = { at: 4, removed: bytesOf(""), inserted: bytesOf(", fresh") };
  const delta = [{ op: "edit", change: { text: [splice] } }];
  const after = apply(replica.confirmed, delta);
  const commit = { revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest, delta };
  replica.follow(commit, after, 1);
  replica.undo();
  const { confirmed, pending, view } = replica;
  assert.equal(view.digest, pending.reduce((list, edit) => apply(list, edit.delta), confirmed).digest);
});

for (const [what, edit] of [
  ["deleted", [{ op: "delete", count: 1 }]],
  ["changed", [{ op: "edit", change: { text: [{ at: 0, removed: bytesOf("milk"), inserted: bytesOf("mine") }] } }]],
]) {
  test(`an item that was ${what} and is as before keeps what somebody writes in it meanwhile`, () => {
    const replica = begun(note(1, "milk"));
    replica.edit(appended(1, note(2, "mine")), "whole");
    replica.edit(edit);
    replica.undo();
    assert.deepEqual([texts(replica.view), replica.pending.length], [["milk", "mine"], 1]);
    const splice = { at: 4, removed: bytesOf(""), inserted: bytesOf(", fresh") };
    const delta = [{ op: "edit", change: { text: [splice] } }];
    const after = apply(replica.confirmed, delta);
    const commit = { revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest, delta };
    replica.follow(commit, after, 1);
    assert.deepEqual(texts(replica.view), ["milk, fresh", "mine"]);
    replica.redo();
    assert.deepEqual([replica.pending.length, replica.pending[1].step], [2, ""], "no commit exists that it reverses");
    replica.undo();
    assert.deepEqual([texts(replica.view), replica.pending.length], [["milk, fresh", "mine"], 1]);
  });
}

test("an undo that waits is withdrawn by a redo, and the next one is an undo", () => {
  const replica = begun(note(1, "milk"));
  replica.edit([{ op: "delete", count: 1 }]);
  replica.launch();
  acknowledge(replica, 4);
  replica.undo();
  replica.redo();
  assert.deepEqual([texts(replica.view), replica.pending.length], [[], 0]);
  replica.undo();
  assert.deepEqual([texts(replica.view), replica.launch()?.step], [["milk"], "undo"]);
});

test("what is in flight, was carried over a commit, or may have been sent by others is taken back by an edit", () => {
  const deletion = [{ op: "keep", count: 1 }, { op: "delete", count: 1 }];
  for (const happens of [
    replica => replica.launch(),
    replica => {
      const after = List.of([note(2, "mine"), note(1, "milk")].reverse().slice(1));
      const delta = [{ op: "delete", count: 1 }];
      const commit = { revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: after.digest, delta };
      replica.follow(commit, after, 1);
    },
    replica => replica.suspect(),
  ]) {
    const replica = begun(note(1, "milk"), note(2, "mine"));
    replica.edit(deletion, "whole");
    happens(replica);
    replica.undo();
    assert.deepEqual([texts(replica.view).includes("mine"), replica.pending.length], [true, 2], String(happens));
  }
});

test("an edit that was refused while one was away is told, and is not in the list", () => {
  const replica = begun(note(1, "milk"));
  const told = [];
  replica.listen(one => told.push(one.type));
  replica.edit(appended(1, note(2, "mine")));
  const { sequence } = replica.launch();
  replica.restart({ items: List.of([note(1, "milk")]), revision: 9, log, last: sequence, isLastRefused: true }, 1);
  assert.deepEqual([told, texts(replica.view), replica.pending.length], [["rejected"], ["milk"], 0]);
});

test("an edit that was not sent is not lost because the one before it was refused", () => {
  const replica = begun(note(1, "milk"));
  replica.renumber(1);
  replica.edit(appended(1, note(2, "mine")));
  replica.launch();
  replica.restart({ items: List.of([note(1, "milk")]), revision: 9, log, last: 1, isLastRefused: true }, 1);
  assert.deepEqual([texts(replica.view), replica.pending.length], [["milk", "mine"], 1]);
});

test("of a tab that was frozen, a change that another one has sent is not made twice", () => {
  const replica = begun(note(1, "milk"));
  const splice = { at: 4, removed: bytesOf(""), inserted: bytesOf("!") };
  replica.edit([{ op: "edit", change: { text: [splice] } }]);
  replica.pending[0].isStored = true;
  replica.suspect();
  replica.restart({ items: List.of([note(1, "milk!")]), revision: 4, log, last: 1, isLastRefused: false }, 1);
  assert.deepEqual([texts(replica.view), replica.pending.length], [["milk!"], 0]);
});

test("of a tab that was frozen, what is stored may have been sent by another one", () => {
  const replica = new Replica();
  replica.edit(insertion(1));
  replica.pending[0].isStored = true;
  replica.suspect();
  replica.settleRestored(1, List.of([item(1)]));
  assert.deepEqual([replica.pending.length, replica.view.count], [0, 1]);
});

test("of a tab that was frozen, all that another one has sent after what was in flight is not sent again", () => {
  const replica = new Replica();
  for (const number of [1, 2]) replica.edit(insertion(number), "whole");
  for (const edit of replica.pending) edit.isStored = true;
  replica.launch();
  replica.suspect();
  replica.settleRestored(2, List.of([item(2), item(1)]));
  assert.deepEqual([replica.pending.length, replica.view.count], [0, 2]);
});

test("an edit that was made after a reload is not taken for one that was sent before it, also after a wake", () => {
  const before = new Replica();
  before.edit(insertion(1));
  const replica = reloaded(before, List.empty);
  replica.edit([{ op: "delete", count: 1 }]);
  replica.pending[1].isStored = true;
  replica.suspect();
  replica.settleRestored(2, List.of([item(1)]));
  assert.deepEqual([replica.pending.length, replica.view.count], [1, 0], "the deletion waits");
});

test("a list with edits that somebody else sends is asked for as a whole", () => {
  const replica = begun(note(1, "milk"));
  replica.edit(insertion(2));
  replica.assume(1);
  assert.deepEqual([replica.log, replica.revision], [withoutHistory(log), 0]);
});

test("a server that has an earlier state is not told of a later one that the person has seen", () => {
  const replica = begun(note(1, "milk"));
  replica.edit(insertion(2));
  replica.restart({ items: List.of([note(1, "milk")]), revision: 2, log, last: 0, isLastRefused: false }, 1);
  assert.equal(replica.pending[0].seen, 0);
});

test("what was never stored is not taken for sent", () => {
  const replica = new Replica();
  for (const number of [1, 2]) replica.edit(insertion(number), "whole");
  replica.pending[0].isStored = true;
  replica.suspect();
  replica.settleRestored(7, List.of([item(1)]));
  assert.equal(replica.pending.length, 1);
});

test("after a snapshot, the rows name the list on which the pending edits are", () => {
  const replica = begun(note(1, "milk"));
  for (const number of [2, 3]) replica.edit(appended(number - 1, note(number, "x")), "whole");
  const journal = new Journal("0".repeat(32));
  const followed = [{ subscription: { name: "list" }, replica, number: 0 }];
  journal.changes(followed);
  replica.assume(1, "f".repeat(32));
  journal.changes(followed);
  const items = List.of([note(1, "milk"), note(2, "x"), note(9, "theirs")]);
  replica.restart({ items, revision: 12, log, last: 0, isLastRefused: false }, 1);
  const { puts, deletes } = journal.changes(followed);
  assert.deepEqual(puts.filter(({ key }) => key[2] === 0).map(({ row }) => [row.revision, row.digest, row.awaits]), [
    [12, items.digest, undefined],
  ]);
  assert.deepEqual(deletes.map(key => key[2]), [1], "the edit that somebody else has sent");
});

/** A replica as it is after a reload. */
function reloaded(replica, confirmed) {
  const { puts } = new Journal("0".repeat(32)).changes([{ subscription: { name: "list" }, replica, number: 0 }]);
  const [{ lists }] = readJournals(puts);
  return Replica.restored({ ...lists[0], confirmed });
}

test("after a reload, edits that wait are taken back one by one", () => {
  const replica = begun(note(9, "milk"));
  for (const number of [1, 2, 3]) replica.edit(appended(number, note(number, `note ${number}`)), "whole");
  const again = reloaded(replica, replica.confirmed);
  const after = step => (again[step](), texts(again.view).slice(1).join());
  assert.deepEqual(["undo", "undo", "redo", "redo", "undo", "undo", "undo"].map(after),
    ["note 1,note 2", "note 1", "note 1,note 2", "note 1,note 2,note 3", "note 1,note 2", "note 1", ""]);
  assert.equal(again.canUndo, false);
});

test("after a reload, an undo that waits is an undo", () => {
  const replica = new Replica();
  replica.edit(insertion(1));
  replica.launch();
  replica.undo();
  const again = reloaded(replica, List.empty);
  assert.deepEqual([again.pending[1].step, again.canUndo, again.canRedo], ["undo", false, true]);
  again.redo();
  assert.equal(again.view.count, 1);
});

test("an edit that is made after a reload does not take the row of an older one", () => {
  const client = "0".repeat(32);
  const rows = new Map();
  const apply = ({ puts, deletes }) => {
    for (const key of deletes) rows.delete(String(key));
    for (const { key, row } of puts) rows.set(String(key), { key, row });
  };
  const replica = new Replica();
  const followed = [{ subscription: { name: "list" }, replica, number: 0 }];
  const journal = new Journal(client);
  for (const number of [1, 2]) {
    replica.edit(insertion(number));
    apply(journal.changes(followed));
  }
  const [{ lists }] = readJournals(rows.values());
  const again = Replica.restored({ ...lists[0], confirmed: List.empty });
  const next = new Journal(client, lists);
  again.edit(insertion(3), "whole");
  apply(next.changes([{ ...followed[0], replica: again }]));
  assert.equal(readJournals(rows.values())[0].lists[0].edits.length, 3);
});
