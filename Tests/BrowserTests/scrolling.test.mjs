// Long lists that one has scrolled: what others do moves nothing that one sees, and what one does oneself is in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { ada, begin, browser, stage } from "./stage.mjs";

const options = begin();
const run = (...args) => stage.run(args);

/** A list of so many tasks that Ada has open. */
async function long(name, count = 300) {
  run("create", name);
  const lines = Array.from({ length: count }, (_, i) => `- [ ] item ${i + 1}\n`);
  stage.run(["import", "-l", name, "-"], { input: lines.join("") });
  await ada.goTo(stage.page(name));
  await until(async () => (await ada.texts()).length >= 128, "the rows are there");
  await ada.hears(/^saved$/);
}

const scrollTo = async y => {
  await browser.run(y => scrollTo(0, y), y);
  await pause(400);
};
const scrolled = () => browser.run(() => Math.round(scrollY));
/** Where the row of a text is in the window; nothing if it is not filled. */
const top = text => browser.run(text => {
  const row = [...document.querySelectorAll(".row")].find(row => row.querySelector(".text")?.textContent === text);
  return row && Math.round(row.getBoundingClientRect().top);
}, text);
const isInSight = async text => {
  const place = await top(text);
  const height = await browser.run(() => innerHeight);
  return place !== undefined && place !== null && place > 90 && place < height - 90;
};
/** The text of the first row in sight. */
const first = () => browser.run(() =>
  document.elementFromPoint(innerWidth / 2, 200).closest(".row")?.querySelector(".text").textContent);
const focus = async text => {
  await browser.run(text => {
    const row = [...document.querySelectorAll(".row")].find(row => row.querySelector(".text").textContent === text);
    row.focus({ preventScroll: true });
  }, text);
};
const shows = async (list, text) => {
  await until(() => browser.run(text => document.querySelector(".count").textContent.includes(text), text), text);
  await pause(300);
};

test("a field stays while others add items above it, whatever becomes of the rows", options, async () => {
  await long("typed");
  await focus("item 70");
  await browser.press(["e"]);
  await browser.press([..." abc"]);
  for (let i = 1; i <= 4; i++) run("add", "-q", "-l", "typed", "--top", `above ${i}`);
  await shows("typed", "304 items");
  assert.equal((await ada.field()).value, "item 70 abc");
  await browser.press([..."d", KEYS.enter]);
  await until(async () => (await stage.items("typed"))[73].text === "item 70 abcd");
});

test("a field stays when somebody moves its item far away", options, async () => {
  await long("far", 6000);
  await focus("item 20");
  await browser.press(["e"]);
  await browser.press([..." abc"]);
  run("mv", "-q", "-l", "far", "20", "--end");
  await until(async () => (await stage.items("far"))[5999].text === "item 20");
  await pause(500);
  await browser.press([..."d", KEYS.enter]);
  await until(async () => (await stage.items("far"))[5999].text === "item 20 abcd");
});

test("what one reads stays where it is while others add and delete above", options, async () => {
  await long("read");
  for (const y of [4000, 4500, 5200, 5700]) {
    await scrollTo(y);
    const [text, { length }] = [await first(), await stage.items("read")];
    const before = await top(text);
    run("add", "-q", "-l", "read", "--top", "one more");
    await shows("read", `${length + 1} items`);
    assert.ok(Math.abs((await top(text)) - before) <= 1, `${text} at ${y}: ${before}, then ${await top(text)}`);
    run("rm", "-q", "-l", "read", "1-20");
    await shows("read", `${length - 19} items`);
    assert.ok(Math.abs((await top(text)) - before) <= 1, `${text} at ${y}: ${before}, then ${await top(text)}`);
  }
});

test("a row in sight that somebody moves away is not followed", options, async () => {
  await long("moved");
  await scrollTo(4000);
  const text = await browser.run(() =>
    document.elementFromPoint(innerWidth / 2, 121).closest(".row").querySelector(".text").textContent);
  const next = `item ${Number(text.slice(5)) + 3}`;
  const before = await top(next);
  // To where its row is drawn, too.
  run("mv", "-q", "-l", "moved", text.slice(5), "--after", String(Number(text.slice(5)) + 12));
  await pause(1000);
  assert.ok((await top(text)) > before, "it was moved");
  assert.ok(Math.abs((await scrolled()) - 4000) < 100, `${await scrolled()}`);
  assert.ok(Math.abs((await top(next)) - before) <= 1, `${before}, then ${await top(next)}`);
});

test("the page does not go to the row that has the focus for what others do", options, async () => {
  await long("afar");
  await focus("item 3");
  await scrollTo(6000);
  run("rm", "-q", "-l", "afar", "3");
  await shows("afar", "299 items");
  assert.ok(Math.abs((await scrolled()) - 6000) < 100, `${await scrolled()}`);
  const { activeElement, text } = await browser.run(() => ({
    activeElement: document.activeElement.className, text: document.activeElement.querySelector(".text")?.textContent,
  }));
  assert.deepEqual([activeElement.split(" ")[0], text], ["row", "item 4"]);
});

test("what is added beside an item, or at the end, is in sight", options, async () => {
  await long("added");
  await scrollTo(4000);
  const text = await first();
  await focus(text);
  await browser.press(["o"]);
  for (let i = 0; i < 12; i++) await browser.press([...`new ${i}`, KEYS.enter]);
  await until(() => isInSight("new 11"), "the last one is in sight");
  await browser.press([KEYS.escape]);
  await browser.run(() => document.querySelector("#composer").focus({ preventScroll: true }));
  await scrollTo(2000);
  await browser.press([..."at the end", KEYS.enter]);
  await until(() => isInSight("at the end"), "it is in sight");
});

