// Links with tokens, roles, and texts that would like to be scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, pause, until } from "./browser.mjs";
import { Other, ada, begin, browser, copied, stage } from "./stage.mjs";

const options = begin();

/** Everything that this device knows of somebody is forgotten, once no page uses it. */
async function forget() {
  await browser.open("about:blank");
  await browser.cdp("Storage.clearDataForOrigin", {
    origin: `http://localhost:${stage.front.port}`, storageTypes: "all",
  });
}

/** Nobody but the page has ever seen a secret. */
function isSecret(secret) {
  for (const { line, fields } of stage.front.asked) {
    assert.ok(!line.includes(secret) && !JSON.stringify(fields).includes(secret), line);
    assert.equal(fields.referer, undefined, line);
  }
}

test("a link's token leaves the address at once, and nobody sees it", options, async () => {
  stage.list("linked", "milk");
  const { secret } = stage.token("Bob", "write", "linked");
  await browser.open("about:blank");
  await browser.open(stage.page("linked", secret));
  await ada.sees("milk");
  const place = await browser.run(() => [location.href, history.length, document.title]);
  assert.ok(!place.join().includes(secret));
  assert.equal(await browser.run(() => location.hash), "#list=linked");
  await ada.add("bread");
  await stage.has("linked", ["milk", "bread"]);
  assert.match(stage.run(["log", "-l", "linked"]), /Bob/);
  await browser.reload();
  await ada.sees("milk", "bread");
  // Back leads to no address with the token.
  await browser.run(() => void history.back());
  await pause(300);
  assert.ok(!(await browser.run(() => location.href)).includes(secret));
  isSecret(secret);
  await forget();
});

test("a link that is opened in an open page, or pasted, counts from then on", options, async () => {
  stage.list("first", "a");
  stage.list("second", "b");
  const { secret } = stage.token("Carol", "write", "second");
  await ada.open(stage.page("first"));
  await ada.sees("a");
  await browser.run(url => (location.href = url), stage.page("second", secret));
  await ada.sees("b");
  assert.equal(await browser.run(() => location.hash), "#list=second");
  await ada.add("c");
  await stage.has("second", ["b", "c"]);
  assert.match(stage.run(["log", "-l", "second"]), /Carol/);
  isSecret(secret);
  await forget();
});

test("a role that may only read says so before one types", options, async () => {
  stage.list("read", "a", "b");
  const { secret } = stage.token("Dora", "read", "read");
  await browser.open(stage.page("read", secret));
  await ada.sees("a", "b");
  await ada.reads(/read only/);
  await ada.reads(/Your role on “read” is read; this needs append/);
  assert.ok(await browser.run(() => document.querySelector("#composer").readOnly));
  for (const key of ["e", "d", " ", "J", "o", "p", ">", ":"]) {
    await ada.press("a", [key]);
    assert.ok(await browser.run(() => document.querySelector("textarea.field, dialog") === null), key);
  }
  assert.match(await ada.toast(), /this needs (append|write)/);
  const [x, y] = await ada.place(".grip", "a");
  const [, target] = await ada.place(".row", "b");
  await browser.drag([[x, y], [x, y + 10], [x, target + 10]]);
  await browser.run(() => document.querySelector(".row input").click());
  await browser.run(
    () => document.querySelector(".row .text").dispatchEvent(new MouseEvent("dblclick", { bubbles: true })),
  );
  await pause(300);
  await ada.sees("a", "b");
  assert.ok(await browser.run(
    () => !document.querySelector(".row input").checked && document.querySelector("textarea.field") === null,
  ));
  // The history may be read, not restored.
  await ada.press("a", ["H"]);
  await until(() => browser.run(() => document.querySelector(".history button") !== null));
  await browser.click(".history button");
  await ada.reads(/Your role on “read” is read; this needs write/);
  assert.deepEqual((await stage.items("read")).map(({ text, done }) => [text, done]), [["a", false], ["b", false]]);
  await forget();
});

