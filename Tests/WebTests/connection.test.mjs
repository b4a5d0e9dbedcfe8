// What a session does when a connection is lost, tried for long, or answers after a wake.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../Sources/Web/client/delta.js";
import { framed } from "../../Sources/Web/client/frames.js";
import { ERRORS, encodeDown } from "../../Sources/Web/client/messages.js";
import { Session } from "../../Sources/Web/client/session.js";
import { done, identity, insertion, live, receive, sent, subscribed, welcome } from "./live.mjs";

test("a connection that answers after a wake is kept", () => {
  const { session } = live();
  assert.deepEqual(sent(session.retry(1000, 0)).map(({ type }) => type), ["ping"]);
  receive(session, { type: "pong", nonce: 0 }, 1100);
  assert.ok(session.deadline > 3500, `${session.deadline}`);
  assert.deepEqual(done(session.tick(3500, 0)), []);
  assert.equal(session.isOpen, true);
});

test("a loss forgets the frames that wait for a write", () => {
  let changes;
  const { session, list } = live(() => changes);
  changes = {};
  const [{ write }] = session.act(list, replica => replica.edit(insertion(1)), 0);
  changes = undefined;
  session.lost(1, 0);
  session.connected(2);
  assert.deepEqual(sent(session.stored(write)).map(({ type }) => type), ["hello"]);
});

test("another name, or a wake, does not shorten a wait that the server has asked for", () => {
  for (const happens of [session => session.introduce("Eve", undefined, 20, 0), session => session.retry(20, 0)]) {
    const { session } = live();
    const code = ERRORS.indexOf("shuttingDown");
    receive(session, { type: "error", code, request: 0, list: 0, retryAfter: 5000, message: "" }, 10);
    happens(session);
    assert.ok(session.deadline >= 5010, `${session.deadline}`);
  }
});

test("what follows the end of a connection in the same bytes is no fault", () => {
  const session = new Session(identity);
  const code = ERRORS.indexOf("shuttingDown");
  const end = { type: "error", code, request: 0, list: 0, retryAfter: 0, message: "" };
  for (let now = 0; now < 5000; now += 1000) {
    session.connected(now);
    const bytes = [welcome, end, { type: "pong", nonce: 0 }].flatMap(message => [...framed(encodeDown(message))]);
    assert.deepEqual(done(session.received(Uint8Array.from(bytes), now, 0)), ["open", "close"]);
  }
});

test("after a wake, a connection that has been tried for long is tried anew", () => {
  const session = new Session(identity);
  session.tick(0, 0);
  assert.deepEqual(done(session.retry(2000, 0)), []);
  assert.deepEqual(done(session.retry(4000, 0)), ["close"]);
  assert.deepEqual(done(session.tick(session.deadline, 0)), ["connect"]);
  assert.ok(session.now <= 4300);
});

test("a client id that was drawn anew is not drawn again", () => {
  const { session, list } = live();
  session.act(list, replica => replica.edit(insertion(1)), 0);
  const commit = (delta, count, digest, sequence, revision) => receive(session, {
    type: "commit", list: 7,
    commit: { revision, author: 1, sequence, base: revision - 1, time: 0, count, digest, delta },
  });
  commit([], 0, session.replica(list).confirmed.digest, 1, 1);
  assert.equal(done(commit(insertion(1), 1, session.replica(list).view.digest, 2, 2)).at(-1), "draw");
  session.take("f".repeat(32), 5);
  session.tick(session.deadline, 0);
  const effects = session.connected(6);
  const all = [...effects, ...receive(session, { ...welcome, author: 2 }, 6)];
  assert.equal(done(all).includes("draw"), false);
});

test("a list that has diverged is live again with its snapshot", () => {
  const { session, list } = live();
  receive(session, {
    type: "commit", list: 7,
    commit: { revision: 9, author: 2, sequence: 1, base: 8, time: 0, count: 0, digest: "0".repeat(16), delta: [] },
  });
  assert.deepEqual([list.hasDiverged, list.isLive], [true, false]);
  receive(session, {
    ...subscribed, request: 2, start: { snapshot: { revision: 9, count: 0, digest: "0".repeat(16) } },
  });
  assert.deepEqual([list.hasDiverged, list.isLive], [false, true]);
});

test("of a list that is open under two names, one is followed at a time, first whichever has edits", () => {
  const { session, list: former } = live();
  const present = session.follow("new name");
  const types = effects => sent(effects).map(({ type, request, list, sequence }) => [type, request ?? list, sequence]);
  const both = () => [former, present].map(({ isLive }) => isLive);
  // Only the answer tells that it is the same list.
  receive(session, { ...subscribed, request: 2 });
  assert.deepEqual(both(), [true, false]);
  const edit = (list, number) => session.act(list, replica => replica.edit(insertion(number)), 0);
  const commit = (list, sequence, revision) => {
    const { inFlight: { delta }, confirmed } = session.replica(list);
    const { count, digest } = apply(confirmed, delta);
    const commit = { revision, author: 1, sequence, base: revision - 1, time: 0, count, digest, delta };
    return receive(session, { type: "commit", list: 7, commit });
  };
  assert.deepEqual(types(edit(present, 1)), [["subscribe", 3, undefined]]);
  assert.deepEqual(both(), [false, false]);
  const [submit] = types(receive(session, { ...subscribed, request: 3, lastSequence: 4 }));
  assert.deepEqual([submit, both()], [["submit", 7, 5], [false, true]]);
  edit(former, 2);
  assert.deepEqual(both(), [false, true], "what is in flight comes first");
  const [again] = types(commit(present, 5, 1));
  assert.deepEqual([again, both()], [["subscribe", 4, undefined], [false, false]]);
  const { digest } = session.replica(present).confirmed;
  const start = { snapshot: { revision: 1, count: 1, digest } };
  receive(session, { ...subscribed, request: 4, lastSequence: 5, start });
  const items = [...session.replica(present).confirmed];
  assert.deepEqual(types(receive(session, { type: "chunk", request: 4, items })), [["submit", 7, 6]]);
  commit(former, 6, 2);
  assert.deepEqual(both(), [true, false], "it stays so while nothing waits");
  assert.deepEqual(types(session.unfollow(former, 0)), [["unsubscribe", 7, undefined], ["subscribe", 5, undefined]]);
});

test("who was here is not here any more once the list is asked for again", () => {
  const { session, list } = live();
  receive(session, { type: "presence", list: 7, entries: [{ author: 2, place: 1, person: "Bob" }] });
  receive(session, {
    type: "error", code: ERRORS.indexOf("notSubscribed"), request: 0, list: 7, retryAfter: 0, message: "",
  });
  assert.deepEqual([...list.people.here.keys()], []);
  receive(session, { ...subscribed, request: 2 });
  assert.deepEqual([...list.people.here.keys()], []);
});
