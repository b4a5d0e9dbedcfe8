// What others do to a list while somebody is in the middle of something: a question is open, a row is dragged, words
// are being typed, or another list is shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Person, ada, begin, browser, copied, open, run, stage } from "./stage.mjs";

const options = begin();

const isAsked = () => browser.run(() => document.querySelector("dialog[open]") !== null);
const dialog = () => until(isAsked, "a dialog is open");

test("a question is about what it named, not about what is in its place when it is answered", options, async () => {
  await open("asked", "milk", "oats", "bread", "eggs");
  run("done", "-l", "asked", "2", "4");
  await until(() => browser.run(() => document.querySelectorAll(".row input:checked").length === 2), "two are ticked");
  await ada.press("milk", ["S"]);
  await dialog();
  run("add", "-l", "asked", "--top", "important");
  run("undone", "-l", "asked", "5");
  await ada.sees("important", "milk", "oats", "bread", "eggs");
  await ada.choose("Delete");
  await stage.has("asked", ["important", "milk", "bread", "eggs"]);
  // The item of the menu is deleted.
  await ada.press("milk", [KEYS.enter]);
  await dialog();
  run("rm", "-l", "asked", "2");
  await ada.sees("important", "bread", "eggs");
  await ada.choose("Delete");
  assert.match(await ada.toast(), /deleted that meanwhile/);
  await ada.press("bread", [":"]);
  await dialog();
  run("rm", "-l", "asked", "2");
  await ada.sees("important", "eggs");
  await browser.press(["1", KEYS.enter]);
  assert.match(await ada.toast(), /deleted that meanwhile/);
  // One of several is deleted; the menu is for the others.
  run("add", "-l", "asked", "a", "b", "c");
  await ada.sees("important", "eggs", "a", "b", "c");
  await ada.press("a", ["v", "j"]);
  await ada.choose("Move…");
  run("rm", "-l", "asked", "3");
  await ada.sees("important", "eggs", "b", "c");
  await ada.choose("To the top");
  await stage.has("asked", ["b", "important", "eggs", "c"]);
});

test("a row that is dragged and deleted moves no other", options, async () => {
  await open("dragging", "a", "b", "c", "d");
  const [x, y] = await ada.place(".grip", "b");
  const [, target] = await ada.place(".row", "d");
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, target + 8]]);
  run("rm", "-l", "dragging", "2");
  await ada.sees("a", "c", "d");
  await browser.pointer([["up"]]);
  assert.match(await ada.toast(), /deleted that meanwhile/);
  await ada.sees("a", "c", "d");
  assert.deepEqual(await stage.texts("dragging"), ["a", "c", "d"]);
});

test("the offer to undo goes with the next edit", options, async () => {
  await open("offers", "a", "b");
  await ada.press("a", ["d"]);
  await until(async () => /Deleted a\./.test(await ada.toast()), "undo is offered");
  await ada.press("b", [" "]);
  await until(async () => (await ada.toast()) === "", "nothing is offered any more");
});

test("letters that were for a field that is gone are no keys", options, async () => {
  await open("letters", "a", "b", "c");
  await ada.edit("b");
  run("rm", "-l", "letters", "2");
  await ada.sees("a", "c");
  await browser.press([..."day"]);
  await pause(200);
  assert.deepEqual(await stage.texts("letters"), ["a", "c"]);
  await pause(1600);
  await ada.press("c", ["d"]);
  await stage.has("letters", ["a"]);
});

test("whoever goes to another row before a new one is drawn stays there", options, async () => {
  await open("stays", "a", "b");
  const add = (text, isLeaving) => browser.run((text, isLeaving) => {
    const composer = document.querySelector("#composer");
    composer.value = text;
    composer.form.requestSubmit();
    if (isLeaving) document.querySelector(".row").focus();
  }, text, isLeaving);
  const focused = () => browser.run(() => document.activeElement.closest(".row")?.querySelector(".text").textContent);
  await add("c", true);
  await ada.sees("a", "b", "c");
  await pause(100);
  assert.equal(await focused(), "a");
  await add("d", false);
  await ada.sees("a", "b", "c", "d");
  await browser.press([KEYS.escape]);
  await until(async () => (await focused()) === "d", "one is at the new row");
});

