// The session without a network: what it sends, when, and what it waits for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../Sources/Web/client/delta.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { Journal, readJournals } from "../../Sources/Web/client/journal.js";
import { List } from "../../Sources/Web/client/list.js";
import { ERRORS, REASONS } from "../../Sources/Web/client/messages.js";
import { Replica } from "../../Sources/Web/client/replica.js";
import { Session } from "../../Sources/Web/client/session.js";
import { done, identity, insertion, live, receive, rules, sent, subscribed, welcome } from "./live.mjs";

const empty = { snapshot: { revision: 0, count: 0, digest: "0".repeat(16) } };
const error = (code, retryAfter = 0) => ({
  type: "error", code: ERRORS.indexOf(code), request: 0, list: 0, retryAfter, message: "",
});

test("the first frame is the hello, and nothing else comes before the welcome", () => {
  const session = new Session(identity);
  session.follow("list");
  assert.deepEqual(done(session.tick(0, 0)), ["connect"]);
  const [hello, ...others] = sent(session.connected(0));
  assert.deepEqual(others, []);
  const { magic, type, ...fields } = hello;
  assert.deepEqual(fields, { lowestVersion: 5, highestVersion: 5, capabilities: 0, token: "", ...identity });
  assert.deepEqual(sent(receive(session, welcome)).map(({ type }) => type), ["subscribe"]);
});

test("a message before the welcome, and a second welcome, are faults", () => {
  const session = new Session(identity);
  session.connected(0);
  assert.deepEqual(done(receive(session, { type: "pong", nonce: 1 })), ["close"]);
  session.tick(session.deadline, 0);
  session.connected(1000);
  receive(session, welcome, 1000);
  assert.deepEqual(done(receive(session, welcome, 1000)), ["close"]);
});

test("a welcome of another version stops the session", () => {
  const session = new Session(identity);
  session.connected(0);
  assert.deepEqual(receive(session, { ...welcome, version: 6 }), [
    { do: "close" }, { do: "stop", reason: "versionNotSupported" },
  ]);
  assert.equal(session.deadline, Infinity);
  assert.deepEqual(session.tick(1e9, 0), []);
});

test("no welcome within 10 s is a loss", () => {
  const session = new Session(identity);
  session.connected(0);
  assert.equal(session.deadline, 10_000);
  assert.deepEqual(done(session.tick(10_000, 0)), ["close"]);
});

test("a ping at a third of the idle deadline, and a loss after all of it", () => {
  const { session } = live();
  assert.equal(session.deadline, 15_000);
  assert.deepEqual(session.tick(14_999, 0), []);
  assert.deepEqual(sent(session.tick(15_000, 0)).map(({ type }) => type), ["ping"]);
  assert.deepEqual(sent(session.tick(30_000, 0)).map(({ type }) => type), ["ping"]);
  assert.equal(session.deadline, 45_000);
  assert.deepEqual(done(session.tick(45_000, 0)), ["close", "tell"]);
});

test("what arrives puts the loss off", () => {
  const { session } = live();
  session.tick(15_000, 0);
  receive(session, { type: "pong", nonce: 0 }, 15_100);
  session.tick(30_000, 0);
  session.tick(45_000, 0);
  assert.equal(session.deadline, 60_000);
});

