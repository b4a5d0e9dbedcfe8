// What one does while one sees only a part of a list, has selected a part of it, or takes a part of it along.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { ada, begin, browser, open, run, stage } from "./stage.mjs";

const options = begin();

const focused = () => browser.run(() => document.activeElement.localName);
const selects = count => until(
  () => browser.run(text => document.querySelector(".selected").textContent === text, `${count} items selected`),
  `${count} are selected`,
);

/** Clicks a button as a pointer does, which gives it the focus. */
async function clicks(css, text) {
  const [x, y] = await browser.run((css, text) => {
    const found = [...document.querySelectorAll(css)].find(one => one.textContent === text);
    const { left, top, width, height } = found.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }, css, text);
  await browser.pointer([["down", x, y], ["up"]]);
}

/** Drags the row of one item to a place beside another one's middle. */
async function drags(text, target, by) {
  const [x, y] = await ada.place(".grip", text);
  const [, at] = await ada.place(".row", target);
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, at + by], ["up"]]);
}

test("what is selected is deleted and cut with the buttons, and the focus is in the rows", options, async () => {
  await open("bar", "a", "b", "c", "d", "e");
  await ada.press("a", ["v", "j"]);
  await selects(2);
  await clicks(".selection button", "Delete");
  await ada.sees("c", "d", "e");
  assert.match(await ada.toast(), /Deleted 2 items/);
  await until(() => browser.run(() => document.activeElement.matches(".row")), "a row has the focus");
  await ada.press("c", ["v", "j"]);
  await clicks(".selection button", "Cut");
  await ada.sees("e");
  await stage.has("bar", ["e"]);
});

test("a range has what was selected, and not what comes between", options, async () => {
  await open("range", "a", "b", "c", "d");
  await ada.press("a", ["v", "j"]);
  await selects(2);
  run("add", "-l", "range", "--before", "2", "between");
  await ada.sees("a", "between", "b", "c", "d");
  await selects(2);
  await browser.press(["d"]);
  await stage.has("range", ["between", "c", "d"]);
  // The row where it began goes, and the others stay selected.
  await ada.press("between", ["v", "j", "j"]);
  await selects(3);
  run("rm", "-l", "range", "1");
  await ada.sees("c", "d");
  await selects(2);
  await browser.press(["j", "d"]);
  await stage.has("range", []);
});

test("rows are selected with the mouse, up to one or one by one", options, async () => {
  await open("mouse", "a", "b", "c", "d", "e");
  const clickOn = async (text, modifiers) => {
    const [x, y] = await ada.place(".row", text);
    const at = { x, y, modifiers, button: "left", clickCount: 1 };
    for (const type of ["mousePressed", "mouseReleased"]) {
      await browser.cdp("Input.dispatchMouseEvent", { type, ...at });
    }
  };
  const [control, shift] = [2, 8];
  await clickOn("b", 0);
  await clickOn("d", shift);
  await selects(3);
  await clickOn("c", shift);
  await selects(2);
  // What was selected so far stays, and more comes to it.
  await clickOn("e", control);
  await selects(3);
  await clickOn("b", control);
  await selects(2);
  await browser.press(["d"]);
  await stage.has("mouse", ["a", "b", "d"]);
});

test("a row that is moved passes what one sees", options, async () => {
  await open("steps", "a", "b", "c", "d", "e");
  run("done", "-l", "steps", "2-3");
  await ada.press("a", ["s"]);
  await ada.sees("a", "d", "e");
  await browser.press(["J"]);
  await ada.sees("d", "a", "e");
  await stage.has("steps", ["b", "c", "d", "a", "e"]);
  await browser.press(["J", "J"]);
  await ada.sees("d", "e", "a");
  assert.match(await ada.toast(), /last one here/);
  await browser.press(["K", "K"]);
  await ada.sees("a", "d", "e");
  // Branches are passed as a whole.
  await browser.press(["s"]);
  run("add", "-l", "steps", "--under", "2", "sub");
  await until(async () => (await ada.texts()).includes("sub"), "there is a sub-item");
  const [parent] = (await ada.texts()).filter((_, i, all) => all[i + 1] === "sub");
  await ada.press("e", ["s", "K"]);
  const texts = await stage.texts("steps");
  assert.equal(texts[texts.indexOf("sub") - 1], parent);
});

