// How fast the page is in Chromium, with many items and while others edit. Prints figures; it judges nothing, since
// they are those of one machine: HAND=PATH node speed.mjs

import { Browser, pause, until } from "./browser.mjs";
import { Other, Person, Stage } from "./stage.mjs";

const stage = await Stage.start();
const browser = await Browser.chromium();
const ada = new Person(browser, await browser.tab);

function fill(list, count) {
  stage.run(["create", list]);
  const lines = Array.from({ length: count }, (_, i) => `- [ ] item ${i} of this list, with some words`);
  stage.run(["import", "-l", list, "-"], { input: lines.join("\n") + "\n" });
}

const part = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const figures = values => {
  const sorted = [...values].sort((a, b) => a - b);
  const parts = [50, 95, 99].map(share => `p${share} ${part(sorted, share / 100).toFixed(1)}`);
  return `${parts.join(", ")}, max ${sorted.at(-1).toFixed(1)} ms (${sorted.length})`;
};

/**
 * In the page: how long each key takes to the end of the next frame; and how long without the wait for that frame's
 * beginning, which is up to 16.7 ms however fast the page is, since screens have 60 frames a second.
 */
const observe = () => {
  window.keys = { frames: [], work: [] };
  const soon = action => {
    const channel = new MessageChannel();
    channel.port1.onmessage = action;
    channel.port2.postMessage(0);
  };
  addEventListener("keydown", event => {
    requestAnimationFrame(begun => soon(() => {
      const whole = performance.now() - event.timeStamp;
      window.keys.frames.push(whole);
      window.keys.work.push(whole - Math.max(0, begun - handled));
    }));
  }, true);
  let handled = 0;
  for (const type of ["keydown", "input"]) addEventListener(type, () => (handled = performance.now()));
  window.long = [];
  new PerformanceObserver(list => window.long.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: "longtask",
  });
  window.events = [];
  const isKey = ({ name }) => name === "keydown";
  new PerformanceObserver(
    list => window.events.push(...list.getEntries().filter(isKey).map(({ duration }) => duration)),
  ).observe({ type: "event", durationThreshold: 16 });
};

/** In the page: something changes in each frame. */
function draw() {
  document.querySelector("p").textContent = `${performance.now()}`;
  requestAnimationFrame(draw);
}

/** Presses keys at the pace of a fast typist. */
async function press(keys, count) {
  for (let i = 0; i < count; i++) {
    const key = keys[i % keys.length];
    await browser.cdp("Input.dispatchKeyEvent", { type: "keyDown", key, text: key });
    await browser.cdp("Input.dispatchKeyEvent", { type: "keyUp", key });
    await pause(60);
  }
}

async function measure(what, action) {
  await browser.run(() => {
    window.keys.frames = [];
    window.keys.work = [];
    window.events = [];
    window.long = [];
  });
  await action();
  await pause(300);
  const { frames, work, long, events } = await browser.run(() => ({
    ...window.keys, long: window.long, events: window.events,
  }));
  const slow = `${events.length} keys took the browser 16 ms or more, at most ${Math.max(0, ...events)} ms`;
  const tasks = `${long.length} tasks of more than 50 ms, the longest ${Math.round(Math.max(0, ...long))} ms`;
  console.log(`${what}: key to screen ${figures(frames)}; without the wait for the frame ${figures(work)}`);
  console.log(`  ${slow}; ${tasks}`);
}

/** Edits of others, so many a second, until it is ended. */
function editing(others, rate) {
  let count = 0;
  let isOver = false;
  const start = Date.now();
  const loop = (async () => {
    while (!isOver) {
      const due = Math.floor(((Date.now() - start) / 1000) * rate);
      for (; count < due; count++) {
        const other = others[count % others.length];
        const index = (count * 7919) % 10_000;
        if (count % 4 === 0) void other.change(index % 50, `item ${count} is another one`);
        else void other.change(index, `item ${count} is another one`);
      }
      await pause(5);
    }
  })();
  return async () => {
    isOver = true;
    await loop;
    return count / ((Date.now() - start) / 1000);
  };
}

async function opening(list, count) {
  const isThere = `document.querySelector(".row") !== null
    && document.querySelector(".count").textContent.includes("${count.toLocaleString("en")}")`;
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: `
    window.begun = performance.now();
    const show = () => (window.shown = performance.now());
    const look = () => requestAnimationFrame(document.querySelector(".count") && ${isThere} ? show : look);
    requestAnimationFrame(look);` }).then(({ identifier }) => (opening.script = identifier));
  const times = [];
  for (let i = 0; i < 4; i++) {
    await browser.open("about:blank");
    await browser.open(stage.page(list));
    times.push(await until(() => browser.run(() => window.shown), "the list is there", 60_000));
    await pause(2500);
  }
  await browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier: opening.script });
  const [first, ...later] = times.map(Math.round);
  const what = `${count.toLocaleString("en")} items: from the address to the first rows`;
  console.log(`${what} ${first} ms the first time, then, with a copy on the device, ${later.join(", ")} ms`);
}

try {
  fill("small", 20);
  await ada.open(stage.page("small"));
  await ada.hears(/^saved$/);
  fill("hundred", 100_000);
  await opening("hundred", 100_000);
  fill("ten", 10_000);
  await opening("ten", 10_000);
  await ada.open(stage.page("ten"));
  await until(() => browser.run(() => document.querySelectorAll(".row").length > 20));
  await browser.run(observe);
  const others = [];
  for (let i = 0; i < 4; i++) {
    others.push(new Other(stage, "ten", `Otto ${i}`));
    await others[i].quiet();
  }
  for (const slower of [1, 4]) {
    await browser.cdp("Emulation.setCPUThrottlingRate", { rate: slower });
    for (const rate of [0, 100]) {
      const end = rate > 0 ? editing(others, rate) : async () => 0;
      const where = `10,000 items${slower > 1 ? ", a processor that is 4 times slower" : ""}`;
      const before = await browser.run(() => document.querySelectorAll(".row")[5].focus());
      await measure(`${where}, ${rate} edits a second, moving through the rows`, () => press(["j", "j", "k"], 60));
      await browser.run(() => document.querySelectorAll(".row")[3].focus());
      await press(["e"], 1);
      await measure(`${where}, ${rate} edits a second, typing in a row`, () => press([..."abcdefgh ij"], 60));
      await browser.press(["\uE00C"]);
      await browser.run(() => document.querySelector("#composer").focus());
      await measure(`${where}, ${rate} edits a second, typing a new item`, () => press([..."zyxwv uts"], 60));
      await browser.run(() => {
        const composer = document.querySelector("#composer");
        composer.value = "";
        composer.dispatchEvent(new InputEvent("input"));
      });
      const reached = await end();
      if (rate > 0) console.log(`  (${reached.toFixed(0)} edits a second were made)`);
    }
  }
  // The browser's own share: a page that has a field and nothing else, at rest, and with something new in each frame.
  await browser.open("data:text/html,<textarea></textarea><p>");
  await browser.run(observe);
  for (const isMoving of [false, true]) {
    if (isMoving) await browser.run(draw);
    for (const slower of [1, 4]) {
      await browser.cdp("Emulation.setCPUThrottlingRate", { rate: slower });
      await browser.run(() => document.querySelector("textarea").focus());
      const where = `a field alone${slower > 1 ? ", a processor that is 4 times slower" : ""}`;
      await measure(`${where}, ${isMoving ? "each frame drawn" : "at rest"}`, () => press([..."abcdefgh ij"], 60));
    }
  }
  for (const other of others) other.close();
} finally {
  await browser.close();
  await stage.close();
}
