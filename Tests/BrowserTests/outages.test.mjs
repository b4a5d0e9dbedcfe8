// Servers that die, networks that are gone, tabs that are closed or frozen: every edit comes, and comes once.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Person, ada, begin, browser, copied, open, stage } from "./stage.mjs";

const options = begin();

/** A second tab of the same person. */
async function tabOf(list) {
  const tab = new Person(browser, await browser.newWindow());
  await tab.open(stage.page(list));
  return tab;
}

test("a server that is killed gets what was typed meanwhile, once", options, async () => {
  await ada.open(stage.page(stage.list("killed", "one", "two")));
  await ada.sees("one", "two");
  await stage.kill();
  await ada.hears(/^offline$/);
  await ada.add("three");
  await ada.press("one", ["d"]);
  await ada.edit("two");
  await browser.press([..."!", KEYS.enter]);
  await ada.sees("two!", "three");
  await ada.hears(/^offline, 3 edits kept on this device$/);
  await until(() => browser.run(() => document.querySelectorAll(".row.waiting").length === 2), "both rows wait");
  await stage.restart();
  await ada.hears(/^saved$/);
  assert.deepEqual(await stage.texts("killed"), ["two!", "three"]);
  await ada.sees("two!", "three");
});

test("whoever is offline reads why, and may try again at once", options, async () => {
  await open("why", "one");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("two");
  // The page tries again less and less often. A machine with much to do takes long to hear that it was in vain.
  const { refused } = stage.front;
  await until(() => stage.front.refused > refused + 2, "the page tries again");
  await browser.click(".badge");
  await ada.reads(/The server cannot be reached right now\.\s+That began just now\./);
  stage.front.mend();
  await ada.choose("Try again now");
  await ada.hears(/^saved$/);
  await browser.click(".badge");
  await ada.reads(/saved\.\s+Connected just now\./);
  assert.ok(!(await browser.run(() => document.querySelector("dialog").textContent)).includes("Try again"));
  await ada.choose("Close");
});

test("edits survive a server that is killed again and again while one types", options, async () => {
  await ada.open(stage.page(stage.list("again")));
  await ada.hears(/^saved$/);
  const texts = [];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 4; i++) {
      texts.push(`${round} ${i}`);
      await ada.add(`${round} ${i}`);
      if (i === 1) await stage.kill();
    }
    await stage.restart();
  }
  await ada.hears(/^saved$/);
  await stage.has("again", texts);
  await ada.sees(...texts);
});

test("a network that swallows everything is noticed, and its edits come later", options, async () => {
  await ada.open(stage.page(stage.list("silent", "one")));
  await ada.sees("one");
  stage.front.silence();
  await ada.add("two");
  await ada.hears(/not saved yet|offline/);
  stage.front.cut();
  await ada.hears(/^offline, 1 edit kept on this device$/);
  stage.front.mend();
  await ada.hears(/^saved$/);
  assert.deepEqual(await stage.texts("silent"), ["one", "two"]);
});

test("who has left a list before its edit was sent is there no more once it is", options, async () => {
  await open("left", "a");
  stage.list("elsewhere", "b");
  stage.front.silence();
  await ada.add("x");
  await browser.run(() => void (location.hash = "#list=elsewhere"));
  await until(() => browser.run(() => document.querySelector("h1").textContent === "elsewhere"), "one is elsewhere");
  stage.front.mend();
  await ada.sees("b");
  await stage.has("left", ["a", "x"]);
  await until(() => !stage.run(["who", "-l", "left"]).includes("Ada"), "nobody is there");
});