test("a row moves past others of any level, as in a terminal", options, async () => {
  await open("levels", "a", "b", "c", "d");
  run("add", "-l", "levels", "--under", "2", "b1", "b2");
  await until(async () => (await ada.texts()).includes("b2"), "there are sub-items");
  const move = async (text, keys, texts, levels) => {
    await ada.press(text, keys);
    await stage.has("levels", texts);
    assert.deepEqual((await stage.items("levels")).map(({ level }) => level ?? 0), levels);
  };
  await move("b2", ["J"], ["a", "b", "b1", "c", "b2", "d"], [0, 0, 1, 0, 1, 0]);
  await move("b2", ["K"], ["a", "b", "b1", "b2", "c", "d"], [0, 0, 1, 1, 0, 0]);
  await move("b1", ["K"], ["a", "b1", "b", "b2", "c", "d"], [0, 1, 0, 1, 0, 0]);
  await ada.press("d", [":"]);
  await browser.type("#answer", `2x${KEYS.enter}`);
  assert.match(await ada.toast(), /There is no number 2x/);
});

test("a row that is dropped beside ticked ones at the end stays with its own", options, async () => {
  await open("last", "r1", "r2", "r3", "r4");
  run("done", "-l", "last", "1");
  await until(() => browser.run(() => document.querySelectorAll(".row.done").length === 1), "one is ticked");
  await ada.press("r2", ["B"]);
  await ada.reads(/items, ticked last/);
  await ada.sees("r2", "r3", "r4", "r1");
  await drags("r2", "r1", 8);
  assert.match(await ada.toast(), /shown last/);
  await drags("r2", "r1", -8);
  await ada.sees("r3", "r4", "r2", "r1");
  await stage.has("last", ["r1", "r3", "r4", "r2"]);
  await ada.press("r2", ["J"]);
  assert.match(await ada.toast(), /last one here/);
  // The ticked one is above it in the list, and not on the screen.
  await ada.press("r3", ["K"]);
  assert.match(await ada.toast(), /first one here/);
  await ada.press("r3", [">"]);
  assert.match(await ada.toast(), /“r1”, which is not shown above it/);
  await stage.has("last", ["r1", "r3", "r4", "r2"]);
  await browser.press(["B"]);
});

test("one hears that the filter hides what one has added", options, async () => {
  await open("hiding", "apple", "pear");
  await ada.press("apple", ["/"]);
  await browser.type(".bar input", "ap");
  await ada.sees("apple");
  await ada.add("plum");
  assert.match(await ada.toast(), /Added plum, which is filtered out/);
  await ada.choose("Show all");
  await ada.sees("apple", "pear", "plum");
  // Without rows, keys are keys.
  await browser.type(".bar input", "ap");
  await ada.sees("apple");
  await ada.press("apple", ["d"]);
  await until(async () => (await focused()) === "h1", "the title has the focus");
  await browser.press(["u"]);
  await ada.sees("apple");
  await stage.has("hiding", ["apple", "pear", "plum"]);
});

test("after a reload, keys are keys", options, async () => {
  await open("loaded", "a", "b");
  await browser.reload();
  await ada.sees("a", "b");
  await until(async () => (await focused()) === "h1", "the title has the focus");
  await browser.press(["j", "d"]);
  await stage.has("loaded", ["b"]);
});

