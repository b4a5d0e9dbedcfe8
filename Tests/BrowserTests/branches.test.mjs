// What goes along with an item that has sub-items, and what does not: as the manual says, and as in the terminal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Person, ada, begin, browser, run, stage } from "./stage.mjs";

const options = begin();

/** The items of a list, each with a point for each level, and a tick if it is done. */
const outline = list => run("ls", "-l", list, "--json").trim().split("\n").map(line => JSON.parse(line))
  .map(({ text, level, done }) => `${".".repeat(level)}${text}${done ? "+" : ""}`).join(" ");

const becomes = async (list, text) => {
  let found;
  await until(() => (found = outline(list)) === text, `${list} is ${text}`).catch(error => {
    throw new Error(`${error.message}, but is ${found}`);
  });
};

/** A list of milk with two sub-items, and two others, which is open on the page. */
async function open(list) {
  run("create", list);
  run("add", "-l", list, "milk", "bread", "eggs");
  run("add", "-l", list, "--under", "1", "whole", "skim");
  assert.equal(outline(list), "milk .whole .skim bread eggs");
  await ada.goTo(stage.page(list));
  await ada.sees("milk", "whole", "skim", "bread", "eggs");
}

test("what is cut and copied takes its sub-items along", options, async () => {
  await open("cut");
  await ada.press("milk", ["x"]);
  await becomes("cut", "bread eggs");
  await ada.press("eggs", ["p"]);
  await becomes("cut", "bread eggs milk .whole .skim");
  await ada.press("milk", ["y"]);
  await ada.press("bread", ["p"]);
  await becomes("cut", "bread milk .whole .skim eggs milk .whole .skim");
});

test("what comes below an item takes none of its sub-items over", options, async () => {
  await open("over");
  await ada.press("bread", ["x"]);
  await ada.press("milk", ["p"]);
  await becomes("over", "milk .bread .whole .skim eggs");
  // The same with a pointer.
  const [x, y] = await ada.place(".grip", "eggs");
  const [, milk] = await ada.place(".row", "milk");
  await browser.pointer([["down", x, y], ["move", x, y - 15], ["move", x, milk + 12], ["up"]]);
  await becomes("over", "milk .eggs .bread .whole .skim");
  // Above the first one, there is nothing that a sub-item could belong to.
  await ada.press("skim", ["t"]);
  await becomes("over", "skim milk .eggs .bread .whole");
  await ada.press("whole", ["b"]);
  await becomes("over", "skim milk .eggs .bread .whole");
});

test("what is added below an item with sub-items becomes the first of them", options, async () => {
  await open("added");
  await ada.press("milk", ["o"]);
  await browser.press([..."oat", KEYS.enter, ..."soy", KEYS.enter, KEYS.escape]);
  await becomes("added", "milk .oat .soy .whole .skim bread eggs");
  await ada.press("whole", ["O"]);
  await browser.press([..."half", KEYS.enter, KEYS.escape]);
  await becomes("added", "milk .oat .soy .half .whole .skim bread eggs");
});

test("below a folded item is below what it hides, and beside it", options, async () => {
  await open("beside");
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "bread", "eggs");
  run("edit", "-l", "beside", "5", "--level", "1");
  await becomes("beside", "milk .whole .skim bread .eggs");
  await ada.press("eggs", ["x"]);
  await ada.press("milk", ["p"]);
  await becomes("beside", "milk .whole .skim eggs bread");
});

test("what moves past a folded item of another level passes what it hides", options, async () => {
  run("create", "past");
  run("add", "-l", "past", "tea", "milk", "eggs");
  run("add", "-l", "past", "--under", "2", "whole", "skim");
  run("add", "-l", "past", "--under", "1", "green");
  await ada.goTo(stage.page("past"));
  await ada.sees("tea", "green", "milk", "whole", "skim", "eggs");
  await ada.press("milk", ["z"]);
  await ada.sees("tea", "green", "milk", "eggs");
  await ada.press("green", ["J"]);
  await becomes("past", "tea milk .whole .skim green eggs");
});

/** The text of the row that the next key is about. */
const current = () => browser.run(() => document.querySelector(".row[tabindex='0'] .text")?.textContent);
const isAt = text => until(async () => (await current()) === text, `the row is ${text}`).catch(async error => {
  throw new Error(`${error.message}, but is ${await current()}`);
});

test("what comes to be in a folded item is seen, and the row stays the one that it was", options, async () => {
  await open("seen");
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "bread", "eggs");
  await ada.press("bread", [">"]);
  await ada.sees("milk", "whole", "skim", "bread", "eggs");
  await isAt("bread");
  // Without sub-items of its own, it folds what it belongs to.
  await ada.press("bread", ["z"]);
  await ada.sees("milk", "eggs");
  await isAt("milk");
  await ada.press("eggs", [":", "3", KEYS.enter]);
  await ada.sees("milk", "whole", "eggs", "skim", "bread");
  await isAt("eggs");
  await ada.press("skim", ["Z"]);
  await ada.sees("milk");
  await isAt("milk");
  await ada.press("milk", ["u"]);
  await ada.sees("milk", "eggs");
  await ada.press("milk", ["u"]);
  await ada.sees("milk", "bread", "eggs");
  // So it is with what is redone.
  await ada.press("milk", ["U"]);
  await ada.sees("milk", "whole", "skim", "bread", "eggs");
});

