// What people do with a list on the page, alone and together.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Person, Terminal, ada, begin, browser, stage } from "./stage.mjs";

const options = begin();

test("a name is asked for once, a list is made, and items come to it", options, async () => {
  await ada.open(stage.page(), "Ada");
  await ada.hears(/saved/);
  const modules = await browser.run(() => performance.getEntriesByType("resource").filter(({ name }) =>
    name.endsWith(".js")).map(({ encodedBodySize, decodedBodySize }) => encodedBodySize / decodedBodySize));
  const areSmall = modules.length > 50 && modules.every(ratio => ratio < 0.9);
  assert.ok(areSmall || process.env.HAND_PAGE, "the modules come compressed");
  await ada.choose("New list");
  await browser.type("#answer", "groceries" + KEYS.enter);
  await until(() => browser.run(() => location.hash === "#list=groceries"));
  await ada.reads(/The list is empty/);
  await ada.add("milk");
  await ada.add("# Bread");
  await ada.sees("milk", "Bread");
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("groceries")).map(({ kind, text }) => [kind, text]), [
    ["task", "milk"], ["heading", "Bread"],
  ]);
  await browser.reload();
  await ada.sees("milk", "Bread");
});

test("a list with a decomposed name is begun, and an item is of the kind beside it", options, async () => {
  await ada.open(stage.page());
  await ada.choose("New list");
  await browser.type("#answer", "Ka\u0308se" + KEYS.enter);
  await until(() => browser.run(() => location.hash === "#list=K%C3%A4se" && document.activeElement.id === "composer"));
  stage.run(["add", "-l", "K\u00e4se", "brie"]);
  stage.run(["add", "-l", "K\u00e4se", "--note", "a note"]);
  await ada.sees("brie", "a note");
  await ada.press("brie", ["o"]);
  await browser.press([..."feta", KEYS.enter, KEYS.escape]);
  await ada.sees("brie", "feta", "a note");
  await until(async () => (await stage.items("K\u00e4se")).map(({ kind }) => kind).join() === "task,task,note");
  // What is said of the filter goes with it.
  await browser.type("input[type=search]", "brie");
  await ada.sees("brie");
  // The letters of an input method are its own.
  await browser.run(() => {
    const search = document.querySelector("input[type=search]");
    for (const key of ["Escape", "Enter"]) {
      search.dispatchEvent(new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true }));
    }
  });
  assert.deepEqual(await browser.run(() => [document.activeElement.type, document.activeElement.value]), [
    "search", "brie",
  ]);
  await ada.press("brie", ["a"]);
  await browser.press([..."tea", KEYS.enter, KEYS.escape]);
  await until(async () => /filtered out/.test(await ada.toast()));
  await browser.press([KEYS.escape]);
  await ada.sees("brie", "feta", "a note", "tea");
  await until(() => browser.run(() => document.querySelector(".toast").hidden), "nothing is said any more");
  // A file is no item, whatever was copied before.
  await ada.press("tea", ["y"]);
  await browser.run(() => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(["x"], "x.png", { type: "image/png" }));
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  });
  await ada.press("tea", ["H"]);
  await until(() => browser.run(() => document.querySelector(".history li")));
  await browser.press(["q"]);
  await ada.sees("brie", "feta", "a note", "tea");
});

test("a list with a deck takes what one types, unless it takes only cards", options, async () => {
  for (const [name, ...rules] of [["deck"], ["cards", "--kinds", "card"]]) {
    stage.run(["create", name, "--deck", ...rules]);
    stage.run(["deal", "-l", name]);
    await ada.goTo(stage.page(name));
    await until(() => browser.run(() => document.querySelectorAll(".row").length === 1), "the card is there");
    await browser.click(".row");
    await browser.press(["a"]);
    if (rules.length > 0) assert.match(await ada.toast(), /only cards/);
    else await ada.add("bet 5");
  }
  await stage.has("deck", [(await stage.texts("deck"))[0], "bet 5"]);
});

