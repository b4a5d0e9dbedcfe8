// Storage that is wiped, closed or refused under the page: the page says so, goes on, and doubles nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pause } from "./browser.mjs";
import { ada, begin, browser, stage } from "./stage.mjs";

const options = begin();

/** Opens a list, with a connection that is gone, and an edit that waits. */
async function waiting(name) {
  await ada.open(stage.page(stage.list(name, "one")));
  await ada.sees("one");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("two");
  await ada.hears(/1 edit kept on this device/);
}

async function arrives(name, ...texts) {
  stage.front.mend();
  await stage.has(name, texts);
  await ada.sees(...texts);
  await ada.hears(/^saved$/);
  await ada.add("last");
  await stage.has(name, [...texts, "last"]);
  // If all was cleared, the name is asked for again.
  await ada.open(stage.page(name));
  await ada.sees(...texts, "last");
  await pause(500);
  assert.deepEqual(await stage.texts(name), [...texts, "last"]);
}

test("a browser that clears all data of the site under the page loses nothing of it", options, async () => {
  await waiting("cleared");
  await browser.cdp("Storage.clearDataForOrigin", {
    origin: `http://localhost:${stage.front.port}`, storageTypes: "all",
  });
  await ada.add("three");
  await ada.sees("one", "two", "three");
  await ada.hears(/2 edits (kept on this device|only in this tab)/);
  await arrives("cleared", "one", "two", "three");
});

test("another tab deletes the database", options, async () => {
  await waiting("deleted");
  const other = await browser.newWindow();
  await browser.switchTo(other);
  stage.front.mend();
  await browser.open(`http://localhost:${stage.front.port}/icon.svg`);
  stage.front.cut();
  const how = await browser.wait(() => new Promise(resolve => {
    const request = indexedDB.deleteDatabase("hand");
    request.onsuccess = () => resolve("deleted");
    request.onblocked = () => resolve("blocked");
    request.onerror = () => resolve("failed");
  }));
  assert.equal(how, "deleted");
  await browser.closeTab();
  await ada.here();
  await ada.add("three");
  await arrives("deleted", "one", "two", "three");
});

test("connections to the database that close by themselves are made again", options, async () => {
  await ada.open(stage.page(stage.list("closing", "one")));
  await ada.hears(/^saved$/);
  await browser.run(() => {
    const { transaction } = IDBDatabase.prototype;
    let left = 3;
    IDBDatabase.prototype.transaction = function (...all) {
      if (left-- > 0) throw new DOMException("Connection to Indexed Database server lost", "UnknownError");
      return transaction.apply(this, all);
    };
  });
  for (const text of ["two", "three"]) await ada.add(text);
  await stage.has("closing", ["one", "two", "three"]);
  await ada.hears(/^saved$/);
});

test("a storage that takes nothing is told, and edits come through while there is a connection", options, async () => {
  await ada.open(stage.page(stage.list("full", "one")));
  await ada.hears(/^saved$/);
  await browser.run(() => {
    IDBObjectStore.prototype.put = function () {
      throw new DOMException("", "QuotaExceededError");
    };
  });
  await ada.add("two");
  await stage.has("full", ["one", "two"]);
  await browser.run(() => document.querySelector(".badge").click());
  await ada.reads(/This browser does not keep edits/);
  await ada.choose("Close");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("three");
  await ada.hears(/1 edit only in this tab/);
  await arrives("full", "one", "two", "three");
});

test("a page without any storage still works", options, async () => {
  const { identifier } = await browser.cdp("Page.addScriptToEvaluateOnNewDocument", {
    source: `
      Object.defineProperty(window, "indexedDB", { value: undefined });
      const get = () => { throw new DOMException("", "SecurityError"); };
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get });
      Object.defineProperty(navigator, "locks", { value: undefined });
    `,
  });
  stage.list("none", "one");
  await ada.open(stage.page("none"));
  await ada.sees("one");
  await ada.add("two");
  await ada.edit("one");
  await browser.press([..."!", "\uE007"]);
  await stage.has("none", ["one!", "two"]);
  await browser.run(() => document.querySelector(".badge").click());
  await ada.reads(/This browser does not keep edits/);
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
});