test("who comes back to a list is where one left it", options, async () => {
  stage.run(["create", "left"]);
  const lines = Array.from({ length: 900 }, (_, i) => `- [ ] item ${i}\n`);
  stage.run(["import", "-l", "left", "-"], { input: lines.join("") });
  await ada.open(stage.page("left"));
  await until(() => browser.run(() => document.querySelectorAll(".row").length > 20), "the rows are there");
  const top = text => browser.run(text => {
    const row = [...document.querySelectorAll(".row")].find(row => row.querySelector(".text").textContent === text);
    return row && Math.round(row.getBoundingClientRect().top);
  }, text);
  const isBack = (text, place) => until(async () => Math.abs(await top(text) - place) <= 1, `${text} is at ${place}`);
  const back = async way => {
    await way();
    await until(() => browser.run(() => document.querySelector(".row") !== null), "the rows are there again");
  };
  // With keys: the row has the focus again.
  await browser.run(() => document.querySelector(".row").focus());
  await browser.press(["G", "k", "k"]);
  const place = await top("item 897");
  await back(async () => {
    await browser.press(["H"]);
    await until(() => browser.run(() => !document.querySelector(".row")), "the history is shown");
    await browser.press([KEYS.escape]);
  });
  await isBack("item 897", place);
  assert.equal(await browser.run(() => document.activeElement.textContent.includes("item 897")), true);
  await back(() => browser.reload());
  await isBack("item 897", place);
  // With a finger: no row has it.
  await browser.run(() => document.querySelector("h1").focus());
  await browser.run(() => scrollTo(0, 20_000));
  const seen = await until(() => browser.run(() =>
    document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest(".row")?.querySelector(".text").textContent));
  const middle = await top(seen);
  await back(() => browser.reload());
  await isBack(seen, middle);
  assert.equal(await focused(), "h1");
});

test("what is typed is one item as it stands, and letters are not keys while one adds", options, async () => {
  await open("typed", "a", "b");
  await ada.press("a", ["v", "j"]);
  await selects(2);
  await browser.press(["a", ..."- 5 degrees", KEYS.enter, ..."  dates", KEYS.enter]);
  await stage.has("typed", ["a", "b", "- 5 degrees", "dates"]);
  assert.match(run("ls", "-l", "typed", "--json"), /"text":"dates","done":false,"level":0/);
  await browser.press([KEYS.escape]);
  // Escape in the filter leaves the filter, and not the list.
  await ada.press("a", ["/", KEYS.escape]);
  await ada.sees("a", "b", "- 5 degrees", "dates");
  const [x, y] = await ada.place(".grip", "a");
  await browser.pointer([["down", x, y], ["move", x, y + 30]]);
  await browser.press([KEYS.escape]);
  await browser.pointer([["up"]]);
  await ada.sees("a", "b", "- 5 degrees", "dates");
  assert.equal(await browser.run(() => document.querySelector("h1").textContent), "typed");
});

test("what a filter shows is not folded", options, async () => {
  run("create", "shown");
  run("add", "-l", "shown", "apple", "pear");
  run("add", "-l", "shown", "--under", "1", "seeds");
  await ada.goTo(stage.page("shown"));
  await ada.sees("apple", "seeds", "pear");
  await ada.press("apple", ["z"]);
  await ada.sees("apple", "pear");
  await browser.type("input[type=search]", "e");
  await ada.sees("apple", "seeds", "pear");
  assert.equal(await browser.run(() => document.querySelector(".grid").textContent.includes("hides")), false);
  // Nothing is folded unseen.
  assert.equal(await browser.run(() => document.querySelector(".fold:not([hidden])")), null);
  for (const key of ["z", "Z"]) {
    await ada.press("apple", [key]);
    assert.match(await ada.toast(), /even if it is folded/);
  }
  await browser.press([KEYS.escape]);
  await ada.sees("apple", "pear");
  await browser.type("input[type=search]", "e");
  await ada.sees("apple", "seeds", "pear");
  await ada.press("apple", ["d"]);
  await stage.has("shown", ["seeds", "pear"]);
});