test("the address of a link is edited by the menu and by its key", options, async () => {
  stage.run(["create", "links"]);
  stage.run(["add", "-l", "links", "--link", "https://example.org/soup", "Soup"]);
  stage.run(["add", "-l", "links", "bread"]);
  await ada.goTo(stage.page("links"));
  await ada.sees("Souphttps://example.org/soup", "bread");
  await ada.press("bread", ["E"]);
  await ada.reads(/Only a link has an address/);
  await ada.press("Souphttps://example.org/soup", ["l"]);
  await ada.choose("Edit the address…");
  await until(() => browser.run(() => document.activeElement?.id === "answer"), "the question is there");
  stage.run(["edit", "-l", "links", "1", "--link", "https://example.com/soup"]);
  await ada.sees("Souphttps://example.com/soup", "bread");
  await browser.press(["s", KEYS.enter]);
  await ada.reads(/Somebody has changed it to https:\/\/example\.com\/soup meanwhile\. Save puts yours there\./);
  await browser.press([KEYS.enter]);
  await ada.sees("Souphttps://example.org/soups", "bread");
  await ada.press("bread", ["u"]);
  await ada.sees("Souphttps://example.com/soup", "bread");
  for (const [typed, shown] of [["javascript:alert(1)"], ["no address"], ["example.net", "https://example.net"]]) {
    await ada.press("Souphttps://example.com/soup", ["E"]);
    await until(() => browser.run(() => document.activeElement?.id === "answer"), "the question is there");
    await browser.run(() => document.activeElement.select());
    await browser.press([...typed, KEYS.enter]);
    if (shown) await ada.sees(`Soup${shown}`, "bread");
    else await ada.reads(/An address begins with/);
    assert.equal(await browser.run(() => document.querySelector("#answer")?.value ?? null), shown ? null : typed);
    await browser.run(() => document.querySelectorAll("dialog").forEach(dialog => dialog.close()));
  }
});

test("several lines are several items, with their levels", options, async () => {
  await ada.goTo(stage.page(stage.list("lines")));
  await ada.hears(/saved/);
  await browser.run(() => {
    const composer = document.querySelector("#composer");
    composer.focus();
    composer.value = "- [ ] fruit\n  - [x] apples\n  - [ ] pears\n\n* a note\nhttps://example.org/x\r\n\tdeep";
    composer.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
  });
  await browser.press([KEYS.enter]);
  await stage.has("lines", ["fruit", "apples", "pears", "a note", "https://example.org/x", "deep"]);
  assert.deepEqual((await stage.items("lines")).map(({ level, done }) => [level, done === true]), [
    [0, false], [1, true], [1, false], [0, false], [0, false], [1, false],
  ]);
  assert.equal(await browser.run(() => document.querySelector(".row a").href), "https://example.org/x");
});

test("texts are edited in their places, ticked, deleted and brought back", options, async () => {
  await ada.goTo(stage.page(stage.list("edits", "one", "two", "three")));
  await ada.sees("one", "two", "three");
  await ada.edit("two");
  await browser.press([..." and a half", KEYS.enter]);
  await stage.has("edits", ["one", "two and a half", "three"]);
  await ada.press("one", [" "]);
  await until(async () => (await stage.items("edits"))[0].done);
  await ada.here();
  const [x, y] = await ada.place(".row input", "three");
  await browser.drag([[x, y]]);
  await until(async () => (await stage.items("edits"))[2].done);
  await ada.press("three", ["d"]);
  await stage.has("edits", ["one", "two and a half"]);
  await ada.sees("one", "two and a half");
  await ada.choose("Undo");
  await stage.has("edits", ["one", "two and a half", "three"]);
  await ada.press("one", ["U"]);
  await stage.has("edits", ["one", "two and a half"]);
  await ada.press("one", ["u"]);
  await ada.sees("one", "two and a half", "three");
  // Escape leaves the text as it was.
  await ada.edit("one");
  await browser.press([..." and more", KEYS.escape]);
  await ada.sees("one", "two and a half", "three");
  await ada.hears(/^saved$/);
  assert.deepEqual(await stage.texts("edits"), ["one", "two and a half", "three"]);
});

