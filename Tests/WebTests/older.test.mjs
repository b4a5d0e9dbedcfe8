// What was done before the page was loaded can be taken back, and large edits are refused before they are made.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { apply, invert } from "../../Sources/Web/client/delta.js";
import { NOTE, TASK, encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { Replica, TooLarge } from "../../Sources/Web/client/replica.js";
import { commitsOf, listAt } from "../../Sources/Web/client/requests.js";
import { UndoHistory } from "../../Sources/Web/client/undohistory.js";
import { diffTexts } from "../../Sources/Web/client/words.js";
import { changing, inserting, moving } from "../../Sources/Web/view/edits.js";
import { deleting } from "./deleting.mjs";
import { newsSince } from "../../Sources/Web/view/news.js";
import { recall } from "../../Sources/Web/view/ownedits.js";
import { noticeOf, summaryOf } from "../../Sources/Web/view/sentences.js";
import { Random, seed, times } from "./random.mjs";

const random = new Random(seed);
console.log(`seed ${seed}`);
const log = "0000000100000005";
const item = (text, done = false) => encoded(random.bytes(8), TASK, { text: bytesOf(text), done, level: 0 });
const textsOf = list => [...list].map(({ text }) => text).join(" ");

/** A list with its history, of which one replica sees everything, and which others read. */
class History {
  commits = [];
  lists = [List.empty];
  /** Each of one's own commits, and what it is. */
  own = [];
  told = [];
  /** How many commits the server gives at once, and up to which revision it has forgotten them. */
  most = 3;
  forgotten = 0;
  asked = 0;
  /** Called when something is asked for. */
  meanwhile = () => {};

  constructor() {
    this.replica = this.newReplica();
    this.replica.listen(told => {
      this.told.push(told);
      if (told.own) this.own.push([told.revision, told.own.edit.step]);
    });
  }

  get revision() {
    return this.commits.length;
  }

  get list() {
    return this.lists[this.revision];
  }

  /** That of a page that has just been loaded. */
  newReplica() {
    const replica = new Replica();
    replica.begin({ log, revision: this.revision, items: this.list });
    return replica;
  }

  /** The person does something, and the server commits it. */
  act(action, replica = this.replica) {
    action(replica);
    for (let edit = replica.launch(); edit; edit = replica.launch()) {
      this.#commit(1, edit.delta, (commit, list) => replica.acknowledge(commit, list));
    }
  }

  edit(delta) {
    if (delta.length > 0) this.act(replica => replica.edit(delta));
  }

  /** Somebody else edits the list. */
  other(delta, replica = this.replica) {
    this.#commit(2, delta, (commit, list) => replica.follow(commit, list, 1));
  }

  #commit(author, delta, told) {
    const replica = new Replica();
    replica.begin({ log, revision: 1, items: this.list });
    replica.edit(delta);
    const list = replica.view;
    const { revision: base } = this;
    const { count, digest } = list;
    const commit = { revision: base + 1, author, sequence: 1, base, time: 0, count, digest, delta };
    this.commits.push(commit);
    this.lists.push(list);
    told(commit, list);
  }

  // What a client offers

  ownCommits() {
    return this.own;
  }

  async request(question) {
    this.asked++;
    await undefined;
    this.meanwhile();
    if (question.type === "fetch") {
      assert.ok(question.revision >= this.forgotten, "what is fetched is kept");
      return [{ type: "state", count: 0 }, { type: "chunk", items: [...this.lists[question.revision]] }];
    }
    const from = Math.max(question.from, this.forgotten + 1);
    const commits = this.commits.slice(from - 1, from + question.limit - 1).slice(0, this.most);
    return { type: "history", people: [{ author: 1, name: "Ada" }, { author: 2, name: "Bob" }], commits };
  }
}

const open = replica => ({ name: "list", replica, subscription: { isLive: true } });

/** Everything that undo, and then redo, does. */
function stepsOf(replica) {
  const all = [];
  while (replica.canUndo) all.push(replica.undo());
  while (replica.canRedo) all.push(replica.redo());
  return all.filter(delta => delta.length > 0);
}