test("a role that may only add adds, and cannot change", options, async () => {
  stage.list("append", "apple");
  stage.run(["done", "-l", "append", "1"]);
  const { id, secret } = stage.token("Emil", "append", "append");
  const grant = role => stage.run(["token", "grant", id, "--role", role, "-l", "append", "--data", stage.data]);
  await browser.open(stage.page("append", secret));
  await ada.sees("apple");
  await ada.reads(/you may only add/);
  await ada.add("b");
  await stage.has("append", ["apple", "b"]);
  await ada.press("apple", ["d"]);
  assert.match(await ada.toast(), /this needs write/);
  // To take back what one has added is to delete it.
  assert.ok(await browser.run(() => document.querySelector("[aria-label=Undo]").disabled));
  await browser.type("#composer", "ap");
  // What one may not do is not offered.
  await ada.reads(/“apple” is in the list/);
  await browser.type("#composer", KEYS.enter);
  await ada.sees("apple", "b", "ap");
  // What is allowed may change while one looks.
  grant("write");
  await until(() => browser.run(() => !document.querySelector("[aria-label=Undo]").disabled), "one may undo");
  await ada.press("apple", ["d"]);
  await stage.has("append", ["b", "ap"]);
  grant("append");
  await until(() => browser.run(() => document.querySelector("[aria-label=Undo]").disabled), "one may not undo");
  await ada.choose("Undo");
  await until(async () => /this needs write/.test(await ada.toast()), "nothing is undone");
  await stage.has("append", ["b", "ap"]);
  await forget();
});

test("a token that is revoked ends the connection with a sentence, and edits stay", options, async () => {
  stage.list("revoked", "a");
  const { id, secret } = stage.token("Fritz", "write", "revoked");
  await browser.open(stage.page("revoked", secret));
  await ada.sees("a");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("kept words");
  await ada.hears(/1 edit kept on this device/);
  stage.revoke(id);
  stage.front.mend();
  await ada.hears(/The link is not valid any more.*1 edit kept on this device/);
  await ada.sees("a", "kept words");
  await browser.reload();
  await ada.hears(/The link is not valid any more.*1 edit kept on this device/);
  await ada.sees("a", "kept words");
  assert.deepEqual(await stage.texts("revoked"), ["a"]);
  await browser.run(() => document.querySelector(".badge").click());
  const said = await browser.run(() =>
    [...document.querySelectorAll("dialog p")].map(({ textContent }) => textContent));
  assert.equal(said[0], "The link is not valid any more. Ask whoever gave it to you for a new one.");
  await ada.choose("Close");
  // With another link, the list opens, and the words can be taken out.
  const { secret: other } = stage.token("Fritz", "write", "revoked");
  await browser.run(url => (location.href = url), stage.page("revoked", other));
  await ada.hears(/^saved, but not 1 edit with another link$/);
  await browser.run(() => document.querySelector(".badge").click());
  await ada.reads(/1 edit waits under another link\..*not valid any more/);
  const kept = await browser.wait(() => new Promise(resolve => {
    URL.createObjectURL = blob => (blob.text().then(resolve), "#");
    [...document.querySelectorAll("dialog button")].find(
      button => button.textContent === "Save them as a text",
    ).click();
  }));
  assert.match(kept, /revoked\n\n.*kept words/);
  await ada.choose("Close");
  await browser.reload();
  await ada.sees("a");
  await ada.hears(/^saved, but not 1 edit with another link$/);
  await browser.run(() => document.querySelector(".badge").click());
  await ada.choose("Discard the edits of “revoked”");
  await ada.choose("Discard");
  await ada.hears(/^saved$/);
  await browser.reload();
  await ada.sees("a");
  await ada.hears(/^saved$/);
  isSecret(secret);
  isSecret(other);
  await forget();
});