test("what was done before a reload is undone and redone, and what others did stays", options, async () => {
  await ada.open(stage.page(stage.list("again", "milk", "bread")));
  await ada.sees("milk", "bread");
  await ada.press("milk", [" "]);
  await ada.add("tea");
  await ada.sees("milk", "bread", "tea");
  await ada.press("tea", ["d"]);
  await stage.has("again", ["milk", "bread"]);
  stage.run(["edit", "-l", "again", "2", "brown bread"]);
  await ada.sees("milk", "brown bread");
  await ada.hears(/^saved$/);
  await browser.reload();
  await ada.sees("milk", "brown bread");
  await ada.hears(/^saved$/);
  // One key after the other, as fast as one can press them.
  await ada.press("milk", ["u", "u"]);
  await ada.sees("milk", "brown bread");
  await until(async () => (await ada.toast()) === "Undone: added “tea”.");
  await ada.press("milk", ["u"]);
  await until(async () => (await ada.toast()) === "Undone: ticked “milk”.");
  await until(async () => !(await stage.items("again"))[0].done);
  await ada.press("milk", ["u"]);
  await until(async () => (await ada.toast()) === "Nothing of yours is left to undo.");
  await ada.hears(/^saved$/);
  await browser.reload();
  await ada.sees("milk", "brown bread");
  await ada.hears(/^saved$/);
  await browser.click("[aria-label=Redo]");
  await until(async () => (await ada.toast()) === "Redone: ticked “milk”.");
  await until(async () => (await stage.items("again"))[0].done);
  await ada.press("milk", ["U"]);
  await ada.sees("milk", "brown bread", "tea");
  await ada.press("milk", ["U"]);
  await stage.has("again", ["milk", "brown bread"]);
  await ada.press("milk", ["U"]);
  await until(async () => (await ada.toast()) === "Nothing of yours is left to redo.");
  // Without the server, the older edits are not known.
  await ada.hears(/^saved$/);
  await browser.reload();
  await ada.sees("milk", "brown bread");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/offline/);
  await ada.press("milk", ["u"]);
  const words = "Nothing of yours is left to undo on this device; older edits need the server.";
  await until(async () => (await ada.toast()) === words);
  stage.front.mend();
});

test("an item comes back with what somebody wrote before its deletion arrived", options, async () => {
  await ada.open(stage.page(stage.list("met", "milk", "bread")));
  await ada.sees("milk", "bread");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/offline/);
  await ada.press("milk", ["d"]);
  await ada.sees("bread");
  stage.run(["edit", "-l", "met", "1", "oat milk"]);
  stage.front.mend();
  await stage.has("met", ["bread"]);
  await ada.hears(/^saved$/);
  await ada.press("bread", ["u"]);
  await stage.has("met", ["oat milk", "bread"]);
  // That was the undo of the deletion, not an edit of its own.
  await ada.press("bread", ["U"]);
  await stage.has("met", ["bread"]);
});