/** Some of one's own edits and steps, and of others; none after a step that changed nothing, as no commit shows it. */
function busy(rounds) {
  const history = new History();
  for (let round = 0; round < rounds; round++) {
    const what = random.below(10);
    const { length } = history.own;
    if (what < 4) history.edit(random.delta(history.list, 0.2, [TASK, NOTE]));
    else if (what < 7) {
      const isLeft = what < 6 ? history.replica.canUndo : history.replica.canRedo;
      history.act(replica => (what < 6 ? replica.undo() : replica.redo()));
      if (isLeft && history.own.length === length) break;
    } else history.other(random.delta(history.list, 0.2, [TASK, NOTE]));
  }
  return history;
}

test("what a page that is loaded again takes back is what it would have taken back before", async () => {
  for (let round = 0; round < 200 * times; round++) {
    const history = busy(random.below(30));
    const replica = history.newReplica();
    assert.equal(await recall(history, open(replica), true), true);
    assert.deepEqual(stepsOf(replica), stepsOf(history.replica));
  }
});

test("what the device does not know to be an undo is one if it does the same", () => {
  for (let round = 0; round < 200 * times; round++) {
    const history = busy(random.below(30));
    const replica = history.newReplica();
    const own = new Map(history.own.map(([own, step]) => [own, step === "undo" ? undefined : step]));
    replica.remember(UndoHistory.of(List.empty, history.commits, own));
    assert.deepEqual(stepsOf(replica), stepsOf(history.replica));
  }
});

test("of a part of the history, what is taken back first is the same", () => {
  for (let round = 0; round < 200 * times; round++) {
    const history = busy(random.below(30));
    const from = random.below(history.revision + 1);
    const replica = history.newReplica();
    replica.remember(UndoHistory.of(history.lists[from], history.commits.slice(from), new Map(history.own)));
    while (history.replica.canUndo && history.replica.undo().length === 0);
    if (replica.canUndo) assert.deepEqual((replica.undo(), replica.view.digest), history.replica.view.digest);
  }
});

test("an item that was added and deleted by hand comes back", async () => {
  const history = new History();
  history.edit(inserting([item("bread")], 0, "before"));
  history.edit(inserting([item("milk")], 1, "before"));
  history.edit(deleting([[1, 2]]));
  const replica = history.newReplica();
  await recall(history, open(replica), true);
  replica.undo();
  assert.equal(textsOf(replica.view), "bread milk");
});

test("edits that were sent as one and taken back one by one are not taken back again", async () => {
  for (const isAllUndone of [true, false]) {
    const history = new History();
    history.other(inserting(["t1", "t2", "t3", "t4"].map(text => item(text)), 0, "before"));
    history.act(replica => {
      replica.edit(deleting([[2, 3]]));
      replica.edit(moving([[2, 3]], 0, "before"));
    });
    assert.deepEqual([textsOf(history.list), history.revision], ["t4 t1 t2", 2]);
    history.act(replica => replica.undo());
    assert.equal(textsOf(history.list), "t1 t2 t4");
    if (isAllUndone) history.act(replica => replica.undo());
    const replica = history.newReplica();
    await recall(history, open(replica), true);
    assert.equal(replica.canUndo, !isAllUndone);
    if (!isAllUndone) history.act(() => replica.undo(), replica);
    assert.equal(textsOf(history.list), "t1 t2 t3 t4");
  }
});

test("an undo of an older edit, made in another tab, is no part of the newest", () => {
  const before = List.of([item("bread")]);
  const ticked = changing(before, [[0, 1]], () => ({ done: true }));
  for (const word of [" dark", "ly"]) {
    const then = apply(before, ticked);
    const worded = changing(then, [[0, 1]], () => ({ text: diffTexts(bytesOf("bread"), bytesOf(`bread${word}`)) }));
    const commits = [ticked, worded, invert(before, ticked)].map((delta, i) => ({ revision: i + 1, delta }));
    const list = commits.reduce((list, { delta }) => apply(list, delta), before);
    const history = UndoHistory.of(before, commits, new Map([[1, undefined], [2, undefined], [3, "undo"]]));
    const undone = apply(list, history.next("undo", list).delta);
    assert.deepEqual([textsOf(undone), undone.at(0).fields().done], ["bread", false]);
  }
});

