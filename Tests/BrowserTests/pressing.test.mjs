// What one presses is what one meant, however the rows move and however late the page is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Other, ada, begin, browser, open, run, stage } from "./stage.mjs";

const options = begin();

const done = async list => (await stage.items(list)).filter(({ done }) => done).map(({ text }) => text);
const press = (x, y) => browser.pointer([["down", x, y], ["up"]]);

test("ticked tasks stay in their places while one goes on ticking", options, async () => {
  for (const [key, list] of [["B", "ticking last"], ["s", "ticking off"]]) {
    await open(list, "a", "b", "c", "d", "e");
    await ada.press("a", [key]);
    await pause(600);
    const places = [];
    for (const text of ["a", "b", "c"]) places.push(await ada.place("input", text));
    for (const [x, y] of places) {
      await press(x, y);
      await pause(500);
    }
    await until(async () => (await done(list)).length === 3, "three are ticked");
    assert.deepEqual(await done(list), ["a", "b", "c"]);
    await ada.sees(...(key === "B" ? ["d", "e", "a", "b", "c"] : ["d", "e"]));
    await browser.press([key]);
  }
});

test("a tick is for the task that was pressed, also while the page is busy", options, async () => {
  await open("busy", "a", "b", "c", "d");
  // Both presses are heard before anything is done about the first one.
  await browser.run(() => {
    const rows = [...document.querySelectorAll(".row")];
    rows[1].querySelector("input").click();
    rows[3].click();
  });
  await until(async () => (await done("busy")).length > 0, "one is ticked");
  assert.deepEqual(await done("busy"), ["b"]);
});

test("“Tick” ticks, whatever others do meanwhile", options, async () => {
  await open("menu", "a", "b");
  await ada.press("a", [KEYS.enter]);
  await until(() => browser.run(() => document.querySelector("dialog[open]") !== null), "the menu is open");
  const other = new Other(stage, "menu");
  await other.quiet();
  await other.tick(0);
  await until(() => browser.run(() => document.querySelector(".row input").checked), "it is ticked");
  await ada.choose("Tick");
  await ada.press("b", [" "]);
  await until(async () => (await done("menu")).includes("b"), "the other one is ticked");
  assert.deepEqual(await done("menu"), ["a", "b"]);
  other.close();
});

test("the list's menu selects nothing that one did not choose", options, async () => {
  await open("several", "a", "b", "c");
  await ada.press("b", [" ", " "]);
  await browser.run(() => document.querySelector(".bar button[title^=More]").click());
  await ada.choose("Select several");
  await ada.reads(/Tap the items that you want/);
  const [x, y] = await ada.place(".text", "c");
  await press(x, y);
  await ada.choose("Delete");
  await stage.has("several", ["a", "b"]);
});

test("what is offered does not move the line, and is no offer once it is gone", options, async () => {
  await open("offered", "milk and honey", "bread");
  const top = () => browser.run(() => document.querySelector(".composer .primary").getBoundingClientRect().top);
  const offers = () => browser.run(() => document.querySelectorAll(".offer").length);
  const before = await top();
  await browser.type("#composer", "mil");
  await until(async () => (await offers()) === 1, "it is offered");
  assert.equal(await top(), before);
  run("rm", "-l", "offered", "1");
  await ada.sees("bread");
  await browser.click(".offer");
  assert.equal(await browser.run(() => document.querySelector("#composer").value), "mil");
  await browser.type("#composer", KEYS.backspace.repeat(3) + "bre");
  await until(async () => (await offers()) === 1, "another one is offered");
  await browser.click(".offer");
  await pause(300);
  await browser.reload();
  await ada.sees("bread");
  await pause(300);
  assert.equal(await browser.run(() => document.querySelector("#composer").value), "", "no draft is left");
});

test("a press beside a field does what it is for, and the text is saved", options, async () => {
  const long = "a text that is so long that its field is higher than its row ".repeat(6).trim();
  await open("beside", "first", "second", "third");
  await ada.edit("first");
  await browser.cdp("Input.insertText", { text: `, ${long}` });
  await press(...await ada.place("input", "second"));
  await until(async () => (await done("beside")).length > 0, "the task is ticked");
  assert.deepEqual(await done("beside"), ["second"]);
  await stage.has("beside", [`first, ${long}`, "second", "third"]);
  // The next field does not begin before the text of the first one is saved.
  await ada.edit("second");
  await browser.press([..." too"]);
  // So touch screens do it: all at once.
  await browser.run(() => {
    document.activeElement.blur();
    const text = document.querySelectorAll(".row")[2].querySelector(".text");
    text.click();
    text.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  });
  await browser.press([..." also", KEYS.enter]);
  await stage.has("beside", [`first, ${long}`, "second too", "third also"]);
});

test("a drag that was none is taken back with one press", options, async () => {
  await open("dragged", "a", "b", "c");
  const [from, to] = [await ada.place(".grip", "a"), await ada.place(".row", "c")];
  await browser.drag([from, [from[0], from[1] + 10], [to[0], to[1] + 8]]);
  await stage.has("dragged", ["b", "c", "a"]);
  assert.match(await ada.toast(), /^Moved a\./);
  await ada.choose("Undo");
  await stage.has("dragged", ["a", "b", "c"]);
});

test("several items go further in, and to another list as copies", options, async () => {
  stage.list("deeper 2");
  await open("deeper", "a", "b", "c");
  await ada.press("b", ["v", "j"]);
  await ada.choose("Move…");
  await ada.choose("Further in");
  const levels = async () => (await stage.items("deeper")).map(({ level }) => level).join();
  await until(async () => (await levels()) === "0,1,1", "they are further in");
  await ada.choose("Move…");
  await ada.choose("Copy to another list…");
  await browser.type("#answer", `deeper 2${KEYS.enter}`);
  await stage.has("deeper 2", ["b", "c"]);
});

test("a look at another window leaves the field open", options, async () => {
  await open("window", "milk");
  await ada.edit("milk");
  await browser.press([..." and"]);
  // So browsers say it: the field is still the one that has the focus.
  await browser.run(() => document.activeElement.dispatchEvent(new FocusEvent("blur")));
  await pause(300);
  await browser.press([..." honey", KEYS.enter]);
  await stage.has("window", ["milk and honey"]);
});

test("a list that is made late does not take the person away from another one", options, async () => {
  await open("stays", "a");
  await browser.run(() => document.querySelector("a.home").click());
  await until(() => browser.run(() => document.querySelector("ul.lists li")), "the lists are there");
  await ada.choose("New list");
  await browser.press([..."made late"]);
  // The answer comes after the person has gone.
  await browser.run(() => {
    location.hash = "#list=stays";
    document.querySelector("dialog form").requestSubmit();
  });
  await ada.sees("a");
  await until(async () => /“made late” is made/.test(await ada.toast()), "one is told");
  await ada.sees("a");
  await ada.choose("Open the list");
  await ada.sees();
});