test("keys that are pressed slowly are for the rows again", options, async () => {
  await open("slowly", "a", "b", "c");
  await ada.edit("b");
  run("rm", "-l", "slowly", "2");
  await ada.sees("a", "c");
  const start = Date.now();
  while ((await stage.texts("slowly")).length === 2 && Date.now() - start < 20_000) {
    await browser.press(["d"]);
    await pause(900);
  }
  assert.ok((await stage.texts("slowly")).length < 2);
});

test("letters for a field are no keys on another list that has its name", options, async () => {
  for (const isField of [true, false]) {
    await open("swapped", "a", "b");
    if (isField) await ada.edit("b");
    else await browser.click("#composer");
    await browser.press([..." and"]);
    run("delete", "swapped", "--force");
    run("create", "swapped");
    run("add", "-l", "swapped", "other 1", "other 2");
    await ada.sees("other 1", "other 2");
    for (const letter of " typed dd") await browser.press([letter]);
    await browser.press([KEYS.enter]);
    await pause(500);
    assert.deepEqual(await stage.texts("swapped"), ["other 1", "other 2"]);
    run("delete", "swapped", "--force");
    await pause(1500);
  }
});

test("who may not write for a moment keeps the line, and its words", options, async () => {
  await open("moment", "a");
  await browser.click("#composer");
  await browser.press([..."abc"]);
  run("delete", "moment", "--force");
  await until(() => browser.run(() => document.querySelector("#composer").readOnly), "nothing can be added");
  await browser.press([..."def", KEYS.enter]);
  run("undelete", "moment");
  await until(() => browser.run(() => !document.querySelector("#composer").readOnly), "it is back");
  await browser.press([..."ghi", KEYS.enter]);
  await stage.has("moment", ["a", "abcghi"]);
});

test("edits of a list whose name another one had go out when it is back", options, async () => {
  await open("had", "a", "b");
  stage.front.cut();
  await ada.hears(/offline|connecting/);
  await ada.add("offline");
  run("delete", "had", "--force");
  run("create", "had");
  stage.front.mend();
  await ada.reads(/your edits of it are still here/);
  run("rename", "had", "had too");
  run("undelete", "had");
  await stage.has("had", ["a", "b", "offline"]);
  await ada.sees("a", "b", "offline");
  await ada.hears(/^saved$/);
});

test("words in a field are not lost with their list", options, async () => {
  await open("gone", "a", "b");
  await ada.edit("b");
  await browser.press([..." and words"]);
  run("delete", "gone", "--force");
  await ada.reads(/The list was deleted/);
  await browser.press([KEYS.enter]);
  await ada.composes("b and words");
  run("undelete", "gone");
  await until(() => browser.run(() => document.querySelector("#composer").readOnly === false), "it is back");
  await ada.composes("b and words");
  await browser.click("#composer");
  await browser.press([KEYS.enter]);
  await stage.has("gone", ["a", "b", "b and words"]);
});

test("what is typed as soon as a list is open is there once", options, async () => {
  await ada.goTo(stage.page(stage.list("at once", "a")));
  await browser.click("#composer");
  for (const letter of "milk bread butter eggs cheese") {
    await browser.press([letter]);
    await pause(60);
  }
  await pause(1000);
  await ada.composes("milk bread butter eggs cheese");
  // The words go with their list, also if it is renamed while another one is shown.
  await ada.goTo(stage.page(stage.list("not this one")));
  run("rename", "at once", "later on");
  stage.list("at once");
  await ada.goTo(stage.page("at once"));
  await pause(300);
  await ada.composes("");
  await ada.goTo(stage.page("later on"));
  await ada.composes("milk bread butter eggs cheese");
  await browser.click("#composer");
  await browser.press([KEYS.enter]);
  await stage.has("later on", ["a", "milk bread butter eggs cheese"]);
});

test("another list that has got the name while one was away is said to be one", options, async () => {
  await open("name", "precious");
  await browser.click("#composer");
  await browser.press([..."half a sentence"]);
  await pause(500);
  stage.front.cut();
  await ada.hears(/^offline/);
  run("rename", "name", "former name");
  stage.list("name", "of another list");
  stage.front.mend();
  await ada.reads(/“name” is another list now/);
  await ada.sees("of another list");
  await ada.composes("");
  await ada.goTo(stage.page("former name"));
  await ada.sees("precious");
  await ada.composes("half a sentence");
  // For a moment, letters are no keys.
  await pause(1600);
});

