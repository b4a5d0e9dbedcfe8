// The client's modules in the engines of browsers: the vectors, the laws, and questions that Python answers.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Python, hasPython } from "../WebTests/python.mjs";
import { seed, times } from "../WebTests/random.mjs";
import { Browser, chromeDriver, noWebKit } from "./browser.mjs";

const root = new URL("../../", import.meta.url);
/** Of what is tried at random in Node, so much is tried here. */
const share = 0.2 * times;
let server, page;

/** Serves the modules and the vectors as they are. */
before(async () => {
  server = createServer(async ({ url }, answer) => {
    const content = url === "/" ? "<!doctype html>" : await readFile(new URL(`.${url}`, root)).catch(() => undefined);
    answer.writeHead(content === undefined ? 404 : 200, {
      "Content-Type": url === "/" ? "text/html" : "text/javascript",
    });
    answer.end(content);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  page = `http://127.0.0.1:${server.address().port}/`;
});

after(() => server.close());

/** In the page: how many vectors there are, and what is wrong with them and with the laws, by name. */
async function findFaults(seed, share) {
  const { checkFile, files } = await import("/Tests/WebTests/vectors.mjs");
  const { laws } = await import("/Tests/WebTests/laws.mjs");
  let vectors = 0;
  const wrong = [];
  for (const file of files) {
    const { count, faults } = checkFile(await (await fetch(`/Tests/Data/Vectors/${file}.jsonl`)).text());
    vectors += count;
    wrong.push(...faults.map(fault => `${file}, ${fault}`));
  }
  for (const { name, check } of laws) {
    try {
      check(seed, share);
    } catch (error) {
      wrong.push(`${name}: ${error.message}`);
    }
  }
  return { vectors, laws: laws.length, wrong };
}

/** In the page: questions and the answers of its client, as text. */
async function ask(about, seed, count) {
  const questions = await import("/Tests/WebTests/questions.mjs");
  return JSON.stringify(Array.from({ length: count }, (_, i) => questions[about](seed + i)));
}

const engines = [
  ["Chromium", () => Browser.chromium(), !chromeDriver && "Chromium's driver is not installed"],
  ["WebKit", () => Browser.webKit(), noWebKit],
];
for (const [name, start, skip] of engines) {
  test(`${name}: the vectors, and the laws from seed ${seed}`, { skip }, async t => {
    const browser = await start();
    t.after(() => browser.close());
    await browser.open(page);
    const { vectors, laws, wrong } = await browser.wait(findFaults, seed, share);
    assert.deepEqual(wrong, []);
    assert.ok(vectors > 1000 && laws > 10, `${vectors} vectors, ${laws} laws`);
    if (!hasPython) return;
    const python = new Python();
    t.after(() => python.close());
    for (const [about, count] of [["aboutTheAlgebra", 1000], ["aboutTheMachine", 100]]) {
      const pairs = JSON.parse(await browser.wait(ask, about, seed, Math.ceil(count * share)));
      for (const [i, pair] of pairs.entries()) await python.agrees(pair, `${about}, seed ${seed + i}`);
    }
  });
}
