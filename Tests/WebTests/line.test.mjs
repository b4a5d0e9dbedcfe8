// One client id of a tab: what goes out when, what is left after a takeover, and as which tab one begins.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Beginning } from "../../Sources/Web/client/beginning.js";
import { apply } from "../../Sources/Web/client/delta.js";
import { Line } from "../../Sources/Web/client/line.js";
import { List } from "../../Sources/Web/client/list.js";
import { Opened, remainder } from "../../Sources/Web/client/opened.js";
import { Replica } from "../../Sources/Web/client/replica.js";
import { begun, identity, insertion, item, log, receive, sent, subscribed, welcome } from "./live.mjs";

test("edits that were joined go out, whether the storage has them so or not", () => {
  const pushed = [];
  const line = new Line(0, "holder", identity, { push: effect => pushed.push(effect), tell: () => {}, hear: () => {} });
  const list = line.session.follow("list");
  const take = () => pushed.splice(0);
  const answer = outcome => {
    for (const { do: what, write } of take()) if (what === "write") line.wrote(write, outcome);
    return sent(take()).filter(({ type }) => type === "submit").length;
  };
  line.run(session => session.connected(0));
  for (const message of [welcome, subscribed]) line.run(session => receive(session, message));
  take();
  const edit = number => line.run(session => session.act(list, replica => replica.edit(insertion(number)), 0));
  edit(1);
  assert.equal(answer("stored"), 1);
  for (const number of [2, 3]) {
    edit(number);
    answer("stored");
  }
  const replica = line.session.replica(list);
  const commit = () => {
    const { delta, sequence } = replica.inFlight;
    const { count, digest } = apply(replica.confirmed, delta);
    line.run(session => receive(session, {
      type: "commit", list: 7, commit: {
        revision: replica.revision + 1, author: 1, sequence, base: replica.revision, time: 0, count, digest, delta,
      },
    }));
  };
  commit();
  const { parts, sequence } = replica.inFlight;
  assert.deepEqual([parts.length, sequence], [2, 3], "the sequence tells how many of them are sent");
  const [{ write }] = take();
  line.wrote(write, false);
  assert.deepEqual([sent(take()).map(({ type }) => type), line.isUnsafe], [["submit"], true]);
  // The storage has written it again.
  line.wrote(write, true);
  assert.deepEqual([sent(take()), line.isUnsafe], [[], false]);
  commit();
  edit(4);
  assert.equal(answer("stored"), 1, "it goes on as before");
});

test("an edit is stored once its write is, or a later one, and not with an earlier one", () => {
  const pushed = [];
  const line = new Line(0, "holder", identity, { push: effect => pushed.push(effect), tell: () => {}, hear: () => {} });
  const list = line.session.follow("list");
  const edit = number => line.run(session => session.act(list, replica => replica.edit(insertion(number)), 0));
  const stored = () => line.session.pending.map(({ isStored }) => isStored === true);
  for (const number of [1, 2, 3]) edit(number);
  const [first, second, third] = pushed.map(({ write }) => write);
  line.wrote(first, false);
  assert.deepEqual(stored(), [false, false, false]);
  line.wrote(second, true);
  assert.deepEqual(stored(), [true, true, false], "the storage has written the first one again");
  line.wrote(third, false);
  assert.deepEqual([stored(), line.isQuiet], [[true, true, false], true]);
  edit(4);
  line.wrote(pushed.at(-1).write, true);
  assert.deepEqual(stored(), [true, true, true, true]);
});

test("what is left of a list whose journal was taken over is written and undone as before", () => {
  const replica = new Replica();
  replica.edit(insertion(1), "whole");
  replica.edit(insertion(2), "whole");
  const [stored, begun] = replica.pending;
  stored.isStored = stored.isWritten = begun.isWritten = true;
  const { replica: rest, isHeld } = remainder(replica, "a".repeat(32));
  assert.deepEqual([rest.pending.length, rest.pending[0].isWritten, isHeld], [1, false, true]);
  const quiet = new Replica();
  quiet.begin({ log: "0000000200000005", revision: 1, items: List.of([item(9)]) });
  quiet.edit(insertion(1));
  quiet.undo();
  const { pending } = quiet;
  for (const edit of [...pending]) quiet.takeBack(edit, quiet.confirmed, { reason: 9, first: 0, second: 0 }, 1);
  assert.equal(quiet.pending.length, 0);
  assert.equal(remainder(quiet, "a".repeat(32)).replica, quiet, "with what can be undone");
});

test("the copy of a renamed list takes the place of the former one", () => {
  const replica = new Replica();
  replica.begin({ log: "0000000200000005", revision: 3, items: List.of([item(1)]) });
  const subscription = { name: "before", hasDiverged: false, isHeld: false, hasEnded: false };
  const opened = new Opened(subscription, replica, true);
  opened.copyBy(0);
  assert.equal(opened.takeCopy(0), undefined, "it is there");
  subscription.name = "after";
  opened.copyBy(5);
  const { copy, former } = opened.takeCopy(5);
  assert.deepEqual([copy.name, former], ["after", "before"]);
});

test("what has ended is copied no more, and again once it is back", () => {
  const replica = new Replica();
  replica.begin({ log: "0000000200000005", revision: 3, items: List.of([item(1)]) });
  const subscription = { name: "list", hasDiverged: false, isHeld: false, hasEnded: false };
  const opened = new Opened(subscription, new Replica(), true);
  opened.replica = replica;
  opened.copyBy(5);
  subscription.hasEnded = true;
  assert.equal(opened.takeCopy(5), undefined, "a copy that was due is not made");
  subscription.hasEnded = false;
  opened.copyBy(6);
  assert.equal(opened.takeCopy(6).copy.revision, 3);
  opened.copyBy(7);
  assert.equal(opened.takeCopy(7), undefined, "it is there");
  subscription.hasEnded = true;
  opened.copyBy(8);
  subscription.hasEnded = false;
  assert.equal(opened.takeCopy(8).copy.revision, 3, "the first one was dropped");
});

const owner = digit => ({ client: digit.repeat(32), holder: "x", person: "Ada", token: "" });
function beginning() {
  const pushed = [];
  const push = effect => pushed.push([effect.do, effect.client?.[0]]);
  const own = { becomeNew: () => pushed.push(["new"]) };
  return { pushed, it: new Beginning(own, { claim: ({ client }) => pushed.push(["claim", client[0]]) }, push) };
}

test("a tab that begins goes on as the one that ended last", () => {
  const { pushed, it } = beginning();
  it.looked(["a", "b"].map(digit => ({ owner: owner(digit), lists: [{ revision: 0 }] })), []);
  assert.deepEqual(pushed, [["lock", "b"]]);
});

test("a tab that begins does not go on with edits that were made upon those of another journal", () => {
  const { pushed, it } = beginning();
  it.looked([{ owner: owner("a"), lists: [{ revision: 0, awaits: "b".repeat(32) }] }], []);
  assert.deepEqual(pushed, [["new"]]);
});

test("a tab that cannot go on as another one leaves its lock to others", () => {
  const { pushed, it } = beginning();
  it.looked([{ owner: owner("a"), lists: [{ revision: 0 }] }], []);
  it.locked(owner("a").client, true);
  it.claimed(owner("a").client, undefined);
  assert.deepEqual(pushed, [["lock", "a"], ["claim", "a"], ["unlock", "a"], ["new"]]);
});