test("what is copied is whole for other programs, and comes back so", options, async () => {
  const long = "a text that is longer than sixty letters, of which there are many in real lists, ends here";
  await open("copied", long);
  stage.run(["import", "-l", "copied", "-"], { input: "- [x] parent\n  - [soup](https://example.org/soup)\n" });
  stage.run(["add", "-l", "copied", "-"], { input: "one\n" });
  await until(async () => (await ada.texts()).length === 4, "all are there");
  await browser.run(() => {
    navigator.clipboard.writeText = text => ((window.written = text), Promise.resolve());
  });
  await ada.go(long);
  await browser.press(["a"], KEYS.control);
  await browser.press(["y"]);
  const text = await until(() => browser.run(() => window.written), "something is copied");
  assert.equal(
    text,
    `- [ ] ${long}\n- [x] parent\n  - [soup](https://example.org/soup)\n- [ ] one`,
  );
  await ada.goTo(stage.page(stage.list("pasted", "first")));
  await ada.sees("first");
  await browser.run(() => document.querySelector("#composer").focus());
  await browser.cdp("Input.insertText", { text });
  await browser.press([KEYS.enter]);
  await until(async () => (await stage.texts("pasted")).length === 5, "they are pasted");
  assert.deepEqual((await stage.texts("pasted")).slice(1, 3), [long, "parent"]);
});

test("one copies and pastes as everywhere, with levels", options, async () => {
  run("create", "events");
  stage.run(["import", "-l", "events", "-"], { input: "- [ ] a\n  - [x] b\n    - [ ] c\n- [ ] d\n" });
  // Without what other tests have made of the page.
  await ada.open(stage.page("events"));
  await ada.sees("a", "b", "c", "d");
  await browser.cdp("Browser.grantPermissions", {
    origin: `http://localhost:${stage.front.port}`, permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"],
  });
  const copied = () => browser.wait(() => navigator.clipboard.readText());
  const levels = async list =>
    (await stage.items(list)).map(({ text, level, done }) => `${level}${text}${done}`).join(" ");
  await ada.press("b", ["c"], KEYS.control);
  assert.equal(await copied(), "- [x] b\n  - [ ] c");
  await ada.press("d", ["v"], KEYS.control);
  await until(async () => (await levels("events")).endsWith("0dfalse 1btrue 2cfalse"), "they are pasted");
  // What the browser has selected, as a mouse does; of one text, it copies a part.
  const select = (from, to) => browser.run((from, to) => {
    const texts = document.querySelectorAll(".row .text");
    getSelection().setBaseAndExtent(texts[from].firstChild, 0, texts[to].firstChild, 1);
  }, from, to);
  await ada.go("b");
  await select(1, 3);
  await browser.press(["c"], KEYS.control);
  assert.equal(await copied(), "  - [x] b\n    - [ ] c\n- [ ] d");
  await select(3, 3);
  await browser.press(["c"], KEYS.control);
  assert.equal(await copied(), "d");
  await browser.run(() => getSelection().removeAllRanges());
  // What comes from elsewhere.
  await browser.wait(() => navigator.clipboard.writeText("one\n  two\nthree"));
  await ada.goTo(stage.page(stage.list("goal")));
  await until(() => browser.run(() => document.activeElement.localName === "h1"), "nothing has been typed");
  await browser.press(["v"], KEYS.control);
  await until(async () => (await levels("goal")) === "0onefalse 1twofalse 0threefalse", "the lines are pasted");
  await ada.press("one", ["x"], KEYS.control);
  assert.equal(await copied(), "- [ ] one\n  - [ ] two");
  await stage.has("goal", ["three"]);
});