test("others see when the person edits no longer", options, async () => {
  await open("places", "a", "b");
  await ada.edit("b");
  await until(() => /edits 2: .*b/.test(run("who", "-l", "places")), "others see that she edits");
  await browser.press([KEYS.escape]);
  await until(() => /on 2: .*b/.test(run("who", "-l", "places")), "others see that she edits no longer");
});

test("a list that is renamed keeps its screen, its words and the focus", options, async () => {
  await open("former", "a", "b");
  await until(async () => (await copied()).includes("former"), "there is a copy");
  await browser.click("#composer");
  await browser.press([..."half a "]);
  run("rename", "former", "later");
  await until(() => browser.run(() => document.querySelector("h1").textContent === "later"), "the name is shown");
  await browser.press([..."word"]);
  await ada.composes("half a word");
  // Without a connection, it is offered under its new name alone.
  await until(async () => (await copied()).includes("later"), "the copy has the new name");
  assert.ok(!(await copied()).includes("former"));
  await browser.reload();
  await ada.composes("half a word");
  await browser.click("#composer");
  await browser.press([KEYS.enter]);
  await stage.has("later", ["a", "b", "half a word"]);
  assert.equal(await browser.run(() => decodeURIComponent(location.hash)), "#list=later");
});

test("a refused edit of another list is said, and its words are kept for it", options, async () => {
  run("create", "full", "--max-items", "2");
  run("add", "-l", "full", "one");
  await ada.goTo(stage.page("full"));
  await ada.sees("one");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("mine, offline");
  await ada.hears(/1 edit kept/);
  await ada.goTo(stage.page(stage.list("elsewhere")));
  run("add", "-l", "full", "three");
  stage.front.mend();
  await ada.reads(/“full”: Your edit was not taken: the list is full/);
  await ada.choose("Open the list");
  await ada.sees("one", "three");
  await ada.reads(/Your edit was not taken/);
  // A look at something else, and a reload, lose nothing.
  await browser.reload();
  await ada.reads(/Your edit was not taken/);
  run("rm", "-l", "full", "2");
  await ada.sees("one");
  await ada.choose("Get it back");
  await ada.composes("mine, offline");
  await browser.press([KEYS.enter]);
  await stage.has("full", ["one", "mine, offline"]);
  await ada.press("one", ["!"]);
  await ada.reads(/Your edit was not taken/);
  await browser.press([KEYS.escape]);
});

test("the lists say which of them have edits that wait", options, async () => {
  await open("waits", "a");
  await open("sent", "b");
  await ada.goTo(stage.page("waits"));
  await ada.sees("a");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("c");
  await ada.sees("a", "c");
  await browser.run(() => void (location.hash = ""));
  const words = name => browser.run(
    name => document.querySelector(`li[data-name="${name}"] .news`)?.textContent ?? "", name,
  );
  await until(async () => (await words("waits")) === "1 edit not sent yet", "it is said");
  assert.equal(await words("sent"), "");
  stage.front.mend();
  await until(async () => (await words("waits")) === "", "it is said no more");
  await stage.has("waits", ["a", "c"]);
});

test("a list that is renamed among the lists keeps what is new in it, and one that was never there its edits", options,
  async () => {
  await open("once", "a");
  await browser.run(() => void (location.hash = ""));
  await ada.reads(/once/);
  run("add", "-l", "once", "b");
  await browser.run(() => document.querySelector('li[data-name="once"] button').click());
  await ada.choose("Rename");
  await browser.type("#answer", ` again${KEYS.enter}`);
  const words = name => browser.run(
    name => document.querySelector(`li[data-name="${name}"] .news`)?.textContent, name,
  );
  await until(async () => /^1 new/.test((await words("once again")) ?? ""), "what is new is told");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.goTo(stage.page("never there"));
  await browser.click("#composer");
  await browser.press([..."c", KEYS.enter]);
  await ada.sees("c");
  await browser.run(() => void (location.hash = ""));
  await until(async () => (await words("never there")) === "1 edit not sent yet", "its edit is told");
  assert.equal(await words("once"), null);
  run("create", "never there");
  stage.front.mend();
  await ada.hears(/^saved$/);
});