test("waits double until a connection lasts, and keep to the server's advice", () => {
  const session = new Session(identity);
  let now = 0;
  const fail = () => {
    session.tick(now, 1);
    session.lost(now, 1);
    const wait = session.deadline - now;
    now = session.deadline;
    return wait;
  };
  assert.deepEqual(Array.from({ length: 10 }, fail), [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
  session.tick(now, 1);
  session.connected(now);
  receive(session, welcome, now);
  session.lost(now + 999, 1);
  assert.equal(session.deadline - now - 999, 15_000);
  now = session.deadline;
  session.tick(now, 1);
  session.connected(now);
  receive(session, welcome, now);
  receive(session, error("shuttingDown", 700), now + 1000, 1);
  assert.equal(session.deadline - now - 1000, 700);
  session.tick(session.deadline, 0);
  now = session.deadline;
  session.lost(now, 0.5);
  assert.equal(session.deadline - now, 100);
});

test("each error that closes is handled as its table says", () => {
  const retried = [
    "handshakeTimeout", "idleTimeout", "tooManyConnections", "replaced", "shuttingDown", "internalError", "tooFast",
  ];
  const final = [
    "notHand", "versionNotSupported", "malformedMessage", "frameTooLarge", "outOfOrder", "wrongSequence",
    "baseInFuture", "notAuthenticated", "closedByOperator",
  ];
  for (const code of ERRORS.slice(1)) {
    const { session } = live();
    const effects = done(receive(session, error(code)));
    const expected = retried.includes(code) ? ["close", "tell"] : final.includes(code) ? ["close", "stop"] : ["answer"];
    assert.deepEqual(effects.filter(effect => effect !== "send"), expected, code);
  }
});

test("the fourth time within ten minutes that nobody understands bytes stops the session", () => {
  const session = new Session(identity);
  let now = 0;
  const fail = () => {
    session.connected(now);
    return done(session.received(Uint8Array.of(1, 99), now, 0));
  };
  for (now of [0, 100_000, 200_000]) assert.deepEqual(fail(), ["close"]);
  now = 600_000;
  assert.deepEqual(fail(), ["close"], "the first one is forgotten");
  now = 600_001;
  assert.deepEqual(fail(), ["close", "stop"]);
});

for (const isInFlight of [false, true]) {
  const outcome = isInFlight ? "stops the session, which waits for an answer" : "makes the session take another one";
  test(`the fourth time within a minute that another connection has the client id ${outcome}`, () => {
    const { session, list } = live();
    if (isInFlight) session.act(list, replica => replica.edit(insertion(1)), 0);
    for (let i = 0; i < 4; i++) {
      const effects = done(receive(session, error("replaced"), i * 1000));
      assert.equal(effects.includes("stop"), isInFlight && i === 3);
      assert.equal(effects.includes("draw"), !isInFlight && i === 3);
      if (i === 3) break;
      session.connected(i * 1000 + 500);
      receive(session, welcome, i * 1000 + 500);
    }
    assert.equal(session.deadline, Infinity);
    if (isInFlight) return;
    session.take("f".repeat(32), 9000);
    assert.equal(session.deadline, 9000);
    assert.deepEqual(done(session.tick(9000, 0)), ["connect"]);
  });
}

test("a body may be as long as the welcome says", () => {
  const long = new Uint8Array(17 * 1024 * 1024);
  long.set([0x81, 0x80, 0x80, 0x08, 99]);
  for (const [frameBytes, expected] of [[8_388_608, ["close", "tell"]], [20_000_000, []]]) {
    const session = new Session(identity);
    session.follow("list");
    session.connected(0);
    receive(session, { ...welcome, frameBytes });
    assert.deepEqual(done(session.received(long.subarray(0, 1000), 0, 0)), expected);
  }
});

test("an edit is sent when it is kept", () => {
  let rows = 0;
  const { session, list } = live(() => (rows < 2 ? { row: ++rows } : undefined));
  session.stored(2);
  rows = 1;
  const effects = session.act(list, replica => replica.edit(insertion(1)), 0);
  assert.deepEqual(done(effects), ["write"]);
  assert.deepEqual(sent(session.stored(effects[0].write)).map(({ type }) => type), ["submit"]);
});

test("frames wait in their order, a ping does not, and a loss forgets them", () => {
  let changes;
  const { session, list } = live(() => changes);
  changes = {};
  const [{ write }] = session.act(list, replica => replica.edit(insertion(1)), 0);
  changes = undefined;
  assert.deepEqual(sent(session.place(list, { place: 0 }, 0)), [], "it comes after the submission");
  assert.deepEqual(sent(session.tick(15_000, 0)).map(({ type }) => type), ["ping"]);
  assert.deepEqual(sent(session.stored(write)).map(({ type }) => type), ["submit", "presence"]);
  changes = {};
  const [second] = session.act(list, replica => replica.undo(), 15_000);
  session.lost(15_001, 0);
  assert.deepEqual(sent(session.stored(second.write)), []);
});

test("a client id that another program uses is drawn anew, once nothing is in flight", () => {
  const { session, list } = live();
  session.act(list, replica => replica.edit(insertion(1)), 0);
  const after = (delta, count, digest, sequence, revision) => receive(session, {
    type: "commit", list: 7,
    commit: { revision, author: 1, sequence, base: revision - 1, time: 0, count, digest, delta },
  });
  const other = session.replica(list).confirmed;
  const { digest } = other;
  // Another program's commit under one's own sequence: nothing.
  assert.deepEqual(done(after([], 0, digest, 1, 1)).filter(effect => effect === "draw"), []);
  const mine = after(insertion(1), 1, session.replica(list).view.digest, 2, 2);
  assert.equal(done(mine).at(-1), "draw");
  const effects = session.take("f".repeat(32), 5);
  assert.deepEqual(done(effects), ["close"]);
  session.tick(session.deadline, 0);
  const [hello] = sent(session.connected(6));
  assert.equal(hello.client, "f".repeat(32));
  assert.equal(session.replica(list).used, 0);
});

test("presence is forgotten and sent with each subscription, and not when a reader lags", () => {
  const { session, list } = live();
  session.place(list, { place: 3 }, 0);
  receive(session, {
    type: "presence", list: 7,
    entries: [{ author: 2, place: 1, person: "Bob" }, { author: 3, place: 4, person: "Eve" }],
  });
  assert.deepEqual([...list.people.here.keys()], [2, 3]);
  receive(session, { type: "presence", list: 7, entries: [{ author: 3, place: 0 }] });
  receive(session, { type: "presence", list: 8, entries: [{ author: 9, place: 1, person: "Max" }] });
  assert.deepEqual([...list.people.here.keys()], [2]);
  assert.deepEqual(sent(receive(session, subscribed)), []);
  assert.deepEqual([...list.people.here.keys()], [2]);
  session.lost(1, 0);
  session.connected(2);
  receive(session, welcome, 2);
  const messages = sent(receive(session, { ...subscribed, request: 2, list: 9 }, 2));
  assert.deepEqual(messages.map(({ type, list }) => [type, list]), [["presence", 9]]);
  assert.deepEqual([...list.people.here.keys()], []);
});

test("several lists share a connection", () => {
  const { session, list } = live();
  const other = session.follow("other");
  receive(session, { ...subscribed, request: 2, list: 8, logID: "0000000200000009" });
  const [submit] = sent(session.act(other, replica => replica.edit(insertion(1)), 0));
  assert.equal(submit.list, 8);
  assert.equal(session.replica(list).view.count, 0);
  assert.deepEqual(sent(session.unfollow(other, 0)), [{ type: "unsubscribe", list: 8 }]);
  assert.throws(() => session.replica(other), RangeError);
});

test("what the program asks for is answered", () => {
  const { session } = live();
  const request = session.nextRequest();
  session.ask({ type: "fetch", request, name: "list", revision: 0 }, 0);
  assert.deepEqual(
    done(receive(session, { type: "state", request, revision: 0, count: 0, digest: "0".repeat(16), rules })),
    ["answer"],
  );
  assert.deepEqual(done(receive(session, { type: "chunk", request, items: [] })), ["answer"]);
});

test("after a snapshot an edit has a new sequence, and another program's commit under it is one like any other", () => {
  const { session, list } = live();
  session.act(list, replica => replica.edit(insertion(1)), 0);
  session.lost(1, 0);
  session.connected(2);
  receive(session, welcome, 2);
  const { digest } = session.replica(list).confirmed;
  const start = { snapshot: { revision: 1, count: 0, digest } };
  const [resent] = sent(receive(session, { ...subscribed, request: 2, lastSequence: 4, start }, 2));
  assert.equal(resent.sequence, 5);
  const commit = { revision: 2, author: 1, sequence: 5, base: 1, time: 0, count: 0, digest, delta: [] };
  const effects = receive(session, { type: "commit", list: 7, commit }, 2);
  assert.deepEqual(effects.filter(effect => effect.do === "tell").map(({ told }) => told), [
    { type: "usedTwice", revision: 2 },
  ]);
  assert.deepEqual(sent(effects).map(({ type, sequence }) => [type, sequence]), [["submit", 6]]);
});

for (const isReloaded of [false, true]) {
  const when = isReloaded ? "after the page was loaded again" : "in the same tab";
  test(`under another name, what was sent under the former one is not sent again, ${when}`, () => {
    sendUnderAnotherName(isReloaded);
  });
}

function sendUnderAnotherName(isReloaded) {
  let { session, list } = live();
  const edit = number => session.act(list, replica => replica.edit(insertion(number)), 0);
  const [{ sequence }] = sent(edit(1));
  if (isReloaded) {
    const replica = session.replica(list);
    const { puts } = new Journal(identity.client).changes([{ subscription: list, replica, number: 0 }]);
    const [{ lists: [kept] }] = readJournals(structuredClone(puts));
    session = new Session({ ...identity, person: "Eve" });
    list = session.follow("list", Replica.restored({ ...kept, confirmed: replica.confirmed }));
  } else session.lost(1, 0);
  session.connected(2);
  receive(session, { ...welcome, author: 2 }, 2);
  let view = List.of([]);
  const commit = (author, sequence, revision) => {
    view = apply(view, insertion(revision));
    const commit = { revision, author, sequence, base: revision - 1, time: 0, count: revision, digest: view.digest };
    return { type: "commit", list: 7, commit: { ...commit, delta: insertion(revision) } };
  };
  const made = commit(1, sequence, 1);
  const start = { resumed: { head: 1, digest: made.commit.digest } };
  receive(session, { ...subscribed, request: isReloaded ? 1 : 2, lastSequence: sequence, start }, 2);
  assert.deepEqual(sent(receive(session, made, 2)), []);
  assert.deepEqual([session.replica(list).inFlight, session.replica(list).view.count], [undefined, 1]);
  // The next edit is the new author's.
  const [next] = sent(edit(2));
  receive(session, commit(2, next.sequence, 2), 2);
  assert.deepEqual([session.replica(list).inFlight, session.replica(list).view.count], [undefined, 2]);
}

test("what a list resumes with shows which restored edits were sent, and what is live does not", () => {
  const session = new Session(identity);
  const edits = [1, 2].map(number => ({ delta: insertion(number), seen: 0, crossed: false, isStored: true }));
  const kept = { log: subscribed.logID, revision: 0, confirmed: List.of([]), used: 0, isShared: false, edits };
  const list = session.follow("list", Replica.restored(kept));
  session.connected(0);
  receive(session, welcome);
  const after = apply(List.of([]), insertion(1));
  const commit = { revision: 1, author: 1, sequence: 1, base: 0, time: 0, count: 1, digest: after.digest };
  receive(session, { ...subscribed, lastSequence: 1, start: { resumed: { head: 1, digest: after.digest } } });
  const [next] = sent(receive(session, { type: "commit", list: 7, commit: { ...commit, delta: insertion(1) } }));
  assert.deepEqual([next.sequence, session.replica(list).pending.length], [2, 1]);
  // Another program has the client id, too, and has sent the same under another sequence.
  const both = apply(after, insertion(2));
  const theirs = { ...commit, revision: 2, sequence: 9, base: 1, count: 2, digest: both.digest, delta: insertion(2) };
  receive(session, { type: "commit", list: 7, commit: theirs });
  assert.equal(session.replica(list).inFlight.sequence, 2);
});

test("an edit that fits no frame is taken back, and the next one goes out", () => {
  const session = new Session(identity);
  const list = session.follow("list");
  session.connected(0);
  receive(session, { ...welcome, frameBytes: 200_000 });
  receive(session, subscribed);
  const large = encoded(Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0), 2, {
    text: new Uint8Array(250_000).fill(120), level: 0,
  });
  const effects = session.act(list, replica => {
    replica.edit([{ op: "insert", items: [large], side: "after" }]);
    replica.edit([{ op: "keep", count: 1 }, ...insertion(1)]);
  }, 0);
  assert.deepEqual(
    effects.filter(effect => effect.do === "tell").map(({ told }) => [told.type, told.reason]),
    [["rejected", 3]],
  );
  assert.deepEqual(sent(effects).map(({ type, sequence }) => [type, sequence]), [["submit", 2]]);
  assert.equal(session.replica(list).view.count, 1);
});

test("edits that are refused together are submitted again one by one", () => {
  const replica = new Replica();
  const told = [];
  const items = apply(List.empty, [...insertion(1), ...insertion(2)]);
  replica.begin({ log: subscribed.logID, revision: 4, items });
  replica.listen(one => told.push(one));
  const full = { reason: REASONS.indexOf("listFull"), first: 3, second: 0 };
  const ids = () => [...replica.view].map(item => item.half(0)).join();
  const end = () => [{ op: "keep", count: replica.view.count }];
  const edit = delta => {
    replica.edit(delta);
    Object.assign(replica.pending.at(-1), { isWritten: true, isStored: true });
  };
  edit([{ op: "delete", count: 1 }]);
  edit([...end(), ...insertion(3)]);
  edit([...end(), ...insertion(4)]);
  const joined = replica.launch();
  replica.edit([{ op: "keep", count: 1 }, ...insertion(5)]);
  assert.equal(ids(), "2,5,3,4");
  // Somebody's edit comes between.
  const theirs = [...insertion(6)];
  const commit = (delta, list, more) => [
    { revision: 5, author: 9, sequence: 1, base: 4, time: 0, count: list.count, digest: list.digest, delta, ...more },
    list, 1,
  ];
  const after = apply(items, theirs);
  replica.follow(...commit(theirs, after));
  assert.equal(ids(), "6,2,5,3,4");
  replica.takeBack(joined, after, full, 1);
  assert.equal(ids(), "6,2,5,3,4", "nothing is lost yet");
  assert.deepEqual(told, []);
  assert.equal(replica.pending.length, 4);
  let list = after;
  const taken = [true, true, false, true];
  for (const [i, isTaken] of taken.entries()) {
    const edit = replica.launch();
    assert.equal(edit.sequence, 4 + i, "each of the three that were joined has used one");
    if (isTaken) {
      list = apply(list, edit.delta);
      replica.acknowledge(...commit(edit.delta, list, { author: 1, sequence: edit.sequence, revision: 6 + i }));
    } else replica.takeBack(edit, list, full, 1);
  }
  assert.deepEqual(told.map(({ type }) => type), ["committed", "committed", "rejected", "committed"]);
  assert.equal(ids(), "6,2,5,3");
  assert.equal(replica.pending.length, 0);
  for (const how of [undefined, "exact", "whole"]) {
    replica.edit([...end(), ...insertion(7), ...insertion(8)], how);
    replica.takeBack(replica.launch(), list, full, 1);
    assert.equal(ids(), "6,2,5,3", "one edit is refused as a whole");
  }
});

test("what waits is joined, but for large edits, exact ones, and whole ones", () => {
  const session = new Session(identity);
  const list = session.follow("list");
  const large = number => encoded(Uint8Array.of(number, 9, 0, 0, 0, 0, 0, 0), 2, {
    text: new Uint8Array(40_000).fill(120), level: 0,
  });
  session.act(list, replica => {
    replica.edit(insertion(1));
    replica.edit(insertion(2));
    assert.equal(replica.pending.length, 1);
    replica.edit([{ op: "insert", items: [large(1)], side: "after" }]);
    assert.equal(replica.pending.length, 1);
    replica.edit([{ op: "insert", items: [large(2)], side: "after" }]);
    assert.equal(replica.pending.length, 2);
    replica.edit(insertion(3), "exact");
    replica.edit(insertion(4));
    assert.equal(replica.pending.length, 4);
    replica.edit(insertion(5), "whole");
    replica.edit(insertion(6));
    assert.equal(replica.pending.length, 6);
  }, 0);
});

test("a list that has ended is asked for again when it may be there, and what is told is told once", () => {
  const { session, list } = live();
  const told = effects => effects.filter(({ do: what }) => what === "tell").map(({ told }) => told.type);
  const subscriptions = effects => sent(effects).filter(({ type }) => type === "subscribe");
  session.act(list, replica => replica.edit(insertion(1)), 0);
  const refuse = (effects, code = "noSuchList") => {
    const { request } = subscriptions(effects).at(-1);
    return receive(session, { ...error(code), request });
  };
  // Its name and its log are asked for before it is given up.
  session.lost(0, 0);
  session.connected(0);
  const byLog = refuse(receive(session, welcome));
  assert.deepEqual(subscriptions(byLog).map(({ name }) => name), [""]);
  assert.deepEqual(told(refuse(byLog)), ["ended"]);
  assert.equal(list.ended, "editsWait");
  assert.deepEqual(sent(session.act(list, replica => replica.edit(insertion(2)), 0)), []);
  // Rights have changed; then the person opens it again; then there is another connection.
  const granted = { type: "granted", role: 3, person: "Ada", lists: [] };
  for (const again of [
    () => receive(session, granted),
    () => session.revive(),
    () => (session.lost(0, 0), session.connected(0), receive(session, welcome)),
  ]) {
    const effects = again();
    assert.deepEqual(subscriptions(effects).map(({ name }) => name), ["list"]);
    assert.equal(list.hasEnded, true);
    // While the answer is awaited, nothing is asked again.
    assert.deepEqual(subscriptions(session.revive()), []);
    assert.deepEqual(told(refuse(refuse(effects))), [], "it is known");
  }
  const [{ request }] = subscriptions(session.revive());
  const back = receive(session, { ...subscribed, request, list: 9 });
  assert.equal(list.ended, "");
  assert.deepEqual(sent(back).map(({ type, list }) => [type, list]), [["submit", 9]]);
  session.unfollow(list, 0);
  assert.deepEqual(sent(session.revive()), []);
});
