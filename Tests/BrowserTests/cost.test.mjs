// What a key or an edit costs the page is that of what it changes, not that of the list. It is counted, not timed: how
// often V8 has run each block of the page's code, and how many items lists have handed out one by one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, until } from "./browser.mjs";
import { Other, ada, begin, browser, stage } from "./stage.mjs";

const [SHORT, LONG] = [10_000, 100_000];

const options = begin();

/** In the page: a loop over a list that is written as `[...list]` runs no block of the page for an item. */
async function countItems() {
  const { src } = [...document.scripts].find(({ type }) => type === "module");
  const { List } = await import(src.replace("view/main.js", "client/list.js"));
  const all = List.prototype[Symbol.iterator];
  List.prototype[Symbol.iterator] = function () {
    if (!isAside(new Error().stack)) window.items += this.count;
    return all.call(this);
  };
  /** A copy of the list is kept every few seconds, for which nothing waits. */
  function isAside(stack) {
    return stack.includes("/copies.js");
  }
}

/**
 * How much the page does for an action. What is done only once has been done before. A slow machine draws an edit, its
 * sending and its acknowledgement one by one, so the least of three counts.
 */
async function costOf(action) {
  await action();
  const costs = [];
  while (costs.length < 3) costs.push(await countOf(action));
  return Math.min(...costs);
}

/** How often the page's blocks run while an action goes on, and how many items its lists hand out. */
async function countOf(action) {
  await browser.run(() => (window.items = 0));
  await browser.cdp("Profiler.enable");
  await browser.cdp("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await action();
  const { result } = await browser.cdp("Profiler.takePreciseCoverage");
  await browser.cdp("Profiler.stopPreciseCoverage");
  const scripts = result.filter(({ url }) => /\/(client|view)\//.test(url) && !url.endsWith("/copies.js"));
  const blocks = scripts.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return blocks.reduce((sum, { count }) => sum + count, 0) + (await browser.run(() => window.items));
}

/** What people do in a list, and what each of it costs. */
async function costs(count) {
  const list = `list of ${count}`;
  stage.run(["create", list]);
  const lines = Array.from({ length: count }, (_, i) => `- [ ] item ${i}`);
  stage.run(["import", "-l", list, "-"], { input: `${lines.join("\n")}\n` });
  await ada.open(stage.page(list));
  await until(() => browser.run(() => document.querySelectorAll(".row").length > 20), "the rows are there");
  await ada.hears(/^saved$/);
  await browser.run(countItems);
  const other = new Other(stage, list);
  await other.quiet();
  let number = 0;
  const hasText = text => document.querySelector(".grid").textContent.includes(text);
  const isShown = text => until(() => browser.run(hasText, text), text);
  const drawn = () => browser.wait(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve))));
  const saved = async () => {
    await drawn();
    await ada.hears(/^saved$/);
    await drawn();
  };
  const focus = css => browser.run(css => document.querySelector(css).focus(), css);
  const change = async index => {
    await other.change(index, `far ${++number} `);
    await other.change(2, `near ${number} `);
    await isShown(`near ${number} `);
  };
  const all = {};
  const measure = async (what, action) => (all[what] = await costOf(action));
  await measure("others' changes in sight and far away", () => change(count - 9));
  await measure("another's item above all, which goes again", async () => {
    await other.add(`above ${++number} `, 0);
    await isShown(`above ${number} `);
    await other.delete(0);
    await saved();
  });
  await focus(".row:nth-child(3)");
  await measure("a step to the next row", async () => {
    await browser.press("j");
    await drawn();
  });
  await measure("a tick", async () => {
    await browser.press(" ");
    await saved();
  });
  await measure("a move", async () => {
    await browser.press("J");
    await saved();
  });
  await measure("an undo", async () => {
    await browser.press("u");
    await saved();
  });
  await measure("an edited text", async () => {
    await browser.press("e");
    await browser.press(["x", KEYS.enter]);
    await saved();
  });
  await focus("#composer");
  await measure("a new item", async () => {
    await browser.press(["x", KEYS.enter]);
    await saved();
  });
  other.close();
  return all;
}

test("what a key or an edit costs does not grow with the list", options, async () => {
  const [few, many] = [await costs(SHORT), await costs(LONG)];
  for (const [what, cost] of Object.entries(many)) {
    // A pass over the list would be a block or more for each item; for each of its blocks of items, some are allowed.
    const growth = (cost - few[what]) / (LONG - SHORT);
    assert.ok(growth < 0.5, `${what}: ${few[what]} in a list of ${SHORT}, ${cost} in one of ${LONG}`);
    console.log(what, few[what], cost);
  }
});