test("what was found in a folded item is where one is afterwards, and so is what was added", options, async () => {
  await open("found");
  await ada.press("milk", ["z", "/"]);
  await browser.type("input[type=search]", "skim");
  await ada.sees("skim");
  await browser.press([KEYS.enter]);
  await isAt("skim");
  await browser.press([KEYS.escape]);
  await ada.sees("milk", "whole", "skim", "bread", "eggs");
  await isAt("skim");
  await ada.press("bread", ["o"]);
  await browser.press([..."tea", KEYS.enter, KEYS.escape]);
  await ada.sees("milk", "whole", "skim", "bread", "tea", "eggs");
  await isAt("tea");
  await ada.press("eggs", ["a"]);
  await browser.press([..."figs", KEYS.enter, KEYS.escape]);
  await isAt("figs");
  await browser.press(["d"]);
  await ada.sees("milk", "whole", "skim", "bread", "tea", "eggs");
});

test("two tabs keep what each has folded", options, async () => {
  await open("folds");
  run("add", "-l", "folds", "--under", "5", "brown");
  await ada.sees("milk", "whole", "skim", "bread", "eggs", "brown");
  const tab = new Person(browser, await browser.newWindow());
  await tab.open(stage.page("folds"));
  await tab.sees("milk", "whole", "skim", "bread", "eggs", "brown");
  await ada.here();
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "bread", "eggs", "brown");
  await tab.here();
  await tab.press("eggs", ["z"]);
  await tab.sees("milk", "whole", "skim", "bread", "eggs");
  await browser.reload();
  await tab.sees("milk", "bread", "eggs");
  await tab.press("milk", ["z"]);
  await tab.sees("milk", "whole", "skim", "bread", "eggs");
  await browser.reload();
  await tab.sees("milk", "whole", "skim", "bread", "eggs");
  await browser.closeTab();
  await ada.here();
});

test("what is new in a folded item is gone to", options, async () => {
  await open("new");
  await ada.press("milk", ["z"]);
  await ada.hears(/^saved$/);
  await browser.run(() => document.querySelector("a.home").click());
  await until(() => browser.run(() => document.querySelector(".lists")));
  for (const text of ["x", "y"]) run("edit", "-l", "new", "3", text, "--as", "bob");
  run("edit", "-l", "new", "5", "z", "--as", "bob");
  await until(() => browser.run(() => document.body.textContent.includes("2 new, by")), "two items are new");
  await ada.choose("new");
  await ada.sees("milk", "bread", "z");
  await until(() => browser.run(() => document.body.textContent.includes("2 new")));
  await ada.press("milk", ["n"]);
  await ada.sees("milk", "whole", "y", "bread", "z");
  await isAt("y");
});

test("a tick is for the item alone, whatever it hides", options, async () => {
  await open("ticked");
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "bread", "eggs");
  await ada.press("milk", [" "]);
  await becomes("ticked", "milk+ .whole .skim bread eggs");
  await ada.press("milk", [" "]);
  await becomes("ticked", "milk .whole .skim bread eggs");
});

test("an item is deleted alone, or with its sub-items", options, async () => {
  await open("deleted");
  await ada.press("milk", ["D"]);
  await becomes("deleted", "bread eggs");
  await browser.press(["u"]);
  await becomes("deleted", "milk .whole .skim bread eggs");
  await ada.press("milk", [KEYS.enter]);
  await until(() => browser.run(() => [...document.querySelectorAll("dialog button")]
    .some(({ textContent }) => textContent.startsWith("Delete with sub-items"))), "the menu has it");
  await browser.press([KEYS.escape]);
  await ada.press("bread", [KEYS.enter]);
  await until(() => browser.run(() => document.querySelector("dialog") !== null), "the menu is open");
  assert.equal(await browser.run(() => document.querySelector("dialog").textContent.includes("with sub-items")), false);
  await browser.press([KEYS.escape]);
});

test("an item with sub-items gets the number that one says", options, async () => {
  await open("numbered");
  const moves = async (text, number) => {
    await ada.press(text, [":"]);
    await until(() => browser.run(() => document.activeElement.matches("dialog input")), "one is asked");
    await browser.press([...number, KEYS.enter]);
  };
  await moves("milk", "2");
  await becomes("numbered", "bread milk .whole .skim eggs");
  await moves("milk", "5");
  await becomes("numbered", "bread eggs milk .whole .skim");
  await moves("milk", "1");
  await becomes("numbered", "milk .whole .skim bread eggs");
  await moves("bread", "2");
  await becomes("numbered", "milk .bread .whole .skim eggs");
});