test("after a filter one is where one was, or at what one has gone to", options, async () => {
  await long("found");
  await scrollTo(4000);
  const text = await first();
  await focus(text);
  const before = await top(text);
  await browser.press(["/"]);
  await browser.press([..."item 29"]);
  await until(() => isInSight("item 29"), "what is found is in sight");
  await browser.press([KEYS.escape]);
  await until(async () => Math.abs(((await top(text)) ?? 0) - before) <= 2, "one is where one was");
  await browser.press(["/"]);
  await browser.press([..."item 29"]);
  await until(() => isInSight("item 291"), "what is found is in sight");
  await focus("item 291");
  await browser.press([KEYS.escape]);
  await until(() => isInSight("item 291"), "one is at what one has gone to");
});

test("a list is where one left it by All lists", options, async () => {
  await long("left");
  await scrollTo(4000);
  const text = await first();
  const before = await top(text);
  await browser.run(() => document.querySelector("a.home").click());
  await until(() => browser.run(() => document.querySelector("ul.lists li")), "the lists are there");
  await browser.run(() => [...document.querySelectorAll("ul.lists li")].find(li => li.dataset.name === "left")
    .querySelector("a").click());
  await until(async () => Math.abs(((await top(text)) ?? 0) - before) <= 2, "one is where one was");
  // The browser's own way back, and forth again.
  await browser.run(() => history.back());
  await until(() => browser.run(() => document.querySelector("ul.lists li")), "the lists are there");
  await browser.run(() => history.forward());
  await until(async () => Math.abs(((await top(text)) ?? 0) - before) <= 2, "one is where one was once more");
});

test("who undoes sees what comes back, and goes on from there", options, async () => {
  await long("undone");
  await ada.hears(/^saved$/);
  const focused = () => browser.run(() => document.activeElement.querySelector(".text")?.textContent);
  const deleteFarAway = async () => {
    await focus("item 3");
    await browser.press(["d", "G"]);
    await until(async () => (await focused()) === "item 300", "one is at the end");
  };
  await deleteFarAway();
  await browser.press(["u"]);
  await until(async () => (await focused()) === "item 3" && (await isInSight("item 3")), "one is at what is back");
  // A button keeps the focus, as long as it does something.
  await deleteFarAway();
  await browser.click("[aria-label=Undo]");
  await until(() => isInSight("item 3"), "what is back is in sight");
  assert.equal(await browser.run(() => document.activeElement.ariaLabel), "Undo");
  await ada.open(stage.page(stage.list("first", "one")));
  await ada.sees("one");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("two");
  await ada.sees("one", "two");
  await browser.click("[aria-label=Undo]");
  await ada.sees("one");
  await until(async () => (await focused()) === "one", "the focus is in the rows");
});

test("keys act on what one sees: the first one only goes into the rows", options, async () => {
  await long("seen");
  assert.equal(await browser.run(() => document.activeElement.localName), "h1");
  await scrollTo(4000);
  const text = await first();
  await browser.press([" "]);
  await pause(300);
  await browser.press(["d"]);
  await pause(300);
  assert.ok(await browser.run(() => document.activeElement.matches(".row")));
  assert.equal((await stage.items("seen")).filter(({ done }) => done).length, 0);
  assert.equal((await stage.items("seen")).length, 300);
  const focused = await browser.run(() => document.activeElement.querySelector(".text").textContent);
  assert.ok(await isInSight(focused), `${focused}, while ${text} is in sight`);
});

test("what is overridden is told in sight, and what is offered leaves the list in sight", options, async () => {
  await long("told");
  await scrollTo(4000);
  const text = await first();
  stage.front.cut();
  await ada.hears(/^offline/);
  await focus(text);
  await browser.press(["e"]);
  await browser.press([..." more", KEYS.enter]);
  await pause(300);
  run("rm", "-q", "-l", "told", String((await stage.items("told")).findIndex(item => item.text === text) + 1));
  stage.front.mend();
  await ada.hears(/^saved/);
  await until(() => browser.run(() => {
    const box = document.querySelector(".notice").getBoundingClientRect();
    return box.height > 0 && box.top > 0 && box.bottom < innerHeight / 2;
  }), "the notice is in sight");
  // Long texts that begin alike are offered by their beginnings.
  for (let i = 0; i < 4; i++) run("add", "-q", "-l", "told", `alike ${"and so on ".repeat(200)}${i}`);
  await browser.run(() => document.querySelector("#composer").focus({ preventScroll: true }));
  await browser.press([..."alike"]);
  await until(() => browser.run(() => document.querySelectorAll(".offer").length === 4), "items are offered");
  const height = await browser.run(() => document.querySelector(".composer").offsetHeight / innerHeight);
  assert.ok(height < 0.5, `the line at the bottom takes ${height} of the window`);
});

test("a short message leaves what can be done with a selection free", options, async () => {
  await long("picked");
  await focus("item 3");
  await browser.press(["d"]);
  await until(() => browser.run(() => !document.querySelector(".toast").hidden), "one may undo");
  await until(() => browser.run(() => document.activeElement.matches(".row")), "the next row has the focus");
  await browser.press(["v"]);
  await until(() => browser.run(() => !document.querySelector(".selection").hidden), "a selection is begun");
  await pause(200);
  const [toast, bar] = await browser.run(() =>
    [".toast", ".selection"].map(css => {
      const { top, bottom } = document.querySelector(css).getBoundingClientRect();
      return { top, bottom };
    })
  );
  assert.ok(toast.bottom <= bar.top, `${toast.bottom} and ${bar.top}`);
});