test("who leaves the lists asks no more what is new in them", options, async () => {
  const names = ["n1", "n2", "n3"];
  for (const name of names) await open(name, "a");
  await open("quiet", "a");
  for (const name of names) run("add", "-l", name, "b");
  await browser.run(() => {
    const { send } = WebSocket.prototype;
    window.asked = 0;
    WebSocket.prototype.send = function (bytes) {
      // The history of one of them: a short length is in front of the message's number.
      const isOne = /n[123]/.test(new TextDecoder().decode(bytes));
      if (new Uint8Array(bytes)[1] !== 10 || !isOne) return send.call(this, bytes);
      window.asked++;
      setTimeout(() => send.call(this, bytes), 500);
    };
    location.hash = "";
  });
  await until(() => browser.run(() => window.asked === 1), "one list is asked for");
  await browser.run(() => void (location.hash = "#list=quiet"));
  await ada.sees("a");
  await pause(1200);
  assert.equal(await browser.run(() => window.asked), 1);
});

test("a list that is deleted says so until it is back", options, async () => {
  await open("goes", "a", "b");
  await browser.click("#composer");
  await browser.press([..."half a word"]);
  run("delete", "goes", "--force");
  await until(
    () => browser.run(() => document.querySelector(".empty:not([hidden])")?.textContent === "The list was deleted."),
    "it is said",
  );
  assert.equal(await browser.run(() => document.querySelector("#composer").readOnly), true);
  await ada.press("a", ["d"]);
  assert.match(await ada.toast(), /The list was deleted/);
  await ada.sees("a", "b");
  run("undelete", "goes");
  await until(() => browser.run(() => document.querySelector("#composer").readOnly === false), "it is back");
  await ada.composes("half a word");
  await ada.press("a", ["d"]);
  await stage.has("goes", ["b"]);
  await ada.hears(/^saved$/);
});

test("edits of a list that is deleted meanwhile go out when it is back", options, async () => {
  await open("returns", "a");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("mine, offline");
  run("delete", "returns", "--force");
  stage.front.mend();
  await ada.reads(/The list is gone; your edits of it are still here/);
  run("undelete", "returns");
  await stage.has("returns", ["a", "mine, offline"]);
  await ada.hears(/^saved$/);
});

test("what is typed before a list has come is there once", options, async () => {
  await open("there", "a");
  stage.list("to come", "b");
  stage.front.cut();
  await ada.hears(/^offline$/);
  await browser.run(() => void (location.hash = "#list=to%20come"));
  await until(() => browser.run(() => document.querySelector("h1")?.textContent === "to come"), "the list is shown");
  await browser.click("#composer");
  await browser.press([..."Milk"]);
  // It is kept by then.
  await pause(500);
  stage.front.mend();
  await ada.sees("b");
  await browser.press([KEYS.enter]);
  await ada.sees("b", "Milk");
});

test("a message that takes the place of another one does not take the focus away", options, async () => {
  await open("messages", "a", "b");
  await ada.press("a", ["d"]);
  await until(async () => (await ada.toast()) === "Deleted a.Undo", "the way back is offered");
  await browser.run(() => document.querySelector(".toast button").focus());
  run("rename", "messages", "more messages");
  await until(async () => /is called/.test(await ada.toast()), "something else is said");
  assert.equal(await browser.run(() => document.activeElement.className), "row");
});

test("a draft belongs to its tab", options, async () => {
  await open("drafts", "a");
  await browser.click("#composer");
  await browser.press([..."of the first tab"]);
  await pause(400);
  const second = new Person(browser, await browser.newWindow());
  await second.open(stage.page("drafts"));
  await second.sees("a");
  await second.add("quick");
  await stage.has("drafts", ["a", "quick"]);
  await second.composes("");
  await ada.here();
  await browser.reload();
  await ada.composes("of the first tab");
  // The next one that opens the list has what an ended tab has left.
  await browser.closeTab();
  await second.here();
  await browser.reload();
  await second.composes("of the first tab");
  ada.tab = second.tab;
});

