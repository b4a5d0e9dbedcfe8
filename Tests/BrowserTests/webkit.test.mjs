// The core of what people do, in WebKit: the engine of every browser on an iPhone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, KEYS, noWebKit, until } from "./browser.mjs";
import { Other, ada, begin, browser, noProgram, stage } from "./stage.mjs";

const options = begin(() => Browser.webKit(), noProgram || noWebKit);

test("WebKit: a list is edited, and others' edits come", options, async t => {
  await ada.open(stage.page(stage.list("webkit", "one", "two", "three")));
  await ada.sees("one", "two", "three");
  const other = new Other(stage, "webkit");
  t.after(() => other.close());
  await other.quiet();
  await ada.add("four");
  await ada.edit("two");
  await browser.press([..." and more"]);
  await other.change(1, "number two");
  await ada.types("number two and more");
  await browser.press([KEYS.enter]);
  await ada.press("one", [" "]);
  await ada.press("three", ["K"]);
  await ada.sees("one", "three", "number two and more", "four");
  await ada.press("four", ["d"]);
  await ada.choose("Undo");
  await ada.sees("one", "three", "number two and more", "four");
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("webkit")).map(({ text, done }) => [text, done]), [
    ["one", true], ["three", false], ["number two and more", false], ["four", false],
  ]);
});

test("WebKit: an awkward text stays as it is", options, async t => {
  const awkward = "a\r\nb\rc\nd\0e\u202Ef👨‍👩‍👧";
  stage.run(["create", "awkward"]);
  const other = new Other(stage, "awkward");
  t.after(() => other.close());
  await other.quiet();
  await other.add(awkward);
  await ada.open(stage.page("awkward"));
  await until(() => browser.run(() => document.querySelector(".row") !== null));
  await browser.run(() => document.querySelector(".row").focus());
  await browser.press(["e"]);
  await until(() => browser.run(() => document.activeElement.matches("textarea.field")));
  await browser.press(["x", KEYS.enter]);
  await stage.has("awkward", [awkward + "x"]);
});

test("WebKit: edits outlive the connection and the page, and come once", options, async () => {
  await ada.open(stage.page(stage.list("outlived", "one")));
  await ada.sees("one");
  await ada.hears(/^saved$/);
  await stage.kill();
  await ada.hears(/^offline/);
  await ada.add("two");
  await ada.hears(/1 edit kept on this device/);
  await stage.restart();
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("three");
  await ada.hears(/1 edit kept on this device/);
  await browser.open("about:blank");
  stage.front.mend();
  await ada.open(stage.page("outlived"));
  await stage.has("outlived", ["one", "two", "three"]);
  await ada.sees("one", "two", "three");
  await ada.hears(/^saved$/);
});
