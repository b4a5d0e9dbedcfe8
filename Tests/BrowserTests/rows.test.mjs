// The rows of the page are those of the list, whatever others do to it: in a short list all of them, in a long one
// those near what one sees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seed } from "../WebTests/random.mjs";
import { until } from "./browser.mjs";
import { Other, ada, begin, browser, stage } from "./stage.mjs";

const random = new Random(seed);
console.log(`seed ${seed}`);

const options = begin();

/** A page with a list, and somebody else who is there. */
async function open(list, count) {
  stage.run(["create", list]);
  const lines = Array.from({ length: count }, (_, i) => `- [ ] item ${i}`);
  stage.run(["import", "-l", list, "-"], { input: `${lines.join("\n")}\n` });
  await ada.open(stage.page(list));
  await until(() => browser.run(() => document.querySelectorAll(".row").length > 20), "the rows are there");
  const other = new Other(stage, list);
  await other.quiet();
  return other;
}

/** The numbers and the texts of the rows that are elements. */
const rows = () => browser.run(() => [...document.querySelectorAll(".row")].map(row =>
  [Number(row.getAttribute("aria-rowindex")), row.querySelector(".text").textContent]));

/** Somebody else does some of all there is to do, in places that are near each other, or anywhere. */
async function play(other, most) {
  for (let i = 0; i < most; i++) {
    const { length } = other.texts;
    const index = random.below(random.is(0.5) ? Math.min(length, 200) : length);
    const kind = random.below(10);
    if (kind < 4) await other.add(`added ${i}`, index);
    else if (kind < 6) await other.delete(index);
    else if (kind < 8) await other.move(index, random.below(length));
    else await other.change(index, `changed ${i}`);
  }
}

test("rows are the items of the list, in their order and with their numbers", options, async () => {
  const other = await open("short", 500);
  const judge = async () => {
    const expected = other.texts.map((text, i) => [i + 1, text]);
    const isSo = async () => JSON.stringify(await rows()) === JSON.stringify(expected);
    await until(isSo, "all rows", 10_000).catch(() => {});
    assert.deepEqual(await rows(), expected);
  };
  for (const most of [1, 5, 30, 100, 200]) {
    await play(other, most);
    await judge();
  }
  while (other.texts.length > 60) await other.delete(random.below(other.texts.length));
  await judge();
  other.close();
});

test("of a long list, the rows that one sees are those of the list", options, async () => {
  const other = await open("long", 6000);
  for (const isAtEnd of [false, true]) {
    await browser.run(isAtEnd => scrollTo(0, isAtEnd ? document.documentElement.scrollHeight : 0), isAtEnd);
    await play(other, 60);
    await until(async () => {
      const all = await rows();
      const areThose = all.every(([number, text]) => other.texts[number - 1] === text);
      return areThose && all.length < 1000 && all.some(([number]) => number === (isAtEnd ? other.texts.length : 1));
    }, `the rows at the ${isAtEnd ? "end" : "beginning"} are those of the list`);
  }
  // One of the last items that nobody has touched.
  const far = other.texts.findLast(text => /^item 5\d{3}$/.test(text));
  await browser.type("#composer", far);
  const isOffered = far => document.querySelector(".offer")?.title === `[ ] ${far}`;
  await until(() => browser.run(isOffered, far), "the item is offered, though it is far away");
  other.close();
});