test("what goes to another list is no sub-item of what is there", options, async () => {
  run("create", "branch");
  stage.run(["import", "-l", "branch", "-"], { input: "- [ ] a\n  - [ ] b\n    - [ ] c\n- [ ] d\n" });
  stage.list("trunk", "last");
  await ada.goTo(stage.page("branch"));
  await ada.sees("a", "b", "c", "d");
  await ada.press("b", ["m"]);
  await browser.type("#answer", `trunk${KEYS.enter}`);
  const levels = async list => (await stage.items(list)).map(({ text, level }) => `${level}${text}`).join(" ");
  await until(async () => (await levels("trunk")) === "0last 0b 1c", "they are there");
  await until(async () => (await levels("branch")) === "0a 0d", "they are gone");
  // The first of what is pasted has no room, and goes further out than the others can.
  await browser.press(["u"]);
  await ada.sees("a", "b", "c", "d");
  await ada.press("c", ["v", "j", "x"]);
  await ada.sees("a", "b");
  await ada.goTo(stage.page(stage.list("bare")));
  await browser.press(["p"]);
  await until(async () => (await levels("bare")) === "0c 0d", "they are pasted");
});

test("what was cut by the menu of an item is pasted by that of another one", options, async () => {
  await open("menus", "a", "b", "c");
  for (const [text, entry] of [["a", "Cut"], ["b", "Paste below"]]) {
    await ada.press(text, [KEYS.enter]);
    await ada.choose(entry);
    await until(() => browser.run(() => !document.querySelector("dialog")), "the menu is closed");
  }
  await ada.sees("b", "a", "c");
  await stage.has("menus", ["b", "a", "c"]);
});

test("whether all is saved is in sight, however far one has gone", options, async () => {
  await open("far", ...Array.from({ length: 40 }, (_, i) => `item ${i}`));
  await browser.run(() => scrollTo(0, 600));
  const inSight = () => browser.run(() => {
    const { top, bottom } = document.querySelector(".badge").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  assert.ok(await inSight());
  stage.front.cut();
  await ada.hears(/^offline/);
  assert.ok(await inSight());
});

test("a second finger moves nothing", options, async () => {
  await open("fingers", "a", "b", "c", "d");
  const [x, y] = await ada.place(".grip", "a");
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, y + 60]]);
  await browser.run(() => {
    const grip = document.querySelectorAll(".row")[2].querySelector(".grip");
    const { left, top } = grip.getBoundingClientRect();
    for (const type of ["pointerdown", "pointermove", "pointerup"]) {
      grip.dispatchEvent(new PointerEvent(type, { pointerId: 99, bubbles: true, clientX: left, clientY: top + 60 }));
    }
  });
  assert.ok(await browser.run(() => document.querySelector(".dragged") !== null), "the first one goes on");
  await browser.pointer([["up"]]);
  await ada.sees("b", "a", "c", "d");
  await stage.has("fingers", ["b", "a", "c", "d"]);
});

test("a tab that is duplicated has nothing of what is typed in the first one", options, async () => {
  await open("twice", "p1", "p2");
  await ada.edit("p1");
  await browser.press([..." half"]);
  await ada.types("p1 half");
  const first = await browser.tab;
  await browser.run(() => void window.open(location.href));
  const handles = await until(async () => {
    const all = await browser.tabs();
    return all.length > 1 && all;
  }, "there is another tab");
  await browser.switchTo(handles.find(handle => handle !== first));
  await until(() => browser.run(() => document.querySelectorAll(".row").length === 2), "the rows are there");
  // Longer than it takes until a tab is known to have ended.
  await pause(3000);
  assert.equal(await browser.run(() => document.querySelector("textarea.field")?.value ?? ""), "");
  await stage.has("twice", ["p1 half", "p2"]);
  await browser.closeTab();
  await browser.switchTo(first);
  await browser.press([KEYS.escape]);
  await stage.has("twice", ["p1 half", "p2"]);
});

test("what one looks at stays in its place when others edit above it", options, async () => {
  await open("held", ...Array.from({ length: 60 }, (_, i) => `item ${i}`));
  await ada.edit("item 20");
  await browser.run(() => scrollTo(0, 800));
  const place = async () => Math.round((await ada.place(".grip", "item 25"))[1]);
  const before = await place();
  run("add", "-l", "held", "--top", "N1", "N2");
  run("rm", "-l", "held", "5");
  await ada.sees("N1", "N2", ...Array.from({ length: 60 }, (_, i) => `item ${i}`).filter((_, i) => i !== 2));
  await until(async () => (await place()) === before, "the row is where it was");
  await browser.press([KEYS.escape]);
});