test("what is added below comes in its order, and what was lost in several lines is one item", options, async () => {
  await open("order", "x", "y");
  await ada.press("x", ["o"]);
  await browser.press(["1", KEYS.enter, "2", KEYS.enter, "3", KEYS.enter]);
  await stage.has("order", ["x", "1", "2", "3", "y"]);
  await ada.reads(/Adds below “3”/);
  run("rm", "-l", "order", "4");
  await until(async () => !(await browser.run(() => document.body.innerText)).includes("Adds below"), "it is gone");
  await browser.press(["4", KEYS.enter]);
  await stage.has("order", ["x", "1", "2", "y", "4"]);
  run("create", "lines");
  run("add", "-l", "lines", "--note", "one\ntwo\nthree");
  await ada.goTo(stage.page("lines"));
  await ada.sees("one\ntwo\nthree");
  await ada.edit("one\ntwo\nthree");
  await browser.press(["!"]);
  run("rm", "-l", "lines", "1");
  await ada.composes("one\ntwo\nthree!");
  await browser.press([KEYS.enter]);
  await stage.has("lines", ["one\ntwo\nthree!"]);
});

test("going back closes what is open above the page", options, async () => {
  await ada.goTo(stage.page(stage.list("before", "a")));
  await ada.sees("a");
  await open("behind", "b");
  await ada.press("b", [KEYS.enter]);
  await dialog();
  await browser.run(() => history.back());
  await ada.sees("a");
  assert.equal(await browser.run(() => document.querySelector("dialog") !== null), false);
});

test("whoever moves an item to another list is not in it then", options, async () => {
  run("create", "target");
  await open("source", "a", "b");
  await ada.press("a", ["m"]);
  await dialog();
  await browser.press([..."target", KEYS.enter]);
  await stage.has("target", ["a"]);
  await until(() => !/Ada/.test(run("who", "-l", "target")), "she is not there");
});

test("a question without a connection forgets no list", options, async () => {
  stage.list("unvisited", "x");
  await ada.goTo(stage.page(stage.list("asking", "a")));
  await ada.sees("a");
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/unvisited/);
  await ada.goTo(stage.page("asking"));
  await ada.sees("a");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.press("a", ["m"]);
  await dialog();
  const offered = () => browser.run(() => [...document.querySelectorAll("#offers option")].map(({ value }) => value));
  assert.ok((await offered()).includes("unvisited"));
  await browser.press([KEYS.escape]);
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/unvisited/);
});

test("what is added to a long list is in sight", options, async () => {
  const texts = Array.from({ length: 40 }, (_, i) => `item ${i}`);
  await open("tall", ...texts);
  await ada.add("the new one");
  await ada.sees(...texts, "the new one");
  const isSeen = () => {
    const row = [...document.querySelectorAll(".row")].at(-1).getBoundingClientRect();
    return row.bottom <= document.querySelector(".composer").getBoundingClientRect().top + 1;
  };
  await until(() => browser.run(isSeen), "the last row is above the line for new items", 3000);
});

test("one is told before one overwrites others' words", options, async () => {
  await open("words", "the brown fox");
  await ada.edit("the brown fox");
  await browser.run(() => document.activeElement.setSelectionRange(4, 9));
  await browser.press([..."black"]);
  run("edit", "-l", "words", "1", "the white fox");
  await ada.reads(/Somebody has changed what you are replacing to “white”. Enter puts your words there/);
  // The way back in the field, and forth again: one goes on behind what has come back.
  await browser.press(["z"], KEYS.control);
  await browser.press(["y"], KEYS.control);
  await ada.types("the black fox");
  await browser.press([..."!"]);
  await ada.types("the black! fox");
  await browser.press([KEYS.enter]);
  await stage.has("words", ["the black! fox"]);
});

