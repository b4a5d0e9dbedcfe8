// Items that go to another list: nothing goes here before it is there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, KEYS, until } from "./browser.mjs";
import { Person, Stage, skip } from "./stage.mjs";

const options = { skip, timeout: 60_000 };
let stage, browser, ada;

before(async () => {
  if (skip) return;
  stage = await Stage.start();
  browser = await Browser.chromium();
  ada = new Person(browser, await browser.tab);
});

after(async () => {
  await browser?.close();
  await stage?.close();
});

/** Sends the last item to a list. */
async function send(list) {
  await browser.run(() => [...document.querySelectorAll(".row")].pop().focus());
  await browser.press(["m"]);
  await until(() => browser.run(() => document.querySelector("#answer") !== null), "the question is there");
  await browser.type("#answer", list + KEYS.enter);
}

test("an item goes to another list, and stays if that one is full", options, async () => {
  stage.list("here", "one", "two");
  stage.list("there");
  stage.run(["create", "full", "--max-items", "1"]);
  stage.run(["add", "-l", "full", "only"]);
  await ada.open(stage.page("here"), "Ada");
  await ada.sees("one", "two");
  await send("there");
  await stage.has("there", ["two"]);
  await stage.has("here", ["one"]);
  await send("full");
  await ada.reads(/has not taken the items/);
  assert.deepEqual([stage.texts("here"), stage.texts("full")], [["one"], ["only"]]);
});