test("a row stays while its text is edited, though the view is without it", options, async () => {
  await open("kept", "apple", "banana", "cherry");
  await ada.press("apple", ["s"]);
  await ada.edit("banana");
  await browser.press([..." split"]);
  run("done", "-l", "kept", "2");
  await until(() => browser.run(() => document.querySelector(".row.done") !== null), "it is ticked");
  await browser.press([...".", KEYS.enter]);
  await stage.has("kept", ["apple", "banana split.", "cherry"]);
  await ada.sees("apple", "cherry");
  // Others put it below what is folded.
  run("add", "-l", "kept", "--under", "1", "core");
  await ada.sees("apple", "core", "cherry");
  await ada.press("apple", ["s", "z"]);
  await ada.sees("apple", "banana split.", "cherry");
  await ada.edit("banana split.");
  await browser.press([..." more"]);
  run("edit", "-l", "kept", "3", "--level", "1");
  await pause(500);
  await browser.press(["!", KEYS.enter]);
  await stage.has("kept", ["apple", "core", "banana split. more!", "cherry"]);
  await ada.sees("apple", "cherry");
});

test("a row that is dragged past the last one is the last one", options, async () => {
  await open("past", "a", "b", "c", "d");
  const [x, y] = await ada.place(".grip", "b");
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, y + 200], ["up"]]);
  await stage.has("past", ["a", "c", "d", "b"]);
  const [, from] = await ada.place(".grip", "d");
  await ada.sees("a", "c", "d", "b");
  await browser.pointer([["down", x, from], ["move", x, from - 15], ["move", x, 8], ["up"]]);
  await stage.has("past", ["d", "a", "c", "b"]);
});

test("a row stays with those that one sees above it", options, async () => {
  const fill = async (name, ...lines) => {
    run("create", name);
    stage.run(["import", "-l", name, "-"], { input: lines.join("\n") });
    await ada.goTo(stage.page(name));
    await until(async () => (await ada.texts()).length === lines.length, "they are there");
  };
  const levels = async list => (await stage.items(list)).map(({ text, level }) => `${level}${text}`).join(" ");
  await fill("family", "- [ ] x", "- [ ] p", "  - [ ] c1", "  - [ ] c2", "- [ ] y");
  // Beside its own sub-items, it is where it is.
  await drags("p", "c2", 8);
  await drags("p", "c1", -8);
  // Of what is selected, goes out what can.
  await ada.press("x", ["V", "j", "j", "j", " ", "<"]);
  await until(async () => (await levels("family")) === "0x 0p 1c1 0c2 0y", "one goes out");
  await browser.press(["<"]);
  assert.match(await ada.toast(), /first level/);
  await fill("hidden", "- [ ] a", "  - [ ] a1", "- [x] b", "  - [ ] b1", "  - [ ] b2", "- [ ] c");
  await ada.press("a1", ["s"]);
  await until(async () => !(await ada.texts()).includes("b"), "what is ticked is hidden");
  await ada.press("a1", ["J"]);
  await until(async () => (await levels("hidden")) === "0a 0b 1b1 1b2 0c 1a1", "it is below the next one");
  await drags("a1", "b1", 8);
  assert.match(await ada.toast(), /“b”, which is not shown above it/);
  // Among its own, a row goes where it likes.
  await ada.press("b1", ["J"]);
  await until(async () => (await levels("hidden")) === "0a 0b 1b2 1b1 0c 1a1", "it is below its sibling");
});

test("nothing is done with nothing that is selected", options, async () => {
  await open("nothing", "a", "b");
  await ada.press("a", ["V", " ", "d"]);
  assert.match(await ada.toast(), /Nothing is selected/);
  await browser.press(["x", "J", ">", "m", "y", KEYS.enter]);
  await browser.press(["c"], KEYS.control);
  await browser.press(["j", " ", "d"]);
  await stage.has("nothing", ["a"]);
});