test("a text with too many lines is refused as a whole, and one that fits is added", options, async () => {
  await ada.open(stage.page(stage.list("lots")));
  await ada.hears(/saved/);
  await browser.type("#composer", "and ");
  const paste = count => ada.pastes("#composer", Array.from({ length: count }, (_, i) => `line ${i}`).join("\n"));
  await paste(200_000);
  const words = /^The edit has about \d+ bytes; at most 4194304 can be sent as one\. Divide it\.$/;
  await until(async () => words.test(await ada.toast()), "one is told");
  await ada.composes("and ");
  await ada.reads(/The list is empty/);
  await paste(20_000);
  await ada.reads(/20,000 items/);
  await ada.hears(/^saved$/);
  await ada.composes("");
  assert.match(stage.run(["ls", "-l", "lots", "1"]), /and line 0/);
  // What the server does not take comes back: to where one writes, or as a file.
  stage.run(["create", "few", "--max-items", "1"]);
  await ada.open(stage.page("few"));
  await ada.hears(/saved/);
  await browser.run(() => (document.querySelector("#composer").value = "one\ntwo"));
  await browser.type("#composer", KEYS.enter);
  await ada.choose("Get it back");
  await ada.composes("one\ntwo");
  await paste(20_000);
  await ada.reads(/the list is full/);
  await browser.run(() => {
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = blob => make(blob, window.saved = blob.size);
  });
  await ada.choose("Get it back");
  await until(() => browser.run(() => window.saved > 200_000), "the words are saved");
});

test("a refused edit is told with its words, which come back once", options, async () => {
  stage.run(["create", "once", "--max-items", "1"]);
  stage.run(["add", "-l", "once", "one"]);
  await ada.open(stage.page("once"));
  await ada.sees("one");
  await ada.add("words");
  await ada.reads(/Your edit was not taken: the list is full: it takes 1 item \(“words”\)\./);
  for (let i = 0; i < 2; i++) {
    await ada.press("one", ["!"]);
    await ada.choose("Get it back");
    await ada.composes("words");
    await until(() => browser.run(() => document.querySelector(".notice").hidden), "the notice is gone");
  }
});

test("what the server refuses to undo is not said to be undone", options, async () => {
  stage.run(["create", "instead", "--max-items", "1"]);
  stage.run(["add", "-l", "instead", "one"]);
  await ada.open(stage.page("instead"));
  await ada.sees("one");
  await ada.press("one", ["d"]);
  await stage.has("instead", []);
  stage.run(["add", "-l", "instead", "another"]);
  await ada.sees("another");
  await ada.press("another", ["u"]);
  await ada.reads(/Your edit was not taken: the list is full/);
  assert.equal(await ada.toast(), "");
});

test("a short message does not cover what is being typed, however long the list is", options, async () => {
  await ada.open(stage.page(stage.list("covered", ...Array.from({ length: 16 }, (_, i) => `item ${i}`))));
  await ada.hears(/^saved$/);
  const phone = { width: 390, height: 844, deviceScaleFactor: 1, mobile: true };
  await browser.cdp("Emulation.setDeviceMetricsOverride", phone);
  let near = 0;
  for (let i = 15; i > 5; i--) {
    await ada.press(`item ${i}`, ["d"]);
    await until(async () => (await ada.toast()) === `Deleted item ${i}.Undo`, "the message is there");
    const [top, bottom] = await browser.run(() => {
      const [line, toast] = [".composer", ".toast"].map(css => document.querySelector(css).getBoundingClientRect());
      return [toast.bottom - line.top, toast.top - line.bottom];
    });
    assert.ok(top <= 0 || bottom >= 0, `with ${i} items, the message covers the line`);
    if (top <= 0) near++;
  }
  assert.ok(near > 0 && near < 10, "above the line, and below it");
  // What is left of a window above a phone's keyboard, with a text that is edited near the line.
  await browser.cdp("Emulation.setDeviceMetricsOverride", { ...phone, width: 320, height: 300 });
  await ada.press("item 3", ["d"]);
  await ada.edit("item 2");
  await browser.run(() => {
    const { bottom } = document.querySelector(".row:has(.field)").getBoundingClientRect();
    scrollBy(0, bottom - document.querySelector(".composer").getBoundingClientRect().top);
  });
  stage.run(["add", "-l", "covered", "another"]);
  await until(() => browser.run(() => {
    const [row, toast] = [".row:has(.field)", ".toast"].map(css => document.querySelector(css).getBoundingClientRect());
    return toast.height > 0 && (toast.bottom <= row.top || toast.top >= row.bottom);
  }), "the message is beside the row");
  await browser.press([KEYS.escape]);
  await browser.cdp("Emulation.clearDeviceMetricsOverride", {});
});