test("what a tab took back before another tab's edits is not taken back again", () => {
  const before = List.of([item("a"), item("b"), item("c")]);
  const ticking = (list, at) => changing(list, [[at, at + 1]], () => ({ done: true }));
  for (const isMove of [false, true]) {
    const mine = ticking(before, 1);
    const both = apply(before, mine);
    const others = isMove ? moving([[0, 1]], 3) : ticking(both, 0);
    const twice = apply(both, others);
    const at = isMove ? 0 : 1;
    const undo = changing(twice, [[at, at + 1]], () => ({ done: false }));
    const undone = apply(twice, undo);
    const bobs = ticking(undone, at);
    const list = apply(undone, bobs);
    const commits = [mine, others, undo, bobs].map((delta, i) => ({ revision: i + 1, delta }));
    const own = new Map([[1, undefined], [2, undefined], [3, "undo"]]);
    const history = UndoHistory.of(before, commits, own);
    // The other tab's edit is the newest that is left, and what is undone can be redone.
    const level = history.next("undo", list);
    const next = apply(list, level.delta);
    assert.deepEqual([...next].map(({ text }) => text), ["a", "b", "c"]);
    assert.deepEqual([...next].map(item => item.fields().done), [false, true, false]);
    history.made("undo", level, invert(list, level.delta));
    assert.equal(history.next("undo", next)?.delta.length ?? 0, 0);
    assert.equal(textsOf(apply(next, history.next("redo", next).delta)), textsOf(twice));
  }
});

test("edits of which all was taken back are read past, and older ones are found", async () => {
  const history = new History();
  history.edit(inserting([item("old")], 0, "before"));
  for (let round = 0; round < 30; round++) {
    history.edit(inserting([item("new")], 1, "before"));
    history.other(changing(history.list, [[0, 1]], () => ({ done: round % 2 === 0 })));
    history.act(replica => replica.undo());
  }
  const replica = history.newReplica();
  await recall(history, open(replica), true);
  assert.equal(replica.canUndo, true);
  history.act(() => replica.undo(), replica);
  assert.equal(textsOf(history.list), "");
  // Then there is nothing left, and it is not read again and again.
  history.own.push([history.revision, "undo"]);
  const next = history.newReplica();
  await recall(history, open(next), true);
  assert.deepEqual([next.canUndo, next.canRedo], [false, true]);
});

test("edits of which others have left nothing are passed over", async () => {
  const history = new History();
  history.edit(inserting([item("old"), item("milk")], 0, "before"));
  history.edit(inserting([item("bread")], 2, "before"));
  history.edit(changing(history.list, [[1, 2]], () => ({ done: true })));
  history.other(deleting([[1, 2]]));
  history.act(replica => (replica.undo(), replica.undo()));
  assert.equal(textsOf(history.list), "old");
  const replica = history.newReplica();
  await recall(history, open(replica), true);
  assert.equal(replica.canRedo, true);
  history.act(() => replica.undo(), replica);
  history.own.push([history.revision, "undo"]);
  assert.deepEqual([textsOf(history.list), replica.canUndo], ["", false]);
  // Nor is one offered.
  history.edit(inserting([item("tea")], 0, "before"));
  history.other(deleting([[0, 1]]));
  const next = history.newReplica();
  await recall(history, open(next), true);
  assert.equal(next.canUndo, false);
});

test("what can be made again stays so, whatever the history has", () => {
  const replica = new Replica();
  replica.edit(inserting([item("milk")], 0, "before"));
  replica.undo();
  replica.remember(UndoHistory.of(List.empty, [], new Map()));
  replica.redo();
  assert.equal(textsOf(replica.view), "milk");
});