test("sorting keeps sections and branches, as in the terminal", options, async () => {
  const lines = [
    "# Monday", "- [x] zebra", "- [ ] apple", "# Friday", "- [ ] yak", "- [ ] bear", "  - [ ] zz", "  - [ ] aa",
  ];
  for (const [order, entry] of [["text", "By text"], ["done", "Ticked last"]]) {
    const [here, there] = [`here ${order}`, `there ${order}`];
    for (const list of [here, there]) {
      run("create", list);
      stage.run(["import", "-l", list, "--format", "markdown", "-"], { input: `${lines.join("\n")}\n` });
    }
    run("sort", "-l", there, "--by", order);
    await ada.goTo(stage.page(here));
    await until(async () => (await ada.texts()).length === 8, "the rows are there");
    await ada.press("apple", ["="]);
    await until(() => browser.run(() => document.querySelector("dialog") !== null), "one is asked");
    await browser.run(entry => [...document.querySelectorAll("dialog button")]
      .find(({ textContent }) => textContent === entry).click(), entry);
    await becomes(here, outline(there));
  }
});

test("a double click in the field of a text selects a word there", options, async () => {
  await open("words");
  await ada.press("milk", ["e"]);
  await browser.press([..." and butter"]);
  const [x, y] = await browser.run(() => {
    const { left, top, height } = document.querySelector("textarea.field").getBoundingClientRect();
    return [left + 20, top + height / 2];
  });
  for (const clickCount of [1, 2]) {
    for (const type of ["mousePressed", "mouseReleased"]) {
      await browser.cdp("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount });
    }
  }
  await pause(200);
  await browser.press([..."tea"]);
  await ada.types("tea and butter");
  await browser.press([KEYS.enter]);
  await becomes("words", "tea and butter .whole .skim bread eggs");
});

test("the sub-items of an item that is deleted stay beside one another", options, async () => {
  await open("parent");
  await ada.press("milk", ["d"]);
  await becomes("parent", "whole skim bread eggs");
  await ada.press("whole", ["D"]);
  await becomes("parent", "skim bread eggs");
});

test("a selection of several levels keeps what belongs together", options, async () => {
  await open("levels");
  run("add", "-l", "levels", "--under", "4", "rye");
  await becomes("levels", "milk .whole .skim bread .rye eggs");
  await ada.press("skim", ["v", KEYS.down, KEYS.down, "<"]);
  await becomes("levels", "milk .whole skim bread .rye eggs");
  await ada.press("skim", [KEYS.escape, "v", KEYS.down, KEYS.down, "J"]);
  await becomes("levels", "milk .whole eggs skim bread .rye");
});

test("folding hides also while ticked tasks are hidden, and what moves nothing makes no commit", options, async () => {
  await open("hiding");
  run("done", "-l", "hiding", "5");
  await ada.press("bread", ["s"]);
  await ada.sees("milk", "whole", "skim", "bread");
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "bread");
  await ada.press("bread", ["s"]);
  await ada.press("milk", ["z"]);
  await ada.sees("milk", "whole", "skim", "bread", "eggs");
  const commits = run("log", "-l", "hiding");
  await ada.press("milk", ["t"]);
  await ada.reads(/Nothing was moved/);
  await ada.press("milk", ["c"]);
  await ada.reads(/This list has no deck/);
  await ada.press("bread", [" "]);
  await until(async () => (await stage.items("hiding"))[3].done, "bread is ticked");
  assert.equal(run("log", "-l", "hiding").split("\nrevision ").length, commits.split("\nrevision ").length + 1);
});

test("a list that is deleted while it is open is told as deleted until it is back", options, async () => {
  await open("away");
  run("delete", "away", "--force");
  await ada.reads(/The list was deleted/);
  await pause(6_000);
  const state = () => browser.run(() => document.querySelector(".empty:not([hidden])")?.textContent ?? "");
  assert.equal(await state(), "The list was deleted.");
  await ada.press("milk", ["d"]);
  assert.match(await ada.toast(), /The list was deleted/);
  run("undelete", "away");
  await until(async () => (await state()) === "", "it is back", 20_000);
  await ada.press("eggs", ["d"]);
  await becomes("away", "milk .whole .skim bread");
});

test("whoever asks for older revisions is at the first of them then", options, async () => {
  await open("old");
  for (let i = 0; i < 60; i++) run("edit", "-l", "old", "1", `milk ${i}`);
  await ada.sees("milk 59", "whole", "skim", "bread", "eggs");
  await browser.press(["H"]);
  const revisions = () => browser.run(() => document.querySelectorAll(".history > li").length);
  await until(async () => (await revisions()) > 0, "there are revisions");
  const count = await revisions();
  await browser.run(() => {
    [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Older").focus();
  });
  await browser.press([KEYS.enter]);
  const at = () => browser.run(
    () => [...document.querySelectorAll(".history > li")].findIndex(li => li.contains(document.activeElement)),
  );
  await until(async () => (await at()) === count, "the first of the older ones has the focus");
});