test("words that were overwritten come back to their place", options, async () => {
  await open("back", "the red house");
  const bob = await new Person(browser, await browser.newWindow()).open(
    stage.page("back", undefined, "127.0.0.1"), "Bob",
  );
  await bob.sees("the red house");
  stage.front.cut();
  const words = [[bob, "blue"], [ada, "green"]];
  for (const [person, word] of words) {
    await person.here();
    await person.hears(/^offline/);
    await person.edit("the red house");
    await browser.run(() => document.activeElement.setSelectionRange(4, 7));
    await browser.press([...word, KEYS.enter]);
  }
  stage.front.mend();
  // The second to arrive overwrites the words of the first.
  let overridden;
  await until(async () => {
    for (const [person, word] of words) {
      await person.here();
      if (/overwrote/.test(await browser.run(() => document.querySelector(".notice").textContent))) {
        overridden = [person, word];
      }
    }
    return overridden;
  }, "one of them is overridden");
  const [person, word] = overridden;
  await person.here();
  // Somebody's other words are not theirs to replace.
  const [there] = await stage.texts("back");
  const present = there.split(" ")[1];
  run("edit", "-l", "back", "1", `the house of ${present}birds`);
  await person.sees(`the house of ${present}birds`);
  await person.choose("Get it back");
  await person.composes(word);
  run("edit", "-l", "back", "1", there);
  await person.sees(there);
  await person.press(there, ["!"]);
  await person.choose("Get it back");
  await stage.has("back", [`the ${word} house`]);
  // They are back.
  await person.press(`the ${word} house`, ["!"]);
  await dialog();
  assert.equal(await browser.run(() => document.querySelector("dialog li button") === null), true);
  await browser.press([KEYS.escape]);
  await bob.here();
  await browser.closeTab();
  await ada.here();
});

test("what is folded is counted, and the history goes on while it is read", options, async () => {
  run("create", "folded");
  stage.run(["import", "-l", "folded", "-"], { input: "- [ ] fruit\n  - [ ] apples\n  - [x] pears\n- [ ] tea\n" });
  await ada.goTo(stage.page("folded"));
  await ada.sees("fruit", "apples", "pears", "tea");
  await ada.press("fruit", ["z"]);
  await ada.sees("fruit", "tea");
  const hidden = () => browser.run(() => document.querySelector(".row .where").textContent);
  assert.equal(await hidden(), "hides 2, 1 done");
  run("done", "-l", "folded", "2");
  await until(async () => (await hidden()) === "hides 2, 2 done", "others' ticks are counted");
  await ada.press("fruit", ["H"]);
  const revisions = () => browser.run(() => [...document.querySelectorAll(".history li")].map(({ value }) => value));
  await until(async () => (await revisions()).length >= 2, "the history is there");
  const [newest] = await revisions();
  run("add", "-l", "folded", "more");
  run("add", "-l", "folded", "and more");
  await until(
    async () => JSON.stringify((await revisions()).slice(0, 3)) === JSON.stringify([newest + 2, newest + 1, newest]),
    "it goes on",
  );
  // Very many at once: the way to the earlier ones stays.
  stage.front.cut();
  await ada.hears(/^offline/);
  stage.run(["import", "-l", "folded", "-"], { input: "- [ ] x\n" });
  for (let i = 0; i < 28; i++) run("done", "-l", "folded", "1", "--json"), run("undone", "-l", "folded", "1");
  stage.front.mend();
  await until(async () => (await revisions())[0] > newest + 56, "the newest are there");
  await ada.choose("Older");
  await until(async () => (await revisions()).at(-1) < newest, "the oldest are there");
  await browser.reload();
  await until(async () => (await revisions()).length === 50, "it is there again");
  await ada.choose("Older");
  await until(async () => (await revisions()).at(-1) < newest, "the oldest are there again");
  run("rename", "folded", "unfolded");
  await ada.reads(/History of unfolded/);
  run("delete", "unfolded", "--force");
  await until(
    () => browser.run(() => document.querySelector("main .note").textContent === "The list was deleted."),
    "it says that the list was deleted",
  );
  run("undelete", "unfolded");
  run("add", "-l", "unfolded", "again");
  await ada.reads(/added “again”|again/);
  await until(() => browser.run(() => document.querySelector("main .note").hidden), "nothing is said any more");
  await ada.goTo(stage.page("unfolded"));
  await ada.press("fruit", ["z"]);
  run("rm", "-l", "unfolded", "2-3");
  await until(async () => (await hidden()) === "", "nothing is hidden");
});

test("a list that one has only glanced at is there without a connection", options, async () => {
  await ada.goTo(stage.page(stage.list("glance", "a", "b")));
  await ada.sees("a", "b");
  await ada.goTo(stage.page(stage.list("other", "c")));
  await ada.sees("c");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.goTo(stage.page("glance"));
  await ada.sees("a", "b");
});