test("others go on while the history is read, and an edit of one's own comes first", async () => {
  const history = new History();
  history.edit(inserting([item("milk"), item("bread")], 0, "before"));
  history.edit(deleting([[0, 1]]));
  const replica = history.newReplica();
  let left = 5;
  history.meanwhile = () => left-- > 0 && history.other(inserting([item("tea")], 0, "before"), replica);
  assert.equal(await recall(history, open(replica), true), true);
  history.act(() => replica.undo(), replica);
  assert.deepEqual([history.list.count, left < 0, replica.canRedo], [7, true, true]);
  const edited = history.newReplica();
  history.meanwhile = () => edited.canUndo || edited.edit(inserting([item("now")], 0, "before"));
  assert.equal(await recall(history, open(edited), true), false);
  edited.undo();
  assert.equal(edited.canUndo, false);
});

test("what the server has forgotten is not asked for", async () => {
  const history = new History();
  for (const text of ["one", "two", "three"]) history.edit(inserting([item(text)], 0, "before"));
  history.forgotten = 2;
  const replica = history.newReplica();
  await recall(history, open(replica), true);
  assert.deepEqual([stepsOf(replica).length, replica.view.count], [2, 3]);
  // Nor is anything, if nothing was done on this device, or too long ago.
  history.asked = history.own.length = 0;
  await recall(history, open(history.newReplica()), true);
  assert.equal(history.asked, 0);
});

test("commits that do not fit into one answer are asked for one after the other", async () => {
  const history = new History();
  for (const text of ["1", "2", "3", "4", "5"]) {
    history.edit(inserting([item(text)], 0, "before"));
    history.other(inserting([item(text)], 0, "before"));
  }
  const read = async (from, last) => (await commitsOf(history, "list", from, last))
    .map(({ commit, who }) => [commit.revision, who]);
  const made = history.commits.map(({ revision, author }) => [revision, ["Ada", "Bob"][author - 1]]);
  assert.deepEqual(await read(1, history.revision), made);
  assert.deepEqual(await read(2, 5), made.slice(1, 5));
  // Of what is forgotten, the answer is what comes after; and more may be forgotten between two answers.
  history.forgotten = 5;
  assert.deepEqual(await read(1, 5), []);
  assert.deepEqual(await read(2, 7), made.slice(5, 7));
  history.forgotten = 0;
  history.meanwhile = () => (history.forgotten += 4);
  assert.deepEqual(await read(5, history.revision), made.slice(8));
  [history.forgotten, history.meanwhile] = [0, () => {}];
  history.asked = 0;
  assert.deepEqual([(await listAt(history, "list", 0)).count, history.asked], [0, 0]);
  assert.equal((await listAt(history, "list", 1)).count, 1);
});

test("what others have done is new, and not what one has done oneself on another page", async () => {
  const history = new History();
  history.edit(inserting(["mine", "both", "gone"].map(text => item(text)), 0, "after"));
  const since = history.revision;
  const level = place => changing(history.list, [[place, place + 1]], () => ({ level: 1 }));
  history.edit(level(0));
  history.other(level(1));
  history.edit(inserting([item("own")], 0, "after"));
  history.other(inserting([item("theirs"), item("brief")], 4, "after"));
  history.other(level(3));
  history.edit(deleting([[3, 4]]));
  history.other(deleting([[4, 5]]));
  const client = { person: "Ada", request: question => history.request(question) };
  const news = await newsSince(client, "list", since, history.replica);
  const texts = [...history.list].filter(({ id }) => news.has(id)).map(({ id, text }) => [text, news.get(id)]);
  assert.deepEqual(texts, [["both", "changed"], ["theirs", "new"]]);
  assert.equal(news.size, 2);
});