test("edits of a link that is revoked are sent with another one, or discarded", options, async () => {
  for (const [list, isSent] of [["sent later", true], ["discarded", false]]) {
    stage.list(list, "a");
    const { id, secret } = stage.token("Fritz", "write", list);
    await browser.open(stage.page(list, secret));
    await ada.sees("a");
    await ada.hears(/^saved$/);
    stage.front.cut();
    await ada.hears(/^offline/);
    await ada.add("kept words");
    await ada.hears(/1 edit kept on this device/);
    stage.revoke(id);
    stage.run(["add", "-l", list, "b"]);
    await browser.open("about:blank");
    stage.front.mend();
    // The other link stores a newer copy of the list.
    const { secret: other } = stage.token("Gerda", "write", list);
    await browser.open(stage.page(list, other));
    await ada.sees("a", "b");
    await until(async () => (await copied()).length > 0, "a copy of the list is on the device");
    await browser.reload();
    await ada.sees("a", "b");
    await ada.hears(/^saved, but not 1 edit with another link$/);
    await browser.run(() => document.querySelector(".badge").click());
    await ada.choose(isSent ? "Send them with this link" : `Discard the edits of “${list}”`);
    if (isSent) {
      await stage.has(list, ["a", "b", "kept words"]);
      assert.match(stage.run(["log", "-l", list]), /Gerda/);
    } else await ada.choose("Discard");
    await ada.hears(/^saved$/);
    await browser.reload();
    await ada.hears(/^saved$/);
    await forget();
  }
});

test("edits that wait under one link are sent with it, also if another link was opened", options, async () => {
  stage.list("earlier", "a");
  const { secret } = stage.token("Heidi", "write", "earlier");
  const { secret: other } = stage.token("Heidi", "write", "earlier");
  await browser.open(stage.page("earlier", secret));
  await ada.sees("a");
  await ada.hears(/^saved$/);
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("earlier words");
  await ada.hears(/1 edit kept on this device/);
  await browser.open("about:blank");
  stage.front.mend();
  await browser.open(stage.page("earlier", other));
  await stage.has("earlier", ["a", "earlier words"]);
  await ada.sees("a", "earlier words");
  await ada.hears(/^saved$/);
  await forget();
});

test("an open page hears at once that its token is revoked", options, async () => {
  stage.list("ended", "a");
  const { id, secret } = stage.token("Gerda", "write", "ended");
  await browser.open(stage.page("ended", secret));
  await ada.sees("a");
  await ada.hears(/^saved$/);
  stage.revoke(id);
  await ada.hears(/The link is not valid any more/);
  await forget();
});

test("a list that is deleted or renamed while it is open says so", options, async () => {
  stage.list("goes", "a");
  stage.list("stays", "b");
  await ada.open(stage.page("stays"));
  await ada.sees("b");
  stage.run(["rename", "stays", "moved on"]);
  await until(
    () => browser.run(() => decodeURIComponent(location.hash) === "#list=moved on"),
    "the address is the new one",
  );
  await ada.sees("b");
  await ada.add("c");
  await stage.has("moved on", ["b", "c"]);
  await ada.open(stage.page("goes"));
  await ada.sees("a");
  await until(async () => (await copied()).includes("goes"), "a copy of the list is on the device");
  stage.run(["delete", "goes", "--force"]);
  await ada.reads(/The list was deleted/);
  await until(async () => !(await copied()).includes("goes"), "nothing of the list is left on the device");
  // Offline, the page offers the lists that are still there.
  stage.front.cut();
  await ada.hears(/^offline/);
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/moved on/);
  assert.deepEqual(
    await browser.run(
      () => [...document.querySelectorAll("main.lists a bdi")].map(name => name.textContent)
        .filter(name => /goes|stays|moved/.test(name)),
    ),
    ["moved on"],
  );
  stage.front.mend();
  await ada.open(stage.page("never was"));
  await ada.reads(/There is no such list/);
});

const HOSTILE = [
  "<img src=x onerror=\"window.hurt = 1\">", "<script>window.hurt = 2</script>", "<svg onload='window.hurt = 3'>",
  "\"><iframe srcdoc=\"<script>parent.hurt = 4</script>\">",
  "{{constructor.constructor('window.hurt = 5')()}}", "javascript:window.hurt=6", "a\u0007b\u001b[31mred\u202Egnp.exe",
  "x".repeat(3000), "\u0e49".repeat(200), "&lt;b&gt;&#x26;",
  "http://example.org/\u202Egnp.exe", "https://user:password@example.org/",
  "data:text/html,<script>opener.hurt=7</script>",
];