test("items are moved by keys, by the menu, with the mouse and with a finger", options, async () => {
  await ada.goTo(stage.page(stage.list("moves", "a", "b", "c", "d", "e")));
  await ada.sees("a", "b", "c", "d", "e");
  await ada.press("a", ["J"]);
  await ada.sees("b", "a", "c", "d", "e");
  // The focus goes along.
  await browser.press(["J"]);
  await ada.sees("b", "c", "a", "d", "e");
  await browser.press(["K"]);
  await browser.press([KEYS.up], KEYS.alt);
  await ada.sees("a", "b", "c", "d", "e");
  await browser.press([KEYS.down], KEYS.alt);
  await ada.sees("b", "a", "c", "d", "e");
  await stage.has("moves", ["b", "a", "c", "d", "e"]);
  await ada.here();
  await ada.press("b", [KEYS.enter]);
  await ada.choose("Move to…");
  await browser.type("#answer", "4" + KEYS.enter);
  await ada.sees("a", "c", "d", "b", "e");
  for (const [kind, expected] of [["mouse", ["c", "d", "a", "b", "e"]], ["touch", ["d", "c", "a", "b", "e"]]]) {
    const first = (await ada.texts())[0];
    const [x, y] = await ada.place(".grip", first);
    const [, target, height] = await ada.place(".row", kind === "mouse" ? "d" : "d");
    await browser.drag([[x, y], [x + 2, y + 20], [x + 2, target + height / 2 - 4]], kind);
    await ada.sees(...expected);
  }
  await stage.has("moves", ["d", "c", "a", "b", "e"]);
});

test("somebody moves and deletes rows while one is dragged", options, async () => {
  await ada.goTo(stage.page(stage.list("dragged", "a", "b", "c", "d")));
  await ada.sees("a", "b", "c", "d");
  const [x, y] = await ada.place(".grip", "a");
  const [, target] = await ada.place(".row", "c");
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, target + 8]]);
  stage.run(["mv", "-l", "dragged", "4", "--top"]);
  stage.run(["rm", "-l", "dragged", "3"]);
  await ada.sees("d", "a", "c");
  await browser.pointer([["up"]]);
  await stage.has("dragged", ["d", "c", "a"]);
});

test("a key is for the item that has the focus, also if others have just changed the list", options, async () => {
  stage.list("quick", "a", "b", "c");
  await ada.goTo(stage.page("quick"));
  await ada.sees("a", "b", "c");
  await ada.go("b");
  // The page is told of another item, but has not been drawn again.
  await browser.run(() => {
    window.requestAnimationFrame = draw => setTimeout(draw, 700);
    return true;
  });
  stage.run(["edit", "-l", "quick", "3", "c!"]);
  stage.run(["rm", "-l", "quick", "1"]);
  await pause(300);
  await browser.press(["d"]);
  await stage.has("quick", ["c!"]);
  await ada.sees("c!");
});

test("levels, folds, the filter, and what is ticked", options, async () => {
  stage.list("levels");
  stage.run(["import", "-l", "levels", "-"], { input: "- [ ] fruit\n  - [ ] apples\n  - [ ] pears\n- [ ] tea\n" });
  await ada.open(stage.page("levels"));
  await ada.sees("fruit", "apples", "pears", "tea");
  await ada.press("tea", [">"]);
  await until(async () => (await stage.items("levels"))[3].level === 1);
  await ada.press("tea", [KEYS.right], KEYS.alt);
  await until(async () => (await stage.items("levels"))[3].level === 2);
  await ada.press("tea", [KEYS.left], KEYS.alt);
  await ada.press("tea", ["<"]);
  await until(async () => (await stage.items("levels"))[3].level === 0);
  await ada.press("fruit", ["z"]);
  await ada.sees("fruit", "tea");
  await ada.press("fruit", ["J"]);
  await ada.sees("tea", "fruit");
  await ada.press("fruit", ["z"]);
  await ada.sees("tea", "fruit", "apples", "pears");
  await ada.press("apples", [" "]);
  await ada.press("apples", ["s"]);
  await ada.sees("tea", "fruit", "pears");
  await browser.type("input[type=search]", "PEA");
  await ada.sees("pears");
  await browser.press([KEYS.escape]);
  await ada.sees("tea", "fruit", "apples", "pears");
  await ada.hears(/^saved$/);
  assert.deepEqual((await stage.items("levels")).map(({ text, level }) => [text, level]), [
    ["tea", 0], ["fruit", 0], ["apples", 1], ["pears", 1],
  ]);
});