test("a text has its place in a narrow window, however deep it is", options, async () => {
  run("create", "deep");
  const lines = Array.from({ length: 12 }, (_, i) => `${"  ".repeat(i)}- [ ] level text ${i}`);
  stage.run(["import", "-l", "deep", "-"], { input: `${lines.join("\n")}\n` });
  const window = { width: 320, height: 640, deviceScaleFactor: 1, mobile: false };
  await browser.cdp("Emulation.setDeviceMetricsOverride", window);
  await ada.goTo(stage.page("deep"));
  await until(() => browser.run(() => document.querySelectorAll(".row").length === 12), "the rows are there");
  const width = await browser.run(
    () => Math.min(...[...document.querySelectorAll(".row .text")].map(text => text.getBoundingClientRect().width)),
  );
  await browser.cdp("Emulation.clearDeviceMetricsOverride");
  assert.ok(width >= 90, `${width} px`);
});

test("what one has written in items that somebody deletes comes back", options, async () => {
  await open("written in", "bread", "eggs", "milk");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.press("bread", ["e"]);
  await browser.press([..." and cake", KEYS.enter]);
  await ada.press("eggs", [" "]);
  await ada.hears(/2 edits kept/);
  run("rm", "-l", "written in", "1", "2");
  stage.front.mend();
  await ada.sees("milk");
  await ada.reads(/deleted “eggs”, which you had changed|deleted “bread and cake”, which you had changed/);
  await ada.press("milk", ["!"]);
  await ada.reads(/deleted “eggs”, which you had changed/);
  await browser.run(() => [...document.querySelectorAll("dialog li")]
    .find(({ textContent }) => textContent.includes("bread and cake")).querySelector("button").click());
  await ada.composes("bread and cake");
  await browser.press([KEYS.enter]);
  await stage.has("written in", ["milk", "bread and cake"]);
});

test("a row that goes while it is dragged leaves nothing behind", options, async () => {
  await open("dragged away", "a", "b", "c", "d");
  const [x, y] = await ada.place(".grip", "a");
  const [, d] = await ada.place(".row", "d");
  await browser.pointer([["down", x, y], ["move", x, y + 15], ["move", x, d]]);
  run("rm", "-l", "dragged away", "1");
  await ada.sees("b", "c", "d");
  await browser.pointer([["move", 200, 5], ["up"]]);
  // Another row is dragged as ever.
  const [, b] = await ada.place(".grip", "b");
  const [, last] = await ada.place(".row", "d");
  await browser.pointer([["down", x, b], ["move", x, b + 15], ["move", x, last + 10], ["up"]]);
  await stage.has("dragged away", ["c", "d", "b"]);
});

test("an item moves to another list, also if one leaves the list at once", options, async () => {
  stage.list("its target", "there");
  await open("its source", "goes", "stays");
  await ada.press("goes", ["m"]);
  await dialog();
  await browser.press([..."its target", KEYS.enter]);
  await browser.run(() => void (location.hash = "#list=its target"));
  await ada.sees("there", "goes");
  await stage.has("its source", ["stays"]);
  await ada.add("works");
  await stage.has("its target", ["there", "goes", "works"]);
});

test("edits of a list that is gone can be let go of, and another list gets its name", options, async () => {
  await open("ended", "alpha", "beta");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.press("alpha", ["e"]);
  await browser.press([..." more", KEYS.enter]);
  await ada.hears(/1 edit kept/);
  run("delete", "--force", "ended");
  stage.front.mend();
  await ada.hears(/^saved, but not 1 edit of “ended”$/);
  await ada.goTo(stage.page(stage.list("other one", "here")));
  await ada.sees("here");
  await ada.hears(/^saved, but not 1 edit of “ended”$/);
  await browser.click(".badge");
  await dialog();
  await ada.choose("Discard the edits of “ended”");
  await ada.reads(/What you did in it, and nobody else has, is forgotten/);
  await ada.choose("Discard");
  await ada.hears(/^saved$/);
  stage.list("ended", "new");
  await ada.goTo(stage.page("ended"));
  await ada.sees("new");
});

