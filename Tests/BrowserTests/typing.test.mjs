// Typing while others type: input methods, awkward characters, items that vanish, and the way back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Other, Person, ada, begin, browser, stage } from "./stage.mjs";

const options = begin();

/** A list that Ada has open, with somebody else on it. */
async function together(t, name, ...texts) {
  stage.run(["create", name]);
  const other = new Other(stage, name);
  t.after(() => other.close());
  await other.quiet();
  for (const text of texts) await other.add(text);
  await ada.goTo(stage.page(name));
  await ada.hears(/^saved$/);
  await until(async () => (await ada.texts()).length === texts.length, "the rows are there");
  return other;
}

/** Opens the field of a row by its number, and puts the caret somewhere. */
async function open(row, caret) {
  await browser.run(row => document.querySelectorAll(".row")[row].focus(), row);
  await browser.press(["e"]);
  await until(() => browser.run(() => document.activeElement.matches("textarea.field")), "the field is open");
  if (caret !== undefined) await browser.run(caret => document.activeElement.setSelectionRange(caret, caret), caret);
}

test("others change the text in front of the caret, around it and behind it", options, async t => {
  const other = await together(t, "around", "one two three");
  await open(0, 7);
  await browser.press([..." and"]);
  await other.change(0, "zero one two three");
  await ada.types("zero one two and three");
  assert.deepEqual((await ada.field()).caret, [16, 16]);
  await other.change(0, "zero one two three four");
  await ada.types("zero one two and three four");
  assert.deepEqual((await ada.field()).caret, [16, 16]);
  // At the caret itself, both texts stay.
  await other.change(0, "zero one two or three four");
  await until(async () => /and/.test((await ada.field()).value) && /or/.test((await ada.field()).value));
  await browser.press([..."x"]);
  const { value } = await ada.field();
  assert.match(value, /andx/);
  await browser.press([KEYS.enter]);
  await stage.has("around", [value]);
  // A selection stays on its characters, with its direction.
  await open(0);
  await browser.run(() => document.activeElement.setSelectionRange(5, 8, "backward"));
  await other.change(0, `nil ${value}`);
  await ada.types(`nil ${value}`);
  assert.deepEqual(
    await browser.run(() => [
      document.activeElement.selectionStart, document.activeElement.selectionEnd,
      document.activeElement.selectionDirection,
    ]),
    [9, 12, "backward"],
  );
  await browser.press([KEYS.escape]);
});