test("texts never become scripts, elements or strange addresses", options, async t => {
  const name = "<b onmouseover='window.hurt=8'>&'\"";
  stage.list(name);
  const other = new Other(stage, name, "<i>Hugo</i>");
  t.after(() => other.close());
  await other.quiet();
  await ada.open(stage.page(name));
  await browser.run(() => addEventListener(
    "securitypolicyviolation",
    event => (window.violation = event.violatedDirective),
  ));
  for (const text of HOSTILE) await other.add(text);
  await other.link("<u>click</u>", "javascript:window.hurt=9");
  await other.link("", "data:text/html,hurt");
  await other.link("good", "https://example.org/");
  await ada.sees(
    ...HOSTILE,
    "<u>click</u>javascript:window.hurt=9",
    "data:text/html,hurtdata:text/html,hurt",
    "goodhttps://example.org/",
  );
  assert.deepEqual(
    await browser.run(() => [...document.querySelectorAll(".row a")].map(link => [link.href, link.rel, link.target])),
    [["https://example.org/", "noopener noreferrer", "_blank"]],
  );
  // Wherever else the texts come: menus, the history, the people, the lists, the offers.
  await browser.run(() => document.querySelectorAll(".row")[0].focus());
  await browser.press([KEYS.enter]);
  await until(() => browser.run(() => /Hugo/.test(document.querySelector("dialog .past")?.textContent ?? "")));
  await browser.press([KEYS.escape]);
  await browser.type("#composer", "<img");
  await until(() => browser.run(() => document.querySelector(".offers button") !== null));
  await browser.press([KEYS.escape]);
  await browser.run(() => document.querySelectorAll(".row")[0].focus());
  await browser.press(["w"]);
  await ada.reads(/<i>Hugo<\/i>/);
  await browser.press([KEYS.escape]);
  await browser.run(() => document.querySelectorAll(".row")[0].focus());
  await browser.press(["H"]);
  await until(() => browser.run(() => document.querySelectorAll(".history li").length > 10));
  await browser.run(() => document.querySelector("a.home").click());
  await until(() => browser.run(
    name => [...document.querySelectorAll("main.lists a")].some(link => link.textContent.includes(name)),
    name,
  ));
  const found = await browser.run(() => ({
    hurt: window.hurt, violation: window.violation,
    strange: document.querySelectorAll("img, iframe, svg, script:not([src]), b[onmouseover], u, i").length,
  }));
  assert.deepEqual(found, { hurt: null, violation: null, strange: 0 });
  const log = await browser.log();
  assert.deepEqual(log.filter(line => /Content Security|Trusted/.test(line)), []);
  // No text makes the page wider than the window.
  await ada.open(stage.page(name));
  await until(() => browser.run(() => document.querySelectorAll(".row").length > 10));
  await browser.resize(400, 700);
  assert.ok(
    await browser.run(() => document.documentElement.scrollWidth <= innerWidth),
    "the page is wider than the window",
  );
  await browser.resize(1000, 800);
});