test("an undo is submitted alone, as it was stored", () => {
  const history = new History();
  const insertion = text => replica => replica.edit(inserting([item(text)], 0, "after"));
  const stored = actions => history.act(replica => {
    for (const action of actions) {
      action(replica);
      for (const edit of replica.pending) edit.isWritten = edit.isStored = true;
    }
  });
  const [undo, redo] = [replica => replica.undo(), replica => replica.redo()];
  stored([insertion("a"), insertion("b"), insertion("c")]);
  stored([undo, undo]);
  stored([redo, insertion("d"), insertion("e"), insertion("f"), undo]);
  assert.deepEqual(history.own, [[1, ""], [2, "undo"], [3, "undo"], [4, "redo"], [5, ""]]);
  // What was joined before it was stored is an undo and more.
  history.act(replica => (replica.undo(), insertion("g")(replica)));
  assert.deepEqual(history.own[5], [6, undefined]);
});

// Large edits

test("an edit that is too large for a frame is refused, and nothing has happened", () => {
  const replica = new Replica();
  const text = new Uint8Array(1 << 20).fill(120);
  const large = Array.from({ length: 5 }, () => encoded(random.bytes(8), NOTE, { text, level: 0 }));
  const fitting = large.slice(0, 3);
  const message = /about 52\d{5} bytes; at most 4194304 .* Divide it\.$/;
  assert.throws(() => replica.edit(inserting(large, 0, "after")), { constructor: TooLarge, message });
  assert.deepEqual([replica.view.count, replica.canUndo, replica.pending.length], [0, false, 0]);
  replica.edit(inserting(fitting, 0, "after"));
  replica.edit(inserting(large.slice(3), 0, "after"));
  replica.edit(deleting([[0, 5]]));
  assert.throws(() => replica.undo(), TooLarge);
  assert.throws(() => replica.undo(), TooLarge);
  assert.deepEqual([replica.view.count, replica.canRedo, replica.pending.length], [0, false, 3]);
});

test("the words of an edit that was not taken can be got back", () => {
  const told = [];
  const replica = new Replica();
  replica.listen(one => told.push(one));
  replica.edit(inserting([item("milk"), item("bread")], 0, "after"));
  replica.takeBack(replica.launch(), List.empty, { reason: 12, first: 0, second: 0 }, 1);
  const text = "Your edit was not taken: your role does not allow it (“milk” …).";
  assert.deepEqual(noticeOf(told[0], undefined, ""), { text, lost: "milk\nbread", isOne: false });
});

// Sentences

test("the history says to which item something was done", () => {
  const list = List.of([item("milk"), item("bread"), item("eggs")]);
  const said = delta => {
    const history = new History();
    history.edit(inserting([...list], 0, "after"));
    history.edit(delta);
    return summaryOf(history.commits[1], list, history.list);
  };
  const change = (runs, made) => changing(list, runs, () => made);
  assert.equal(said(change([[1, 2]], { done: true })), "ticked “bread”");
  assert.equal(said(change([[1, 3]], { done: true })), "ticked “bread” and 1 more");
  const splice = { at: 0, removed: bytesOf("eggs"), inserted: bytesOf("egg") };
  assert.equal(said(change([[2, 3]], { text: [splice] })), "“eggs” became “egg” in “egg”");
  assert.equal(said(deleting([[0, 1], [2, 3]])), "deleted “milk” and 1 more");
  assert.equal(said(moving([[2, 3]], 0, "after")), "moved “eggs”");
  assert.equal(said(inserting([item("tea"), item("x")], 3, "after")), "added “tea” and 1 more");
  assert.equal(said([...deleting([[0, 1]]), ...inserting([item("tea")], 0, "after")]), "deleted “milk”, added “tea”");
  // Without the lists, only what the commit itself has is known.
  assert.equal(summaryOf({ delta: change([[1, 2]], { done: false }) }), "unticked");
  assert.equal(summaryOf({ delta: change([[0, 2]], { level: 1 }) }), "changed 2 items");
  assert.equal(summaryOf({ delta: deleting([[0, 2]]) }), "deleted 2 items");
  assert.equal(summaryOf({ delta: [] }), "nothing was left to change");
});