test("how one looks at a list is the same after the history and a reload", options, async () => {
  stage.list("looks");
  stage.run(["import", "-l", "looks", "-"], { input: "- [ ] fruit\n  - [ ] apples\n- [ ] tea\n- [ ] figs\n" });
  await ada.goTo(stage.page("looks"));
  await ada.sees("fruit", "apples", "tea", "figs");
  await ada.press("fruit", ["z"]);
  await ada.sees("fruit", "tea", "figs");
  await ada.press("tea", [" "]);
  await ada.press("fruit", ["s"]);
  await ada.sees("fruit", "figs");
  await browser.type("input[type=search]", "F");
  await ada.sees("fruit", "figs");
  await ada.press("fruit", ["H"]);
  await until(() => browser.run(() => document.querySelector(".history li")));
  await browser.run(() => history.back());
  await ada.sees("fruit", "figs");
  assert.equal(await browser.run(() => document.querySelector("input[type=search]").value), "F");
  await ada.hears(/^saved$/);
  await browser.reload();
  await ada.sees("fruit", "figs");
  // A filter shows what is folded; without it, what was folded is, but for what one has gone to.
  await browser.run(() => {
    const search = document.querySelector("input[type=search]");
    search.value = "appl";
    search.dispatchEvent(new Event("input"));
  });
  await ada.sees("apples");
  await browser.run(() => document.querySelector("input[type=search]").focus());
  await browser.press([KEYS.escape]);
  await ada.sees("fruit", "tea", "figs");
  await browser.type("input[type=search]", "appl");
  await ada.sees("apples");
  await browser.press([KEYS.enter]);
  await browser.press([KEYS.escape]);
  await ada.sees("fruit", "apples", "tea", "figs");
});

test("the history is read, and an old revision comes back", options, async () => {
  stage.list("past", "one", "two");
  stage.run(["edit", "-l", "past", "2", "--level", "1"]);
  stage.run(["rm", "-l", "past", "1"]);
  stage.run(["edit", "-l", "past", "1", "deux"]);
  await ada.goTo(stage.page("past"));
  await ada.sees("deux");
  await ada.press("deux", ["H"]);
  await until(() => browser.run(() => document.querySelectorAll(".history li").length === 4));
  const said = await browser.run(() => {
    const rows = [...document.querySelectorAll(".history .what")];
    return rows.map(({ textContent }) => textContent.replace(/^\S+ /, ""));
  });
  assert.deepEqual([...said.slice(0, 2), said[3]], [
    "“two” became “deux” in “deux”", "deleted “one”, set level 0 in “two”", "added “one” and 1 more",
  ]);
  await browser.click(".history li:nth-last-child(2) button");
  await until(() => browser.run(() =>
    [...document.querySelectorAll("dialog li")].map(({ textContent }) => textContent).join() === "[ ] one,\u2003[ ] two"
  ), "it has levels");
  await browser.press([KEYS.escape]);
  await browser.click(".history li:last-child button");
  await ada.choose("Restore the list to this revision");
  await ada.sees("one", "two");
  await stage.has("past", ["one", "two"]);
  // What an item went through is beside it.
  await ada.press("one", [KEYS.enter]);
  await until(() => browser.run(() => /added/.test(document.querySelector("dialog .past")?.textContent ?? "")));
  await browser.press([KEYS.escape]);
});