test("lines that are nested stay so without a network", options, async () => {
  for (const [list, item] of [["outline", "a"], ["no outline", "b"]]) {
    await ada.open(stage.page(stage.list(list, item)));
    await ada.sees(item);
    await ada.hears(/^saved$/);
  }
  stage.front.cut();
  await ada.hears(/^offline/);
  await browser.run(() => void (location.hash = "#list=outline"));
  await ada.sees("a");
  await browser.click("#composer");
  await browser.press([..."x"]);
  await browser.press([KEYS.enter], KEYS.shift);
  await browser.press([..."  y", KEYS.enter]);
  await ada.sees("a", "x", "y");
  await ada.press("a", [KEYS.enter]);
  await ada.reads(/Further in/);
  await browser.press([KEYS.escape]);
  stage.front.mend();
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("outline")).map(({ level = 0 }) => level), [0, 0, 1]);
});

test("what a closed tab could not send is sent by the tab that is opened next", options, async () => {
  await ada.open(stage.page(stage.list("closed", "one")));
  await ada.sees("one");
  await ada.hears(/^saved$/);
  const tab = await tabOf("closed");
  await tab.sees("one");
  stage.front.cut();
  await tab.hears(/^offline/);
  await tab.add("two");
  await tab.press("one", [" "]);
  await tab.add("three");
  await tab.hears(/3 edits kept on this device/);
  // The other tab shows what is not sent yet, and edits no older text.
  await ada.sees("one", "two", "three");
  const refusals = [["one", "e", /this change/], ["two", "e", /this item/], ["one", " ", /this change/]];
  for (const [text, key, words] of refusals) {
    await ada.press(text, [key]);
    await until(async () => words.test(await ada.toast()), `${key} on ${text} is refused`);
  }
  // Neither does a range with an item that only the other tab has.
  await ada.press("one", ["v", "j", " ", KEYS.escape]);
  await tab.here();
  await browser.closeTab();
  await ada.here();
  await browser.open("about:blank");
  stage.front.mend();
  await ada.open(stage.page("closed"));
  await ada.sees("one", "two", "three");
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("closed")).map(({ text, done }) => [text, done]), [
    ["one", true], ["two", false], ["three", false],
  ]);
});

test("what a closed tab has left is refused in part, and told without its list", options, async () => {
  stage.run(["create", "narrow", "--max-items", "2"]);
  stage.run(["add", "-l", "narrow", "one"]);
  await ada.open(stage.page());
  await ada.hears(/^saved$/);
  const tab = await tabOf("narrow");
  await tab.sees("one");
  await tab.hears(/^saved$/);
  stage.front.cut();
  await tab.hears(/^offline/);
  await tab.add("two");
  await tab.press("one", [" "]);
  await tab.hears(/2 edits kept on this device/);
  await browser.closeTab();
  await ada.here();
  stage.run(["add", "-l", "narrow", "another"]);
  stage.front.mend();
  await ada.reads(/“narrow”: Your edit was not taken: the list is full: it takes 2 items/);
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("narrow")).map(({ text, done }) => [text, done]), [
    ["one", true], ["another", false],
  ]);
  await ada.choose("Open the list");
  await ada.sees("one", "another");
  await ada.reads(/Your edit was not taken/);
});

test("what a tab that crashed could not send is sent by another one that is open", options, async () => {
  await ada.open(stage.page(stage.list("crashed", "one")));
  await ada.hears(/^saved$/);
  const tab = await tabOf("crashed");
  await tab.sees("one");
  stage.front.cut();
  await tab.hears(/^offline/);
  await tab.add("two");
  await tab.hears(/1 edit kept on this device/);
  await browser.cdp("Page.crash").catch(() => {});
  await browser.closeTab().catch(() => {});
  await ada.here();
  stage.front.mend();
  await stage.has("crashed", ["one", "two"]);
  await ada.sees("one", "two");
  await pause(500);
  assert.deepEqual(await stage.texts("crashed"), ["one", "two"]);
});

