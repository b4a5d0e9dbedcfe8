// The client in a real browser, against a real server: tabs that are reloaded, closed, frozen and opened twice, with
// and without a network. It needs Chromium with its driver, and the server's program: HAND, or the one that was built
// here.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, Pages } from "./browser.mjs";

const builds = ["debug", "release"].map(kind => fileURLToPath(new URL(`../../.build/${kind}/hand`, import.meta.url)));
const [built] = builds.filter(existsSync).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
const hand = process.env.HAND ?? built ?? "hand";
const has = (program, ...args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;
const canRun = has(hand, "--version") && has("chromedriver", "--version") && has("chromium", "--version");
const skip = !canRun && "it needs chromium, chromedriver and the server's program";
const [port, behind, driver, tcp] = [7871, 7872, 7873, 7874].map(number => number + (process.pid % 500) * 10);
const folder = mkdtempSync(join(tmpdir(), "hand-browser-"));
const page = `http://127.0.0.1:${port}/`;
const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };

let server;
let pages;
let browser;
let lists = 0;

before(async () => {
  if (!canRun) return;
  server = spawn(
    hand,
    ["serve", "--data", join(folder, "data"), "--listen", `127.0.0.1:${tcp}`, "--web", `127.0.0.1:${behind}`],
    { stdio: "ignore" },
  );
  pages = new Pages(port, behind);
  browser = await Browser.start(driver);
  for (let left = 100; left > 0 && !(await answers(behind)); left--) {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
});

after(async () => {
  await browser?.close();
  pages?.close();
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => pages?.cut(false));

function answers(port) {
  return new Promise(resolve => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });
}

// What a page does

const library = `
  window.pause = ms => new Promise(resolve => setTimeout(resolve, ms));
  window.until = async (condition, what) => {
    for (let left = 400; !(await condition()); left--) {
      const state = () => JSON.stringify([client.connection, client.storage, client.waiting]);
      if (left === 0) throw new Error("in time: " + condition + state());
      await pause(25);
    }
  };
  const { Client } = await import("/client.js");
  const { listAt } = await import("/requests.js");
  const { encoded } = await import("/item.js");
  const { bytesOf } = await import("/bytes.js");
  window.told = [];
  window.client = await Client.start({ url: "ws://" + location.host + "/", person: "Ada", program: "test" });
  client.ontold = (list, one) => told.push(one.type);
  window.add = text => client.act(list, replica => {
    const item = encoded(crypto.getRandomValues(new Uint8Array(8)), 2, { text: bytesOf(text), level: 0 });
    const { count } = replica.view;
    replica.edit([...(count > 0 ? [{ op: "keep", count }] : []), { op: "insert", items: [item], side: "before" }]);
  });
  window.texts = list => [...list].map(item => item.text);
  window.onServer = async () => texts(await listAt(client, list.name));
  window.isOnline = () => client.connection.state === "online";
`;

async function open(name) {
  await browser.go(page);
  await browser.run(`${library} window.list = client.open(args[0]);`, name);
}

/** A page with a list that nobody else has. */
async function begin() {
  const name = `list ${++lists}`;
  await browser.go(page);
  await browser.run(`${library}
    await client.request({ type: "create", name: args[0], rules: args[1] });
    window.list = client.open(args[0]);
    await until(() => list.subscription.isLive);`, name, rules);
  return name;
}

const texts = () => browser.run("return texts(list.shown.list);");
const add = (...words) => browser.run("for (const word of args) add(word);", ...words);
const onServer = () => browser.run("await until(isOnline); return onServer();");
const isSent = () => browser.run("await until(() => client.waiting.count === 0);");
const isStored = () => browser.run("await until(() => list.replica.pending.every(edit => edit.isStored));");

async function inNewTab(name) {
  const handle = await browser.newTab();
  await browser.to(handle);
  await open(name);
  return handle;
}

// Journeys

test("an edit is shown at once, kept, sent, and nothing is left in the journal", { skip }, async () => {
  await begin();
  const { shown, waiting } = await browser.run(
    "add('milk'); return { shown: texts(list.replica.view), waiting: client.waiting.count };",
  );
  assert.deepEqual([shown, waiting], [["milk"], 1]);
  await isSent();
  assert.deepEqual(await onServer(), ["milk"]);
  const { state, hasLocks } = await browser.run("return client.storage;");
  assert.deepEqual([state, hasLocks], ["kept", true]);
});

test("a page that is reloaded without a network shows the list and goes on with its edits", { skip }, async () => {
  const name = await begin();
  await add("milk");
  await isSent();
  pages.cut(true);
  await browser.run("await until(() => client.connection.state === 'offline');");
  await add("bread", "eggs");
  await isStored();
  await open(name);
  await browser.run("await until(() => list.hasCopy);");
  assert.deepEqual(await texts(), ["milk", "bread", "eggs"]);
  const pending = await browser.run("return { pending: list.replica.pending.length, text: client.exportWaiting() };");
  assert.deepEqual(pending, { pending: 2, text: `${name}\n\nbread\neggs\n` });
  await add("salt");
  pages.cut(false);
  await browser.run("client.retry();");
  await isSent();
  assert.deepEqual(await onServer(), ["milk", "bread", "eggs", "salt"]);
});

test("what a tab that was closed has left is shown and sent by another one, once", { skip }, async () => {
  const name = await begin();
  const first = await browser.current();
  await add("milk");
  await isSent();
  const second = await inNewTab(name);
  await browser.run("await until(() => list.subscription.isLive);");
  pages.cut(true);
  await add("one", "two", "three");
  await isStored();
  await browser.to(first);
  await browser.run("await until(() => texts(list.shown.list).length === 4);");
  assert.deepEqual(await browser.run("return [texts(list.replica.view), client.waiting.count];"), [["milk"], 3]);
  await browser.to(second);
  await browser.closeTab();
  await browser.to(first);
  await add("four");
  pages.cut(false);
  await browser.run("client.retry();");
  await isSent();
  assert.deepEqual((await onServer()).sort(), ["four", "milk", "one", "three", "two"]);
});

test("two tabs have two client ids, and see each other's edits", { skip }, async () => {
  const name = await begin();
  const first = await browser.current();
  const second = await inNewTab(name);
  await browser.run("await until(() => list.subscription.isLive);");
  await add("of the second");
  await isSent();
  await browser.to(first);
  await browser.run("await until(() => texts(list.replica.view).length === 1);");
  await add("of the first");
  await isSent();
  assert.deepEqual(await onServer(), ["of the second", "of the first"]);
  const { held } = await browser.run("return navigator.locks.query();");
  assert.equal(new Set(held.map(({ name }) => name)).size, 2);
  assert.deepEqual(await browser.run("return told.filter(type => type !== 'committed');"), []);
  await browser.to(second);
  await browser.closeTab();
  await browser.to(first);
});

test("a frozen tab keeps no other from writing, and wakes as if nothing had been", { skip }, async () => {
  const name = await begin();
  const first = await browser.current();
  const second = await inNewTab(name);
  await browser.run("await until(() => list.subscription.isLive);");
  await browser.run("for (let i = 0; i < 50; i++) add('x' + i);");
  await browser.devtools("Page.setWebLifecycleState", { state: "frozen" });
  await browser.to(first);
  const took = await browser.run(`const start = performance.now(); add("milk");
    await until(() => list.replica.pending.every(edit => edit.isStored)); return performance.now() - start;`);
  assert.ok(took < 1000, `${took} ms`);
  await browser.to(second);
  await browser.devtools("Page.setWebLifecycleState", { state: "active" });
  await isSent();
  const all = await onServer();
  assert.deepEqual([all.length, new Set(all).size], [51, 51]);
  await browser.closeTab();
  await browser.to(first);
});

test("a storage that is cleared under a running page is filled again", { skip }, async () => {
  const name = await begin();
  await add("milk");
  await isSent();
  pages.cut(true);
  await browser.run("await until(() => client.connection.state === 'offline');");
  await add("bread");
  await isStored();
  await browser.run(`await new Promise((onsuccess, onerror) =>
    Object.assign(indexedDB.deleteDatabase("hand"), { onsuccess, onerror }));`);
  await add("eggs");
  await browser.run(`const { Store } = await import("/store.js");
    await until(async () => (await new Store(() => "").look()).rows.length === 3);`);
  await open(name);
  pages.cut(false);
  await browser.run("client.retry();");
  await isSent();
  assert.deepEqual(await onServer(), ["milk", "bread", "eggs"]);
});

test("answers are put together, and errors have their names", { skip }, async () => {
  const name = await begin();
  await add("milk", "bread");
  await isSent();
  assert.deepEqual(await onServer(), ["milk", "bread"]);
  const error = await browser.run(
    "return client.request({ type: 'fetch', name: 'nothing', revision: undefined }).catch(({ name }) => name);",
  );
  assert.equal(error, "noSuchList");
  const { type, entries } = await browser.run("return client.request({ type: 'lists', after: '' });");
  assert.equal(type, "lists");
  assert.ok(entries.some(entry => entry.name === name && entry.count === 2));
  pages.cut(true);
  await browser.run("await until(() => client.connection.state === 'offline');");
  const offline = await browser.run("return client.request({ type: 'lists', after: '' }).catch(({ name }) => name);");
  assert.equal(offline, "offline");
  pages.cut(false);
  await browser.run("client.retry();");
});

test("settings are the same in all tabs, and outlive them", { skip }, async () => {
  const name = await begin();
  const first = await browser.current();
  await browser.run("client.settings.set('person', 'Ada'); await pause(100);");
  await inNewTab(name);
  assert.equal(await browser.run("return client.settings.get('person');"), "Ada");
  await browser.run("client.settings.set('person', 'Eve'); await pause(100);");
  await browser.closeTab();
  await browser.to(first);
  assert.equal(await browser.run("return client.settings.get('person');"), "Eve");
});
