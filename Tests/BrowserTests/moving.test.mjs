// Items that go to another list: nothing goes here before it is there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, until } from "./browser.mjs";
import { ada, begin, browser, stage } from "./stage.mjs";

const options = begin();

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
  assert.deepEqual([await stage.texts("here"), await stage.texts("full")], [["one"], ["only"]]);
});