test("others' changes wait while an input method composes", options, async t => {
  const other = await together(t, "composed", "hello world", "next");
  await open(0, 11);
  await browser.cdp("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await browser.cdp("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
  await ada.types("hello worldにほん");
  await other.change(0, "oh, hello, world");
  await other.change(1, "next one");
  await pause(300);
  assert.equal((await ada.field()).value, "hello worldにほん");
  // Enter is the input method's: nothing is saved, and nothing is added.
  await browser.cdp("Input.dispatchKeyEvent", {
    type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 229,
  });
  await browser.cdp("Input.dispatchKeyEvent", {
    type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13,
  });
  assert.equal((await ada.field()).value, "hello worldにほん");
  await browser.cdp("Input.insertText", { text: "日本" });
  await ada.types("oh, hello, world日本");
  await browser.press([..."!", KEYS.enter]);
  await stage.has("composed", ["oh, hello, world日本!", "next one"]);
});

test("others change the very word that is composed", options, async t => {
  const other = await together(t, "word", "ab cd");
  await open(0, 2);
  await browser.cdp("Input.imeSetComposition", { text: "ん", selectionStart: 1, selectionEnd: 1 });
  await other.change(0, "xy cd");
  await pause(200);
  await browser.cdp("Input.insertText", { text: "ん" });
  await until(async () => /xy/.test((await ada.field()).value));
  assert.match((await ada.field()).value, /ん/);
  await browser.press([KEYS.enter]);
  await until(async () => /ん/.test((await stage.texts("word"))[0]));
  assert.match((await stage.texts("word"))[0], /xy.* cd$/);
});

test("rows wait while an input method composes in one of them", options, async t => {
  const other = await together(t, "waiting", "hello", "next");
  await open(0, 5);
  await browser.cdp("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await ada.types("helloに");
  await other.move(0, 2);
  await pause(300);
  await browser.cdp("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  await ada.types("helloにほ");
  await browser.cdp("Input.insertText", { text: "日本" });
  await ada.types("hello日本");
  await ada.sees("next", "hello日本");
  await browser.cdp("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await other.delete(1);
  await pause(300);
  await browser.cdp("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  await ada.types("hello日本にほ");
  await browser.cdp("Input.insertText", { text: "語" });
  await ada.sees("next");
  await ada.composes("hello日本語");
});

test("an item that is deleted while its field is left in the middle of a word leaves the words", options, async t => {
  const other = await together(t, "left", "hello", "next");
  await open(0, 5);
  await browser.cdp("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await other.delete(0);
  await pause(300);
  await browser.click("h1");
  await ada.sees("next");
  await ada.composes("helloに");
});

test("a composition in the line for new items, with Enter in it, adds nothing", options, async t => {
  await together(t, "composer");
  await browser.click("#composer");
  await browser.cdp("Input.imeSetComposition", { text: "ぎゅ", selectionStart: 2, selectionEnd: 2 });
  await browser.cdp("Input.dispatchKeyEvent", {
    type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 229,
  });
  await browser.cdp("Input.insertText", { text: "牛乳" });
  await pause(200);
  assert.deepEqual(await stage.texts("composer"), []);
  await browser.press([KEYS.enter]);
  await stage.has("composer", ["牛乳"]);
});

test("a touch screen has keys for another line and for leaving a text as it was", options, async t => {
  await together(t, "touched", "one");
  const keys = () => browser.run(() => document.querySelector(".keys")?.checkVisibility() ?? false);
  await open(0);
  assert.equal(await keys(), false);
  await browser.press([KEYS.escape]);
  await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true });
  t.after(() => browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: false }));
  await open(0);
  assert.equal(await keys(), true);
  await browser.click(".keys [aria-label='New line']");
  await browser.press([..."two"]);
  await ada.types("one\ntwo");
  await browser.press([KEYS.enter]);
  await stage.has("touched", ["one\ntwo"]);
  await open(0);
  await browser.press([..."three"]);
  await browser.click(".keys [aria-label='Cancel']");
  await until(() => browser.run(() => !document.querySelector("textarea.field")), "the field is gone");
  await pause(200);
  await stage.has("touched", ["one\ntwo"]);
});

test("one letter in an awkward text changes nothing else of it", options, async t => {
  const awkward = "a\r\nb\rc\nd\0e\u202Ef👨‍👩‍👧g\u0301\uFEFFh\u2028i";
  const other = await together(t, "awkward", awkward);
  assert.deepEqual(await stage.texts("awkward"), [awkward]);
  await open(0);
  await browser.press(["x"]);
  await browser.press([KEYS.enter]);
  await stage.has("awkward", [awkward + "x"]);
  // Behind the first line break, which is one place in the field, and two characters.
  await open(0, 2);
  await browser.press(["y", KEYS.enter]);
  const second = awkward.replace("\r\n", "\r\ny") + "x";
  await stage.has("awkward", [second]);
  // Somebody else changes it while it is edited.
  await open(0, 1);
  await browser.press(["z"]);
  await other.change(0, second + "\r\nend");
  await until(async () => (await ada.field()).value.endsWith("end"));
  await browser.press([KEYS.backspace, "w", KEYS.enter]);
  await stage.has("awkward", ["aw" + second.slice(1) + "\r\nend"]);
  // A family is one character to people, and several to everybody else.
  await open(0);
  const family = (await ada.field()).value.indexOf("👨‍👩‍👧");
  await browser.run(caret => document.activeElement.setSelectionRange(caret, caret), family + "👨‍👩‍👧".length);
  await browser.cdp("Input.insertText", { text: "👍" });
  await browser.press([KEYS.enter]);
  await until(async () => (await stage.texts("awkward"))[0].includes("👨‍👩‍👧👍g"));
});

test("a text that is too long for an item is refused when it is pasted", options, async t => {
  await together(t, "long", "tea");
  await open(0);
  assert.equal(await ada.pastes("textarea.field", "word ".repeat(4_000)), false);
  await until(async () => /^The text is too long: it has 20,000 bytes, and the list takes 16,384\./
    .test(await ada.toast()), "one is told");
  assert.equal(await ada.pastes("textarea.field", "x".repeat(16_384)), true);
  // Together they would be: the field stays, and its words.
  await browser.press([..." or coffee"]);
  await browser.cdp("Input.insertText", { text: "x".repeat(16_384) });
  await browser.press([KEYS.enter]);
  await until(async () => /it has 16,397 bytes, and the list takes 16,384\.$/.test(await ada.toast()), "one is told");
  await browser.run(() => document.activeElement.setSelectionRange(13, 13 + 16_384));
  await browser.press([KEYS.backspace, KEYS.enter]);
  await stage.has("long", ["tea or coffee"]);
});

test("an item that is deleted while it is edited leaves the words", options, async t => {
  const other = await together(t, "deleted", "one", "two", "three");
  await open(1);
  await browser.press([..." halves"]);
  await other.delete(1);
  await ada.reads(/The item you were editing was deleted/);
  await ada.composes("two halves");
  await ada.sees("one", "three");
  await browser.press([KEYS.enter]);
  await stage.has("deleted", ["one", "three", "two halves"]);
});

test("an item that is deleted before a word was typed just goes, and half an item stays", options, async t => {
  const other = await together(t, "untyped", "one", "two");
  await ada.browser.type("#composer", "half");
  await open(1);
  await other.delete(1);
  await ada.sees("one");
  // Until then, keys count as those for the field that has gone.
  await pause(1600);
  await open(0);
  await browser.press([..." word"]);
  await other.delete(0);
  await ada.reads(/The item you were editing was deleted/);
  await ada.composes("half\none word");
});

test("what is typed for a new item outlives another screen and a reload, until it is added", options, async t => {
  await together(t, "again", "one");
  await browser.type("#composer", "half");
  // At once, before the letters are kept.
  await browser.run(() => (location.hash = ""));
  await until(() => browser.run(() => document.querySelector("#composer") === null), "the lists are there");
  await browser.run(() => history.back());
  await ada.composes("half");
  await browser.type("#composer", " a word");
  await browser.reload();
  await ada.composes("half a word");
  await browser.type("#composer", KEYS.enter);
  await browser.reload();
  await ada.sees("one", "half a word");
  await ada.composes("");
});

test("the list stays where it is while one types in the line at the bottom", options, async () => {
  stage.run(["create", "still"]);
  const items = Array.from({ length: 200 }, (_, i) => `- [ ] item ${i}\n`);
  stage.run(["import", "-l", "still", "-"], { input: items.join("") });
  await ada.goTo(stage.page("still"));
  await until(async () => (await ada.texts()).length === 200, "the rows are there");
  await browser.run(() => document.querySelector("#composer").focus({ preventScroll: true }));
  await browser.run(() => scrollTo(0, 3000));
  await pause(200);
  const before = await browser.run(() => scrollY);
  await browser.press([..."milk"]);
  await pause(200);
  assert.equal(await browser.run(() => document.activeElement.value), "milk");
  assert.equal(await browser.run(() => scrollY), before);
});

test("an item that moves while it is edited keeps its field and the caret", options, async t => {
  const other = await together(t, "moved", "one", "two", "three");
  await open(0, 1);
  await browser.press(["x"]);
  await other.move(0, 3);
  await until(async () => (await ada.texts())[2] === "oxne", "the row has moved");
  assert.deepEqual((await ada.field()).caret, [2, 2]);
  await browser.press(["y", KEYS.enter]);
  await stage.has("moved", ["two", "three", "oxyne"]);
});

test("the button for undo takes back what is being typed in a row, and no older edit", options, async t => {
  await together(t, "button", "one", "two");
  await browser.click(".row:nth-of-type(1) input[type=checkbox]");
  await until(() => browser.run(() => document.querySelector(".row").classList.contains("done")), "one is ticked");
  await open(1, 3);
  await browser.press([..." more"]);
  await browser.click("button[aria-label=Undo]");
  await ada.sees("one", "two");
  assert.equal(await browser.run(() => document.querySelector(".row").classList.contains("done")), true);
  await browser.click("button[aria-label=Redo]");
  await ada.sees("one", "two more");
  await stage.has("button", ["one", "two more"]);
});

test("a list of which nothing is shown says why, and shows all again", options, async t => {
  await together(t, "hidden", "one");
  await browser.run(() => document.querySelector(".row").focus());
  await browser.press(["s"]);
  await browser.press([" "]);
  await until(() => browser.run(() => /^Everything is ticked/.test(document.querySelector(".empty").textContent)));
  await browser.click(".empty button");
  await ada.sees("one");
});

test("undo in a field is the field's, and takes back nothing of others", options, async t => {
  const other = await together(t, "undone", "one", "two");
  await open(0);
  await browser.press([..." mine"]);
  await other.change(0, "one, others'");
  await until(async () => /others/.test((await ada.field()).value));
  await browser.press(["z"], KEYS.control);
  await ada.types("one, others'");
  await browser.press(["y"], KEYS.control);
  await until(async () => /mine/.test((await ada.field()).value));
  await browser.press(["z"], KEYS.control);
  await ada.types("one, others'");
  await browser.press([KEYS.enter]);
  await ada.press("two", [" "]);
  await until(async () => (await stage.items("undone"))[1].done);
  await browser.press(["z"], KEYS.control);
  await until(async () => !(await stage.items("undone"))[1].done);
  assert.deepEqual(await stage.texts("undone"), ["one, others'", "two"]);
});

/** As if the system killed the page: it is not told. */
const unaware = () => {
  for (const name of ["visibilitychange", "pagehide", "blur", "beforeunload"]) {
    addEventListener(name, event => event.stopImmediatePropagation(), true);
  }
};

test("a text that is being typed survives the end of the page, and goes on where it was", options, async t => {
  const other = await together(t, "drafts", "one", "two");
  await open(0);
  await browser.press([..." and more"]);
  await browser.run(unaware);
  await browser.reload();
  await other.change(0, "number one");
  await until(() => browser.run(() => document.activeElement.matches("textarea.field")), "the field is open again");
  await ada.types("number one and more");
  // A line break, too, if that was the last key.
  await browser.press([KEYS.end, "!"]);
  await browser.press([KEYS.enter], KEYS.shift);
  await browser.run(unaware);
  await browser.reload();
  await until(() => browser.run(() => document.activeElement.matches("textarea.field")), "the field is open again");
  await ada.types("number one and more!\n");
  await browser.press([KEYS.backspace, KEYS.enter]);
  await stage.has("drafts", ["number one and more!", "two"]);
  // Its item may be gone meanwhile.
  await open(1);
  await browser.press([..." words"]);
  await browser.run(unaware);
  stage.front.cut();
  await ada.hears(/^offline/);
  await other.delete(1);
  stage.front.mend();
  await browser.reload();
  await ada.composes("two words");
  await browser.press([KEYS.enter]);
  await stage.has("drafts", ["number one and more!", "two words"]);
  // The line for new items keeps its words, too.
  await browser.type("#composer", "half an item");
  await pause(300);
  await browser.reload();
  await ada.composes("half an item");
});

test("a text that is being typed when the page is hidden or closed is saved", options, async t => {
  const other = await together(t, "leaving", "one", "two");
  await open(0);
  await browser.press([..." word"]);
  const hide = isHidden => browser.run(isHidden => {
    Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
  await hide(true);
  await stage.has("leaving", ["one word", "two"]);
  // The field is still there, and goes on.
  await hide(false);
  await ada.types("one word");
  await other.change(0, "one last word");
  await ada.types("one last word");
  await browser.press(["s", KEYS.enter]);
  await stage.has("leaving", ["one last words", "two"]);
  const tab = new Person(browser, await browser.newWindow());
  await tab.open(stage.page("leaving"));
  await tab.sees("one last words", "two");
  await open(1);
  await browser.press([..." more"]);
  await browser.reload();
  await tab.sees("one last words", "two more");
  await open(0);
  await browser.press([..." again"]);
  await browser.closeTab();
  await ada.here();
  await stage.has("leaving", ["one last words again", "two more"], 5000)
    .catch(() => browser.run(() => dispatchEvent(new Event("online"))));
  await stage.has("leaving", ["one last words again", "two more"]);
});

test("a text that is being edited in one tab is nobody's draft in another", options, async t => {
  await together(t, "tabs", "one");
  await open(0);
  await browser.press([..." more"]);
  const tab = new Person(browser, await browser.newWindow());
  await tab.open(stage.page("tabs"));
  await tab.sees("one");
  await open(0);
  assert.equal((await tab.field()).value, "one");
  await browser.press([..." word", KEYS.enter]);
  await ada.here();
  await until(async () => /word/.test((await ada.field()).value));
  await browser.press([KEYS.enter]);
  await until(async () => /more/.test((await stage.texts("tabs"))[0]));
  const [text] = await stage.texts("tabs");
  assert.deepEqual(text.split(" ").sort(), ["more", "one", "word"]);
  await tab.here();
  await browser.closeTab();
  await ada.here();
});
