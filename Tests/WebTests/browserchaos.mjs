// Three tabs of a real browser and a real server: edits, while tabs are reloaded, closed, frozen and opened, and the
// network is cut. In the end each edit that was in a journal is in the list, once, and all see the same list.
//
//     HAND=path/to/hand node browserchaos.mjs [SECONDS] [PORT]

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, Pages } from "./browser.mjs";
import { Random, seed } from "./random.mjs";

const hand = process.env.HAND ?? "hand";
const [seconds = "60", from = "7860"] = process.argv.slice(2);
const [port, behind, driver, tcp] = [0, 1, 2, 3].map(i => Number(from) + i);
const folder = mkdtempSync(join(tmpdir(), "hand-chaos-"));
const random = new Random(seed);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

const library = `
  const { Client } = await import("/client.js");
  const { encoded } = await import("/item.js");
  const { bytesOf } = await import("/bytes.js");
  window.client = await Client.start({ url: "ws://" + location.host + "/", person: "Ada", program: "test" });
  window.pause = ms => new Promise(resolve => setTimeout(resolve, ms));
  window.problems = [];
  client.ontold = (_, told) => ["usedTwice", "diverged", "rejected"].includes(told.type) && problems.push(told.type);
  window.list = client.open("chaos");
  window.add = text => client.act(list, replica => {
    const item = encoded(crypto.getRandomValues(new Uint8Array(8)), 2, { text: bytesOf(text), level: 0 });
    const { count } = replica.view;
    const at = Math.floor(Math.random() * (count + 1));
    replica.edit([...(at > 0 ? [{ op: "keep", count: at }] : []), { op: "insert", items: [item], side: "before" }]);
  });
  window.stored = text => list.replica.pending.every(({ isStored }) => isStored);
  window.texts = () => [...list.replica.view].map(item => item.text);
`;

const server = spawn(
  hand,
  ["serve", "--data", join(folder, "data"), "--listen", `127.0.0.1:${tcp}`, "--web", `127.0.0.1:${behind}`],
  { stdio: "ignore" },
);
const pages = new Pages(port, behind);
const browser = await Browser.start(driver);
const tabs = [await browser.current()];
const written = new Set();
const counts = {};
let number = 0;

async function load() {
  await browser.go(`http://127.0.0.1:${port}/`);
  await browser.run(library);
}

await pause(1000);
await load();
await browser.run(`
  for (let left = 100; left > 0 && client.connection.state !== "online"; left--) await pause(50);
  const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };
  await client.request({ type: "create", name: "chaos", rules });`);
await load();
const frozen = new Set();
const until = Date.now() + Number(seconds) * 1000;
while (Date.now() < until) {
  const tab = random.pick(tabs);
  await browser.to(tab);
  const what = frozen.has(tab) ? "thaw" : random.pick([
    "add", "add", "add", "add", "add", "add", "reload", "close", "open", "cut", "cut", "freeze",
  ]);
  counts[what] = (counts[what] ?? 0) + 1;
  if (what === "add") {
    const words = Array.from({ length: 1 + random.below(4) }, () => `n${++number}`);
    const isStored = await browser.run(
      "for (const word of args) add(word); await new Promise(r => setTimeout(r, 30)); return stored();",
      ...words,
    );
    if (isStored) for (const word of words) written.add(word);
  } else if (what === "reload") await load();
  else if (what === "close" && tabs.length > 1) {
    await browser.closeTab();
    tabs.splice(tabs.indexOf(tab), 1);
  } else if (what === "open" && tabs.length < 3) {
    tabs.push(await browser.newTab());
    await browser.to(tabs.at(-1));
    await load();
  } else if (what === "cut") pages.cut(!pages.isCut);
  else if (what === "freeze") {
    await browser.devtools("Page.setWebLifecycleState", { state: "frozen" });
    frozen.add(tab);
  } else if (what === "thaw") {
    await browser.devtools("Page.setWebLifecycleState", { state: "active" });
    frozen.delete(tab);
  }
  await pause(random.below(200));
}
pages.cut(false);
for (const tab of frozen) {
  await browser.to(tab);
  await browser.devtools("Page.setWebLifecycleState", { state: "active" });
}
const states = [];
for (let round = 0; round < 2; round++) {
  for (const tab of tabs) {
    await browser.to(tab);
    states[tabs.indexOf(tab)] = await browser.run(`
      client.retry();
      const isDone = () => client.waiting.count === 0 && list.subscription.isLive;
      for (let left = 600; left > 0 && !isDone(); left--) await pause(50);
      await pause(300);
      return {
        waiting: client.waiting.count, stuck: client.stuck.length, state: client.connection.state,
        storage: client.storage.state, problems, digest: list.replica.confirmed.digest, texts: texts(),
      };`);
  }
}
const { texts } = states[0];
const twice = texts.filter((text, i) => texts.indexOf(text) !== i);
const missing = [...written].filter(word => !texts.includes(word));
for (const { texts: _, ...state } of states) console.log(JSON.stringify(state));
console.log(`seed ${seed}: ${JSON.stringify(counts)}; ${written.size} edits were in a journal, ${texts.length} are in`
  + ` the list, ${twice.length} twice, ${missing.length} missing ${missing.slice(0, 20)}`);
const isRight = twice.length + missing.length === 0 && new Set(states.map(({ digest }) => digest)).size === 1;
console.log(isRight ? "right" : "wrong");
process.exitCode = isRight ? 0 : 1;
await browser.close();
pages.close();
server.kill("SIGKILL");
await pause(300);
rmSync(folder, { recursive: true, force: true });
process.exit();