test("with two links, each list is its own link's, whatever it is called", options, async () => {
  stage.list("alpha", "a");
  stage.list("beta", "b");
  const first = stage.token("Ann", "write", "alpha").secret;
  const second = stage.token("Ben", "write", "beta").secret;
  await browser.open(stage.page("alpha", first));
  await ada.sees("a");
  await browser.open(stage.page("beta", second));
  await ada.sees("b");
  await browser.reload();
  await ada.sees("b");
  // The lists of both are there, though only one has been shown since the page was loaded.
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/alpha[^]*beta/);
  for (const [list, text] of [["alpha", "a"], ["beta", "b"], ["alpha", "a"], ["beta", "b"], ["alpha", "a"]]) {
    await ada.goTo(stage.page(list));
    await ada.sees(text);
  }
  await ada.press("a", [" "]);
  await until(async () => (await stage.items("alpha"))[0].done, "what was left and opened again is edited");
  stage.run(["rename", "alpha", "alpha 2"]);
  await until(() => browser.run(() => document.querySelector("h1").textContent === "alpha 2"), "it is open still");
  await ada.add("c");
  await stage.has("alpha 2", ["a", "c"]);
  // Renamed while another one is shown, and while the page is not there.
  await ada.goTo(stage.page("beta"));
  await ada.sees("b");
  stage.run(["rename", "alpha 2", "alpha 3"]);
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/alpha 3/);
  await browser.reload();
  await ada.reads(/alpha 3/);
  await ada.goTo(stage.page("alpha 3"));
  await ada.sees("a", "c");
  await ada.add("d");
  await stage.has("alpha 3", ["a", "c", "d"]);
  await forget();
});

test("with two links, a list is used with the one that allows more", options, async () => {
  stage.list("managed", "a");
  stage.list("watched", "b");
  await browser.open(stage.page("managed", stage.token("Ann", "admin").secret));
  await ada.sees("a");
  await browser.open(stage.page("watched", stage.token("Ann", "read", "watched").secret));
  await ada.sees("b");
  await browser.run(() => document.querySelector("a.home").click());
  await ada.reads(/managed[^]*watched/);
  for (const name of ["watched", "managed"]) {
    await browser.run(name => document.querySelector(`li[data-name="${name}"] button`).click(), name);
    await ada.choose("Rename");
    await browser.type("#answer", ` on${KEYS.enter}`);
    await ada.reads(new RegExp(`${name} on`));
  }
  await ada.goTo(stage.page("watched on"));
  await ada.add("c");
  await stage.has("watched on", ["b", "c"]);
  // What everybody may is not lost by a link, either.
  await forget();
  await ada.open(stage.page("managed on"));
  await ada.sees("a");
  const narrow = stage.token("Ann", "read", "watched on").secret;
  await browser.run(url => (location.href = url), stage.page("watched on", narrow));
  await ada.sees("b", "c");
  await ada.add("d");
  await stage.has("watched on", ["b", "c", "d"]);
  await ada.goTo(stage.page("managed on"));
  await ada.add("e");
  await stage.has("managed on", ["a", "e"]);
  await forget();
});

test("a link of another server is not opened here", options, async () => {
  await ada.open(stage.page(stage.list("own", "a")));
  await ada.sees("a");
  await browser.click(".badge");
  await ada.choose("Open a link");
  await browser.type("#answer", `https://other.example/#list=own&token=hand-secret${KEYS.enter}`);
  await ada.reads(/This link is for other\.example/);
  assert.ok(!(await browser.run(() => JSON.stringify(localStorage))).includes("hand-secret"));
  assert.equal(await browser.run(() => location.hash), "#list=own");
});

test("a name that is too long is not cut, but refused at its field", options, async () => {
  await forget();
  await browser.open(stage.page());
  const problem = css => browser.run(css => document.querySelector(css).validationMessage, css);
  await browser.type("#name", "é".repeat(33) + KEYS.enter);
  assert.match(await problem("#name"), /^The name is too long: it has 66 bytes of at most 64\.$/);
  await browser.press([KEYS.backspace, KEYS.enter]);
  await until(() => browser.run(() => document.querySelector("main.lists") !== null), "the name is taken");
  await browser.click(".badge");
  await ada.choose("Change my name");
  await browser.type("#answer", `a${KEYS.enter}`);
  assert.match(await problem("#answer"), /it has 65 bytes/);
  await browser.press([KEYS.backspace, KEYS.backspace, KEYS.enter]);
  await until(() => browser.run(() => document.querySelector("dialog") === null), "the name is taken");
  await forget();
});

