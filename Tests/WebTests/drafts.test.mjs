// What is being typed in which tab, and what becomes of it when a tab ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Drafts } from "../../Sources/Web/client/drafts.js";
import { NO_LOG } from "../../Sources/Web/client/replica.js";
import { Locks } from "../../Sources/Web/client/locks.js";
import { Settings } from "../../Sources/Web/client/settings.js";

function settingsOf(stored) {
  const settings = new Settings(() => {});
  settings.fill(stored);
  return settings;
}

/** Tabs of one device: they share the settings, and know who lives. */
class Device {
  stored = new Map();
  living = new Set();

  tab(digit) {
    const client = digit.repeat(32);
    this.living.add(client);
    return new Drafts(settingsOf(this.stored), { isFree: async client => !this.living.has(client) }, () => client);
  }

  end(digit) {
    this.living.delete(digit.repeat(32));
  }
}

const named = (name, log = NO_LOG) => ({ name, log });
const logs = ["0000000100000001", "0000000100000002"];

test("a draft is its tab's while that lives, then it is whose next", async () => {
  const device = new Device();
  const [first, second] = [device.tab("1"), device.tab("2")];
  first.keep(named("a list"), "of the first");
  second.keep(named("a list"), "of the second");
  assert.equal(await second.take(named("a list")), "of the second");
  second.keep(named("a list"), "");
  assert.equal(await first.take(named("a list")), "of the first");
  assert.equal(await first.take(named("list")), "");
  device.end("1");
  assert.equal(await second.take(named("a list")), "of the first");
  // It is the second's now.
  const third = device.tab("3");
  assert.equal(await third.take(named("a list")), "");
  device.end("2");
  assert.equal(await third.take(named("a list")), "of the first");
  third.keep(named("a list"), "");
  assert.equal(device.stored.size, 0);
});

test("a tab that is loaded anew keeps its draft from one that looks again meanwhile", async () => {
  const device = new Device();
  const [first, second] = [device.tab("1"), device.tab("2")];
  first.keep(named("list"), "of the first");
  const looksAgain = () => second.take(named("list"), "", true);
  assert.equal(await second.take(named("list")), "");
  device.end("1");
  assert.equal(await looksAgain(), "");
  device.living.add("1".repeat(32));
  assert.equal(await looksAgain(), "");
  device.end("1");
  assert.equal(await looksAgain(), "");
  assert.equal(await looksAgain(), "of the first");
});

test("the drafts of several ended tabs are one", async () => {
  const device = new Device();
  for (const digit of ["1", "2"]) {
    device.tab(digit).keep(named("list"), `of ${digit}`);
    device.end(digit);
  }
  assert.equal(await device.tab("3").take(named("list")), "of 1\nof 2");
});

test("a draft goes with its list when that has another name, and not to another list of the name", async () => {
  const device = new Device();
  const tab = device.tab("1");
  tab.keep(named("list", logs[0]), "words");
  assert.equal(await tab.take(named("list", logs[1])), "");
  assert.equal(await tab.take(named("other", logs[0])), "words");
  assert.equal(await tab.take(named("list", logs[0])), "words");
  // Both lists of one name have their own.
  tab.keep(named("list", logs[1]), "of the other");
  assert.equal(await tab.take(named("list", logs[0])), "words");
  assert.equal(await tab.take(named("list", logs[1])), "of the other");
  tab.keep(named("list", logs[0]), "");
  tab.keep(named("list", logs[1]), "");
  assert.equal(device.stored.size, 0);
  tab.keep(named("list"), "typed before the list was there");
  assert.match(await tab.take(named("list", logs[0])), /typed before/);
  assert.equal(device.stored.size, 1);
});

test("what is being typed when a list arrives is no draft that comes to it", async () => {
  const device = new Device();
  const [tab, ended] = [device.tab("1"), device.tab("2")];
  tab.keep(named("list"), "typed");
  assert.equal(await tab.take(named("list", logs[0]), "typed on"), "");
  assert.deepEqual([...device.stored.values()], ["typed"]);
  ended.keep(named("list", logs[0]), "of another");
  device.end("2");
  assert.equal(await tab.take(named("list", logs[0]), "typed on"), "of another");
  assert.deepEqual([...device.stored.values()], ["typed on\nof another"]);
});

test("a draft that was typed with one link goes on with another one", async () => {
  const [stored, mine] = [new Map(), new Set()];
  const [one, other] = ["1", "2"].map(digit =>
    new Drafts(settingsOf(stored), { isFree: async () => false }, () => digit.repeat(32), mine));
  one.keep(named("list"), "half");
  assert.equal(await other.take(named("list")), "half");
  other.keep(named("list"), "half a word");
  assert.deepEqual([...stored], [[`composing ${"2".repeat(32)} ${NO_LOG} list`, "half a word"]]);
});

test("under another client id, the tab's draft is one still", async () => {
  const stored = new Map();
  let client = "1".repeat(32);
  const drafts = new Drafts(settingsOf(stored), { isFree: async () => false }, () => client);
  drafts.keep(named("list"), "half");
  client = "2".repeat(32);
  drafts.keep(named("list"), "half a word");
  assert.deepEqual([...stored], [[`composing ${client} ${NO_LOG} list`, "half a word"]]);
});

test("a lock that nobody holds, or that this tab has taken over, is free", async () => {
  const held = [];
  const manager = {
    request: (name, options, action) => {
      if (held.some(lock => lock.name === name)) return Promise.resolve(action(null));
      held.push({ name, clientId: "tab" });
      return Promise.resolve(action({ name }));
    },
    query: async () => ({ held }),
  };
  const [first, second] = [new Locks({ post: () => {} }, manager), new Locks({ post: () => {} }, manager)];
  assert.equal(await second.isFree("one"), true);
  assert.equal(await first.take("one"), true);
  assert.equal(await second.isFree("one"), false);
  assert.equal(await first.isFree("one"), true);
  const broken = { query: () => Promise.reject(new Error("no")) };
  assert.equal(await new Locks({ post: () => {} }, broken).isFree("one"), false);
  // Without locks, tabs are asked.
  const asking = new Locks({ post: message => answering.hear(message) }, null);
  const answering = new Locks({ post: message => asking.hear(message) }, null);
  assert.equal(await answering.take("one"), true);
  assert.equal(await asking.isFree("one"), false);
  assert.equal(await asking.isFree("two"), true);
  assert.equal(await answering.take("two"), true, "asking takes nothing");
});

test("without locks, a tab that has answered keeps its lock, however often it is asked", async () => {
  const asking = new Locks({ post: message => queueMicrotask(() => answering.hear(message)) }, null);
  const answering = new Locks({ post: message => queueMicrotask(() => asking.hear(message)) }, null);
  assert.equal(await answering.take("x"), true);
  assert.equal(await asking.take("x"), false);
  await new Promise(resolve => setTimeout(resolve, 600));
  assert.equal(await asking.take("x"), false, "the answer was in time");
});

test("a browser that refuses locks gives none, and nobody waits for it", async () => {
  const locks = { request: () => Promise.reject(new DOMException("no", "SecurityError")), query: async () => ({}) };
  const taken = new Locks({ post: () => {} }, locks).take("x");
  assert.equal(await Promise.race([taken, new Promise(resolve => setTimeout(resolve, 200, "nothing"))]), false);
});