test("what is selected stays selected while it is moved, by oneself or by others", options, async () => {
  const is = count =>
    until(
      () => browser.run(text => document.querySelector(".selected").textContent === text, `${count} items selected`),
      `${count} are selected`,
    );
  await open("block", "a", "b", "c", "d", "e", "f");
  await ada.press("b", ["v", "j", "j"]);
  await is(3);
  await browser.press(["J"]);
  await stage.has("block", ["a", "e", "b", "c", "d", "f"]);
  await is(3);
  await browser.press(["J"]);
  await stage.has("block", ["a", "e", "f", "b", "c", "d"]);
  await is(3);
  // Somebody takes an end away; it comes back to the others with them.
  run("mv", "-l", "block", "6", "--top");
  await ada.sees("d", "a", "e", "f", "b", "c");
  await is(3);
  await browser.press(["b"]);
  await stage.has("block", ["a", "e", "f", "d", "b", "c"]);
  await is(3);
  await browser.press(["K"]);
  await stage.has("block", ["a", "e", "d", "b", "c", "f"]);
  // Whichever row is taken, all of them move.
  const [from, to] = [await ada.place(".grip", "b"), await ada.place(".grip", "a")];
  await browser.drag([from, [from[0], from[1] - 10], [to[0], to[1] - 6]]);
  await stage.has("block", ["d", "b", "c", "a", "e", "f"]);
});

test("whoever presses a row that has just come there means the one before", options, async () => {
  await open("moving", "a", "b", "c");
  /** In the page: presses a place with the very change that others make of the rows. */
  const pressing = (x, y) => new Promise(resolve => new MutationObserver((_, observer) => {
    observer.disconnect();
    // Once the rows are drawn, and before they could be looked at.
    setTimeout(() => {
      const at = { bubbles: true, cancelable: true, detail: 1, clientX: x, clientY: y };
      const target = document.elementFromPoint(x, y);
      const isFocused = target.dispatchEvent(new MouseEvent("mousedown", at));
      target.dispatchEvent(new MouseEvent("click", at));
      const said = document.querySelector(".toast").textContent;
      resolve(isFocused ? `focused; ${said}` : said);
    });
  }).observe(document.querySelector(".grid"), { childList: true, subtree: true }));
  const during = async (css, text, change) => {
    const place = await ada.place(css, text);
    const [said] = await Promise.all([browser.wait(pressing, ...place), pause(200).then(change)]);
    return said;
  };
  const done = async () => (await stage.items("moving")).filter(({ done }) => done).map(({ text }) => text);
  // The box of "b" is where that of "c" was.
  const said = await during("input", "c", () => run("add", "-l", "moving", "--top", "new"));
  assert.match(said, /^The rows have just moved/);
  await ada.sees("new", "a", "b", "c");
  // A row that stays where it was is pressed.
  await during("input", "a", () => run("rm", "-l", "moving", "4"));
  await until(async () => (await done()).length > 0, "something is ticked");
  assert.deepEqual(await done(), ["a"]);
  // What is below the last row is none.
  const [x, y] = await ada.place(".row", "b");
  const { height } = await browser.run(() => document.querySelector(".row").getBoundingClientRect().toJSON());
  const pressed = browser.wait(pressing, x, y + height);
  await pause(200).then(() => run("add", "-l", "moving", "last"));
  assert.match(await pressed, /^The rows have just moved/);
  // After a moment the person has seen it.
  await pause(600);
  const [left, top] = await ada.place("input", "last");
  await browser.pointer([["down", left, top], ["up"]]);
  await until(async () => (await done()).length > 1, "another one is ticked");
  assert.deepEqual(await done(), ["a", "last"]);
});

test("a reload shows nothing as changed", options, async () => {
  const texts = Array.from({ length: 30 }, (_, i) => `row ${i}`);
  await open("calm", ...texts);
  for (let round = 0; round < 3; round++) {
    await ada.press(`row ${round}`, [" "]);
    const ticked = async () => (await stage.items("calm")).filter(({ done }) => done).length;
    await until(async () => (await ticked()) === round + 1, "it is ticked");
    await pause(300);
    await browser.reload();
    await ada.sees(...texts);
    for (let look = 0; look < 5; look++, await pause(100)) {
      assert.equal(await browser.run(() => document.querySelectorAll(".flash").length), 0);
    }
  }
});