test("a link that is valid no more does not take the place of one that is", options, async () => {
  stage.list("shared", "a");
  const old = stage.token("Old", "write", "shared");
  stage.revoke(old.id);
  const { secret } = stage.token("Good", "write", "shared");
  await browser.open("about:blank");
  await browser.open(stage.page("shared", secret));
  await ada.sees("a");
  for (const former of [old.secret, "hand-wrong"]) {
    await browser.run(url => (location.href = url), stage.page("shared", former));
    await until(async () => /not valid any more. You go on/.test(await ada.toast()), `${former} is refused`);
    await ada.hears(/^saved$/);
  }
  await browser.open("about:blank");
  await browser.open(stage.page("shared"));
  await ada.sees("a");
  await ada.add("b");
  await stage.has("shared", ["a", "b"]);
  assert.match(stage.run(["log", "-l", "shared"]), /Good/);
  await forget();
});

test("a link for one list takes no others away, and one that ends keeps none from being read", options, async () => {
  for (const name of ["wide", "besides", "narrow"]) stage.list(name, name);
  const [all, one] = [stage.token("All", "write"), stage.token("One", "read", "narrow")];
  await browser.open("about:blank");
  await browser.open(stage.page("wide", all.secret));
  await ada.sees("wide");
  await browser.run(url => (location.href = url), stage.page("narrow", one.secret));
  await ada.sees("narrow");
  // The newest link is not for what it does not allow.
  await ada.goTo(stage.page("besides"));
  await ada.sees("besides");
  await ada.add("more");
  await stage.has("besides", ["besides", "more"]);
  stage.revoke(one.id);
  await ada.goTo(stage.page("narrow"));
  await ada.sees("narrow");
  await ada.add("mine");
  await stage.has("narrow", ["narrow", "mine"]);
  await forget();
});

test("all lists are shown, although the newest link has ended", options, async () => {
  const names = ["older", "later"];
  for (const name of names) stage.list(name, name);
  const [older, ended] = names.map(name => stage.token(name, "write", name));
  await browser.open("about:blank");
  await browser.open(stage.page("older", older.secret));
  await ada.sees("older");
  await browser.run(url => (location.href = url), stage.page("later", ended.secret));
  await ada.sees("later");
  stage.revoke(ended.id);
  await ada.hears(/not valid any more/);
  await ada.open(stage.page());
  await ada.reads(/older/);
  stage.run(["add", "-l", "older", "new"]);
  await browser.reload();
  await ada.reads(/older[^]*2 items/);
  assert.equal(await browser.run(() => /not valid/.test(document.body.textContent)), false);
  await forget();
});

test("what is being typed when a link ends can become a new item if the other one is weaker", options, async () => {
  stage.list("weaker", "a");
  const [weak, ends] = ["append", "write"].map(role => stage.token(role, role, "weaker"));
  await browser.open("about:blank");
  await browser.open(stage.page("weaker", weak.secret));
  await ada.sees("a");
  await browser.run(url => (location.href = url), stage.page("weaker", ends.secret));
  await until(
    () => browser.run(() => localStorage.getItem("hand identity").split("hand-").length === 3), "there are two links",
  );
  await pause(2500);
  await ada.edit("a");
  await browser.press([..." and more"]);
  stage.revoke(ends.id);
  await ada.composes("a and more");
  await ada.reads(/this needs .*Enter adds your words as a new one/);
  await forget();
});