test("a tab that is frozen while it writes does not hold up another one", options, async () => {
  await ada.open(stage.page(stage.list("frozen")));
  await ada.hears(/^saved$/);
  const tab = await tabOf("frozen");
  await tab.hears(/^saved$/);
  // Many writes begin, and the page is frozen before they are done.
  await browser.run(() => {
    const composer = document.querySelector("#composer");
    for (let i = 0; i < 20; i++) {
      composer.value = `frozen ${i}`;
      composer.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true, bubbles: true }));
    }
  });
  await browser.cdp("Page.setWebLifecycleState", { state: "frozen" });
  await ada.here();
  await ada.add("live");
  await until(async () => (await stage.texts("frozen")).includes("live"), "the other tab's edit has come");
  await tab.here();
  await browser.cdp("Page.setWebLifecycleState", { state: "active" });
  await until(async () => (await stage.texts("frozen")).length === 21, "all edits have come");
  assert.equal(new Set(await stage.texts("frozen")).size, 21);
  await browser.closeTab();
  await ada.here();
});

test("a hidden tab connects again at most once, however late its timers are", options, async () => {
  await ada.open(stage.page(stage.list("hidden", "one")));
  await ada.hears(/^saved$/);
  // The page is told that it is hidden, and from now on its timers come once a minute: here, once in 2 s.
  await browser.run(() => {
    const set = window.setTimeout;
    window.setTimeout = (action, ms, ...rest) => set(action, Math.max(ms ?? 0, 2000), ...rest);
    Object.defineProperty(document, "hidden", { get: () => window.isAway, configurable: true });
    Object.defineProperty(document, "visibilityState", {
      get: () => (window.isAway ? "hidden" : "visible"), configurable: true,
    });
    window.isAway = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  const before = stage.front.upgrades;
  await pause(5_000);
  assert.ok(stage.front.upgrades - before <= 1, `${stage.front.upgrades - before} connections`);
  stage.run(["add", "-l", "hidden", "two"]);
  await browser.run(() => {
    window.isAway = false;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await ada.sees("one", "two");
  assert.ok(stage.front.upgrades - before <= 2, `${stage.front.upgrades - before} connections`);
});

test("edits that wait for a list are sent while it is open under its new name", options, async () => {
  await ada.open(stage.page(stage.list("before", "one")));
  await ada.sees("one");
  await until(async () => (await copied()).length > 0, "a copy of the list is on the device");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("two");
  await ada.hears(/1 edit kept on this device/);
  await browser.open("about:blank");
  stage.run(["rename", "before", "renamed"]);
  stage.front.mend();
  await ada.open(stage.page("renamed"));
  await stage.has("renamed", ["one", "two"]);
  await ada.sees("one", "two");
  stage.run(["add", "-l", "renamed", "three"]);
  await ada.sees("one", "two", "three");
  await ada.add("four");
  await ada.hears(/^saved$/);
  await stage.has("renamed", ["one", "two", "three", "four"]);
});

test("who had a list open hears that the server was restored, and gets back what is gone", options, async () => {
  await ada.open(stage.page(stage.list("restored", "one", "two")));
  await ada.hears(/^saved$/);
  const backup = join(stage.folder, "backup");
  stage.run(["backup", backup, "--data", stage.data]);
  await ada.add("after the backup");
  await ada.hears(/^saved$/);
  await stage.kill();
  stage.run(["recover", "--replace", backup, "--data", stage.data]);
  await stage.restart();
  await ada.sees("one", "two");
  await ada.reads(/it was restored from a backup\. Gone with that: 1 item\./);
  await ada.choose("Get it back");
  await ada.composes("after the backup");
  await browser.press([KEYS.enter]);
  await stage.has("restored", ["one", "two", "after the backup"]);
});

test("another tab's edits of a list that is gone are no reason to wait", options, async () => {
  stage.list("fine", "x");
  await ada.open(stage.page(stage.list("lost", "a")));
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/offline|connecting/);
  await ada.add("b");
  stage.run(["delete", "lost", "--force"]);
  stage.front.mend();
  await ada.hears(/^saved, but not 1 edit of “lost”$/);
  const eva = new Person(browser, await browser.newTab(stage.page("fine")));
  await eva.sees("x");
  await eva.hears(/^saved, but not 1 edit of another tab$/);
  await browser.closeTab();
  await ada.here();
});
