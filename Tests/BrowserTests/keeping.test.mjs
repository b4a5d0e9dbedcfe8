// The page without a network: it is kept on the device, one build as a whole, and a newer one comes when the person
// wants.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, KEYS, pause, until } from "./browser.mjs";
import { Build } from "./front.mjs";
import { Person, ada, begin, browser, copied, stage } from "./stage.mjs";

const options = begin();

const build = () => browser.run(() => document.querySelector("script").src.split("/")[3]);
/** The builds that the browser keeps, and how many files of each. */
const caches = () => browser.wait(async () => {
  const found = {};
  for (const name of await window.caches.keys()) found[name] = (await (await window.caches.open(name)).keys()).length;
  return found;
});
const isKept = () => until(
  () => browser.wait(async () => (await navigator.serviceWorker.ready).active?.state === "activated"),
  "the worker is active",
);

test("the page opens without a server, with its lists", options, async () => {
  await ada.open(stage.page(stage.list("kept", "one", "two")));
  await ada.sees("one", "two");
  await isKept();
  await browser.reload();
  await ada.sees("one", "two");
  await ada.hears(/^saved$/);
  await until(async () => (await copied()).length > 0, "a copy of the list is on the device");
  await stage.kill();
  stage.front.cut();
  await browser.open("about:blank");
  await ada.open(stage.page("kept"));
  await ada.sees("one", "two");
  await ada.hears(/^offline/);
  await ada.add("three");
  await ada.hears(/1 edit kept on this device/);
  await browser.reload();
  await ada.sees("one", "two", "three");
  await ada.press("three", ["u"]);
  await ada.sees("one", "two");
  await ada.press("one", ["U"]);
  await ada.sees("one", "two", "three");
  await ada.hears(/1 edit kept on this device/);
  await ada.go("three");
  await browser.run(() => document.querySelector("a.home").click());
  await ada.choose("kept");
  await ada.sees("one", "two", "three");
  await stage.restart();
  stage.front.mend();
  await stage.has("kept", ["one", "two", "three"]);
  await ada.hears(/^saved$/);
});

test("an old page goes on with a newer server, and is loaded anew when the person wants it", options, async () => {
  await ada.open(stage.page(stage.list("builds", "one")));
  await isKept();
  await browser.reload();
  await ada.sees("one");
  const old = await build();
  stage.front.build = new Build(
    "newer",
    (path, text) => (path === "view/speech.js" ? text + "\nwindow.isNewer = true;\n" : text),
  );
  assert.notEqual(stage.front.build.name, old);
  await browser.wait(async () => void (await (await navigator.serviceWorker.ready).update()));
  await until(
    async () => /There is a newer version of this page/.test(await ada.toast()),
    "the newer version is offered",
  );
  await ada.add("two");
  await stage.has("builds", ["one", "two"]);
  // A reload that the person makes shows the old one, as a whole.
  await browser.reload();
  await ada.sees("one", "two");
  assert.equal(await build(), old);
  await until(
    async () => /There is a newer version of this page/.test(await ada.toast()),
    "the newer version is offered again",
  );
  await ada.choose("Reload");
  await until(async () => (await build().catch(() => old)) === stage.front.build.name, "the newer page is there");
  assert.equal(await browser.run(() => window.isNewer), true);
  await ada.sees("one", "two");
  await ada.hears(/^saved$/);
  const files = await caches();
  assert.deepEqual(Object.keys(files), [`page ${stage.front.build.name}`]);
  // Back to an older build, as after an update of the server that is taken back.
  const newer = stage.front.build;
  stage.front.build = new Build();
  await browser.wait(async () => void (await (await navigator.serviceWorker.ready).update()));
  await until(
    async () => /There is a newer version of this page/.test(await ada.toast()),
    "the other version is offered",
  );
  await ada.choose("Reload");
  await until(
    async () => (await build().catch(() => newer.name)) === stage.front.build.name,
    "the other page is there",
  );
  await ada.sees("one", "two");
  await ada.add("three");
  await stage.has("builds", ["one", "two", "three"]);
});

test("a newer version is not loaded while one types", options, async () => {
  await ada.open(stage.page(stage.list("typing", "one")));
  await isKept();
  await ada.sees("one");
  await browser.type("#composer", "half");
  stage.front.build = new Build("still newer");
  await browser.wait(async () => void (await (await navigator.serviceWorker.ready).update()));
  await pause(1500);
  assert.doesNotMatch(await ada.toast(), /newer version/);
  await browser.press([KEYS.enter]);
  await until(async () => /newer version/.test(await ada.toast()), "it is offered afterwards");
  await stage.has("typing", ["one", "half"]);
});

test("a network that answers everything with its own page harms nothing", options, async () => {
  await ada.open(stage.page(stage.list("portal", "one")));
  await ada.sees("one");
  await isKept();
  const before = await caches();
  stage.front.cut();
  await ada.hears(/^offline/);
  stage.front.mend();
  stage.front.portal = "<!doctype html><title>Log in</title><h1>Welcome to the hotel</h1>";
  await browser.wait(() => navigator.serviceWorker.ready.then(registration => registration.update()).then(
    () => undefined,
    () => undefined,
  ));
  await browser.reload();
  await ada.sees("one");
  await ada.hears(/^offline/);
  await ada.add("two");
  await ada.hears(/1 edit kept on this device/);
  assert.deepEqual(await caches(), before);
  stage.front.mend();
  await stage.has("portal", ["one", "two"]);
  await ada.hears(/^saved$/);
});

test("a first visit that the network answers with its own page leaves nothing behind", options, async () => {
  const stranger = await Browser.chromium();
  try {
    stage.list("stranger", "one");
    stage.front.portal = "<!doctype html><title>Log in</title><h1>Welcome to the hotel</h1>";
    await stranger.open(stage.page("stranger"));
    assert.equal(await stranger.run(() => document.querySelector("h1").textContent), "Welcome to the hotel");
    stage.front.mend();
    const eve = await new Person(stranger, await stranger.tab).open(stage.page("stranger"), "Eve");
    await eve.sees("one");
  } finally {
    await stranger.close();
  }
});

test("a role is known without a network", options, async () => {
  stage.list("reading", "one");
  const { secret } = stage.token("Rita", "read", "reading");
  // Who may more without a link uses none.
  await browser.open("about:blank");
  const origin = `http://localhost:${stage.front.port}`;
  await browser.cdp("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
  await browser.open(stage.page("reading", secret));
  await ada.reads(/read only/);
  await isKept();
  await browser.reload();
  await ada.sees("one");
  await ada.hears(/^saved$/);
  // The copy is written a little later.
  await pause(3000);
  stage.front.cut();
  await browser.reload();
  await ada.sees("one");
  await ada.hears(/^offline/);
  await ada.reads(/read only/);
  assert.equal(await browser.run(() => document.querySelector("#composer").readOnly), true);
  stage.front.mend();
});