test("what is being typed when a link ends goes on with the other one", options, async () => {
  stage.list("two links", "a");
  const [good, ends] = ["Good", "Ends"].map(name => stage.token(name, "write", "two links"));
  await browser.open("about:blank");
  await browser.open(stage.page("two links", good.secret));
  await ada.sees("a");
  await browser.run(url => (location.href = url), stage.page("two links", ends.secret));
  const areLeft = count => until(
    () => browser.run(count => localStorage.getItem("hand identity").split("hand-").length === count + 1, count),
    `${count} links are left`,
  );
  await areLeft(2);
  await pause(1000);
  await ada.hears(/^saved$/);
  await browser.click("#composer");
  await browser.press([..."half a line"]);
  await pause(500);
  stage.revoke(ends.id);
  await until(async () => /not valid any more. You go on/.test(await ada.toast()), "it is refused");
  await ada.composes("half a line");
  // So does the text of a row.
  const again = stage.token("Again", "write", "two links");
  await browser.run(url => (location.href = url), stage.page("two links", again.secret));
  // Letters are keys again by then.
  await pause(2500);
  await ada.composes("half a line");
  await ada.edit("a");
  await browser.press([..." and more"]);
  stage.revoke(again.id);
  await areLeft(1);
  await until(() => browser.run(() => document.activeElement.matches("textarea.field")), "the field is open again");
  await ada.types("a and more");
  await browser.press([KEYS.enter]);
  await stage.has("two links", ["a and more"]);
  await ada.hears(/^saved$/);
  await forget();
});

test("what is typed in a list is saved when one goes to another link's list", options, async () => {
  for (const list of ["here", "there"]) stage.list(list, "a", "b");
  const [here, there] = ["here", "there"].map(list => stage.token(`of ${list}`, "write", list).secret);
  await browser.open("about:blank");
  await browser.open(stage.page("here", here));
  await ada.sees("a", "b");
  await browser.run(url => (location.href = url), stage.page("there", there));
  await until(() => browser.run(() => document.querySelector("h1").textContent === "there"), "the other list is shown");
  await ada.sees("a", "b");
  await ada.edit("b");
  await browser.press([..." yy"]);
  await browser.run(() => void history.back());
  await until(() => browser.run(() => document.querySelector("h1").textContent === "here"), "the first list is shown");
  await stage.has("there", ["a", "b yy"]);
  await ada.press("a", ["d"]);
  await stage.has("here", ["b"]);
  await forget();
});

test("words that were not taken come back when one may write again", options, async () => {
  stage.list("reader", "a");
  const { id, secret } = stage.token("Greta", "write", "reader");
  await browser.open("about:blank");
  await browser.open(stage.page("reader", secret));
  await ada.sees("a");
  stage.front.cut();
  await ada.hears(/^offline/);
  await ada.add("lost words");
  const grant = role => stage.run(["token", "grant", id, "--role", role, "-l", "reader", "--data", stage.data]);
  grant("read");
  stage.front.mend();
  await ada.sees("a");
  await ada.choose("Get it back");
  assert.match(await ada.toast(), /this needs append/);
  grant("write");
  await until(() => browser.run(() => !document.querySelector("#composer").readOnly), "one may write again");
  await ada.choose("Get it back");
  await ada.composes("lost words");
  await forget();
});

test("what is new is what others have done, and is there still", options, async () => {
  stage.list("news", "n1", "n2");
  const { secret } = stage.token("Nora", "write", "news");
  await browser.open("about:blank");
  await browser.open(stage.page("news", secret));
  await ada.sees("n1", "n2");
  await ada.hears(/^saved$/);
  // What is saved as one leaves is one's own.
  await ada.edit("n1");
  await browser.press([..." own"]);
  await browser.run(() => void (location.hash = ""));
  await stage.has("news", ["n1 own", "n2"]);
  await browser.run(url => (location.href = url), stage.page("news"));
  await ada.sees("n1 own", "n2");
  await ada.hears(/^saved$/);
  await pause(500);
  const count = () => browser.run(() => document.querySelector(".count").textContent);
  assert.equal(await count(), "2 items");
  // Behind the history, rows are not seen.
  await browser.run(() => void (location.hash = ""));
  await until(() => browser.run(() => document.querySelector("ul.lists") !== null), "the lists are shown");
  stage.run(["add", "-l", "news", "n3", "n4"]);
  await browser.run(url => (location.href = url), stage.page("news"));
  await until(async () => (await count()) === "4 items, 2 new", "two are new");
  stage.run(["rm", "-l", "news", "4"]);
  // What is gone is new no more, and what one has seen for a while.
  await until(async () => (await count()) === "3 items", "nothing is new", 15_000);
  await forget();
});