test("two pages and a terminal see each other's edits, and who is there", options, async () => {
  stage.list("shared", "milk", "bread");
  await ada.goTo(stage.page("shared"));
  await ada.sees("milk", "bread");
  const bob = new Person(browser, await browser.newWindow());
  await bob.open(stage.page("shared", undefined, "127.0.0.1"), "Bob");
  await bob.sees("milk", "bread");
  const terminal = new Terminal(stage, "shared");
  try {
    await terminal.shows("bread");
    await bob.add("tea from Bob");
    await ada.sees("milk", "bread", "tea from Bob");
    await terminal.shows("tea from Bob");
    terminal.keys("G", "e");
    terminal.keys("-l", " and Carol");
    terminal.keys("Enter");
    await ada.sees("milk", "bread", "tea from Bob and Carol");
    await ada.edit("milk");
    await bob.sees("milk", "bread", "tea from Bob and Carol");
    await until(
      () => browser.run(() => /Ada/.test(document.querySelector(".row .person")?.textContent ?? "")),
      "Bob sees where Ada is",
    );
    await ada.here();
    await until(() => browser.run(() => document.querySelector(".people").textContent === "3 people"));
    await browser.press([...", oat", KEYS.enter]);
    await bob.sees("milk, oat", "bread", "tea from Bob and Carol");
    await terminal.shows("milk, oat");
    // From the history, too, one goes to where somebody is.
    await ada.press("bread", ["H"]);
    await ada.reads(/revision|Added|added/);
    await browser.click(".people");
    await browser.run(
      () => [...document.querySelectorAll("dialog button")].find(({ textContent }) => /tea/.test(textContent)).click(),
    );
    await until(
      () => browser.run(() => /tea/.test(document.activeElement.closest(".row")?.textContent ?? "")),
      "she is there",
    );
    await bob.press("bread", ["d"]);
    await ada.sees("milk, oat", "tea from Bob and Carol");
    // One takes back one's own edits only.
    await ada.press("milk, oat", ["u"]);
    await bob.sees("milk", "tea from Bob and Carol");
    assert.deepEqual(await stage.texts("shared"), ["milk", "tea from Bob and Carol"]);
  } finally {
    terminal.close();
    await bob.here();
    await browser.closeTab();
    await ada.here();
  }
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
  await ada.goTo(stage.page("here"));
  await ada.sees("one", "two");
  await send("there");
  await stage.has("there", ["two"]);
  await stage.has("here", ["one"]);
  await send("here");
  assert.match(await ada.toast(), /are in this list/);
  await send("full");
  await ada.reads(/“full”: Your edit was not taken: the list is full/);
  assert.deepEqual([await stage.texts("here"), await stage.texts("full")], [["one"], ["only"]]);
});

test("the focus stays at a list that is renamed", options, async () => {
  for (const name of ["focus 1", "focus 2", "focus 3"]) stage.list(name);
  await ada.open(stage.page());
  const focused = () =>
    browser.run(() => document.activeElement.closest("li")?.dataset.name ?? document.activeElement.localName);
  const choose = async (name, ...keys) => {
    await until(() => browser.run(name => {
      const row = [...document.querySelectorAll("ul.lists li")].find(li => li.dataset.name === name);
      row?.querySelector("button").focus();
      row?.querySelector("button").click();
      return row !== undefined;
    }, name), "the list is there");
    await until(() => browser.run(() => document.querySelector("dialog[open]")), "the menu is open");
    await browser.press(keys);
    await until(() => browser.run(() => document.querySelector("dialog[open]")), "it is asked");
  };
  await choose("focus 2", KEYS.down, KEYS.down, KEYS.enter);
  await until(() => browser.run(() => document.querySelector("#answer")), "the name is asked for");
  await browser.type("#answer", " again" + KEYS.enter);
  await until(async () => (await focused()) === "focus 2 again", "the renamed list has the focus");
});
