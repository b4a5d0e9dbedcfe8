// A server with a folder of its own, a proxy in front of it, and the page in a browser, for the tests.
//
// HAND is the path of the program. With HAND_PAGE=1, the page comes from the folder of its sources, so that a change of
// the page needs no build.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { encoded, LINK, TASK } from "../../Sources/Web/client/item.js";
import { decodeDown, encodeUp } from "../../Sources/Web/client/messages.js";
import { Requests, listOf } from "../../Sources/Web/client/requests.js";
import { diffTexts } from "../../Sources/Web/client/words.js";
import { changing, inserting, moving } from "../../Sources/Web/view/edits.js";
import { deleting } from "../WebTests/deleting.mjs";
import { itemTo } from "../WebTests/json.mjs";
import { Client } from "../WebTests/tcp.mjs";
import { Browser, KEYS, chromeDriver, until } from "./browser.mjs";
import { Build, Front } from "./front.mjs";

export const hand = process.env.HAND;
/** Why the tests of this folder cannot run, if they cannot; and those in Chromium. */
export const noProgram = (!hand || !existsSync(hand)) && "HAND is not the path of the program";
export const skip = noProgram || (!chromeDriver && "Chromium's driver is not installed");

/** What a program of any version says first. */
const hello = () => ({
  type: "hello", magic: "HAND", lowestVersion: 1, highestVersion: 1000, capabilities: 0,
  client: randomBytes(16).toString("hex"), person: "reader", program: "test", token: "", idle: 0,
});

/** What the tests of a file share. */
export let stage, browser, ada;

/** A server and a browser, from before the tests of a file until after them. Gives the options of these tests. */
export function begin(start = () => Browser.chromium(), why = skip) {
  before(async () => {
    if (why) return;
    stage = await Stage.start();
    browser = await start();
    ada = new Person(browser, await browser.tab);
  });
  afterEach(() => stage?.front.mend());
  after(async () => {
    await browser?.close();
    await stage?.close();
  });
  // Long: machines are slow while they test other things.
  return { skip: why, timeout: 300_000 };
}

/** Opens a new list with tasks. */
export async function open(name, ...texts) {
  await ada.goTo(stage.page(stage.list(name, ...texts)));
  await ada.sees(...texts);
  await ada.hears(/^saved$/);
}

/** Runs a command on the server of these tests. */
export const run = (...args) => stage.run(args);

/** The lists that have copies on the device. */
export const copied = () => browser.wait(() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("hand copies");
  opening.onerror = reject;
  opening.onsuccess = () => {
    const names = opening.result.transaction("heads").objectStore("heads").getAllKeys();
    opening.result.close();
    names.onsuccess = () => resolve(names.result);
  };
}));

export class Stage {
  folder = mkdtempSync(join(tmpdir(), "hand-stage-"));
  front;
  #server;
  #ports = [0, 0];
  #options;

  constructor(options = []) {
    this.#options = options;
    mkdirSync(join(this.folder, "home"));
  }

  static async start(...options) {
    const stage = new Stage(options);
    await stage.restart();
    stage.front = await new Front(stage.#ports[1]).start();
    if (process.env.HAND_PAGE) stage.front.build = new Build();
    return stage;
  }

  /** The address of the page. `localhost` and `127.0.0.1` are two people to a browser: they share no storage. */
  page(list, token, host = "localhost") {
    const fragment = list === undefined ? "" : `#list=${encodeURIComponent(list)}${token ? `&token=${token}` : ""}`;
    return `http://${host}:${this.front.port}/${fragment}`;
  }

  get url() {
    return `hand://127.0.0.1:${this.#ports[0]}`;
  }

  get port() {
    return this.#ports[0];
  }

  /** Nothing of whom the tests are run by, so that it is the same everywhere. */
  get environment() {
    return {
      PATH: process.env.PATH, HOME: join(this.folder, "home"), HAND_NAME: "Bob", HAND_URL: this.url, LC_ALL: "C.UTF-8",
    };
  }

  /** Runs the command, and gives what it prints. */
  run(args, { input = "", fails = false } = {}) {
    const { status, stdout, stderr } = spawnSync(hand, args, {
      input, encoding: "utf8", env: this.environment, timeout: 60_000,
    });
    if (status !== 0 && !fails) throw new Error(`hand ${args.join(" ")}: ${status}\n${stdout}${stderr}`);
    return stdout;
  }

  /** The items of a list, as the server has them: asked for without a command, since a test may ask again and again. */
  async items(list) {
    const requests = new Requests();
    const frames = new FrameReader();
    const answer = requests.ask({ type: "fetch", name: list, revision: undefined });
    const socket = connect(this.port, "127.0.0.1");
    socket.on("data", data => frames.read(new Uint8Array(data), body => requests.hear(decodeDown(body))));
    socket.on("error", () => {}).on("close", () => requests.fail());
    for (const message of [hello(), ...requests.take(() => 1)]) socket.write(framed(encodeUp(message)));
    try {
      return [...listOf(await answer)].map(itemTo);
    } finally {
      socket.destroy();
    }
  }

  async texts(list) {
    return (await this.items(list)).map(({ text }) => text);
  }

  /** Makes a list with tasks. */
  list(name, ...texts) {
    this.run(["create", name]);
    if (texts.length > 0) this.run(["add", "-l", name, ...texts]);
    return name;
  }

  /** The secret of a new token. */
  token(name, role, list) {
    const made = this.run([
      "token", "create", name, "--role", role, ...(list ? ["-l", list] : []), "--data", this.data, "--json",
    ]);
    const { id, token = made.match(/hand-[0-9a-z]{26}/)[0] } = JSON.parse(made.split("\n")[0]);
    return { id, secret: token };
  }

  revoke(id) {
    this.run(["token", "revoke", id, "--data", this.data]);
  }

  get data() {
    return join(this.folder, "data");
  }

  /** Waits until the server has these texts. */
  async has(list, texts, ms) {
    let found;
    const isSo = async () => JSON.stringify((found = await this.texts(list))) === JSON.stringify(texts);
    await until(isSo, `the server has ${JSON.stringify(texts)}`, ms).catch(error => {
      throw new Error(`${error.message}, but has ${JSON.stringify(found)}`);
    });
  }

  // The server

  async restart() {
    const [port, web] = this.#ports;
    const addresses = ["--listen", `127.0.0.1:${port}`, "--web", `127.0.0.1:${web}`, "--data", this.data];
    const options = { env: this.environment, stdio: ["ignore", "pipe", "ignore"] };
    this.#server = spawn(hand, ["serve", ...addresses, ...this.#options], options);
    let greeting = "";
    this.#server.stdout.on("data", data => (greeting += data));
    const server = this.#server;
    const listens = until(
      () => greeting.match(/hand:\/\/[0-9.]+:([0-9]+) and (?:ws|http):\/\/[0-9.]+:([0-9]+)/),
      "the server listens",
    );
    const [, ...found] = await listens.catch(error => {
      server.kill("SIGKILL");
      throw error;
    });
    this.#ports = found.map(Number);
  }

  /** Kills the server at once. */
  async kill(signal = "SIGKILL") {
    const ended = new Promise(resolve => this.#server.once("exit", resolve));
    this.#server.kill(signal);
    await ended;
  }

  async close() {
    this.front?.close();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A terminal with the screen of a list in it. */
export class Terminal {
  #socket;

  constructor(stage, list) {
    this.#socket = join(stage.folder, `tmux-${list}`);
    const env = { ...stage.environment, TERM: "xterm-256color", TMUX: "" };
    execFileSync(
      "tmux",
      ["-S", this.#socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", `"${hand}" open ${list}`],
      { env },
    );
  }

  keys(...keys) {
    execFileSync("tmux", ["-S", this.#socket, "send-keys", ...keys]);
  }

  get screen() {
    return execFileSync("tmux", ["-S", this.#socket, "capture-pane", "-p"], { encoding: "utf8" });
  }

  shows(text) {
    return until(() => this.screen.includes(text), `the terminal shows ${text}`).catch(error => {
      throw new Error(`${error.message}\n${this.screen}`);
    });
  }

  close() {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
  }
}

/** Somebody else, whose edits need no browser and no command. */
export class Other {
  #client;

  constructor(stage, list, person = "Otto") {
    this.#client = new Client({ host: "127.0.0.1", port: stage.port, name: list, person });
  }

  /** Once everything has arrived on both sides. */
  quiet() {
    return this.#client.quiet();
  }

  get texts() {
    return [...this.#client.replica.view].map(item => item.text);
  }

  add(text, index = this.#client.replica.view.count) {
    const item = encoded(crypto.getRandomValues(new Uint8Array(8)), TASK, {
      text: bytesOf(text), done: false, level: 0,
    });
    return this.#act(() => inserting([item], index, "before"));
  }

  link(text, url) {
    const item = encoded(crypto.getRandomValues(new Uint8Array(8)), LINK, {
      text: bytesOf(text), url: bytesOf(url), level: 0,
    });
    return this.#act(({ count }) => inserting([item], count, "before"));
  }

  /** Gives an item another text, word by word. */
  change(index, text) {
    return this.#act(view => changing(view, [[index, index + 1]], item => ({
      text: diffTexts(bytesOf(item.text), bytesOf(text)),
    })));
  }

  tick(index) {
    return this.#act(view => changing(view, [[index, index + 1]], () => ({ done: true })));
  }

  delete(index) {
    return this.#act(() => deleting([[index, index + 1]]));
  }

  move(index, gap) {
    return this.#act(() => moving([[index, index + 1]], gap, "before"));
  }

  close() {
    this.#client.close();
  }

  #act(delta) {
    this.#client.act(replica => replica.edit(delta(replica.view)));
    return this.quiet();
  }
}

/** One window of a browser with the page in it, as a person uses it. */
export class Person {
  browser;
  tab;

  constructor(browser, tab) {
    this.browser = browser;
    this.tab = tab;
  }

  /** Loads the page, and says a name if it is asked for one. */
  async open(url, name = "Ada") {
    this.tab ??= await this.browser.tab;
    await this.here();
    // The browser does not load a page again whose address differs in its fragment only; a reload costs less than a way
    // round.
    const isMoved = await this.browser.run(
      url => location.origin === new URL(url).origin && (history.replaceState(null, "", url), true),
      url,
    );
    await (isMoved ? this.browser.reload() : this.browser.open(url));
    await until(
      () => this.browser.run(() => document.querySelector("#name, main.list, main.lists") !== null),
      "the page is there",
    );
    if (await this.browser.run(() => document.querySelector("#name") !== null)) {
      await this.browser.type("#name", name);
      await this.browser.press([KEYS.enter]);
    }
    return this;
  }

  /** Goes to a list of the page that is open, if it is: that costs far less than to load it. */
  async goTo(url, name) {
    await this.here();
    const isThere = await this.browser.run(
      url => location.origin === new URL(url).origin && ((location.href = url), true),
      url,
    );
    if (!isThere) return this.open(url, name);
    const list = decodeURIComponent(new URL(url).hash.slice("#list=".length));
    await until(
      () => this.browser.run(list => document.querySelector("main.list h1")?.textContent === list, list),
      `${list} is open`,
    );
    return this;
  }

  /** What follows happens in this person's window. */
  here() {
    return this.browser.switchTo(this.tab);
  }

  /** What the rows show. */
  texts() {
    return this.browser.run(() => [...document.querySelectorAll(".row")].map(
      row => row.querySelector("textarea")?.value ?? row.querySelector(".text").textContent,
    ));
  }

  /** Waits until the rows show these texts. */
  async sees(...texts) {
    await this.here();
    let found;
    const isSo = async () => JSON.stringify((found = await this.texts())) === JSON.stringify(texts);
    await until(isSo, `the page shows ${JSON.stringify(texts)}`).catch(error => {
      throw new Error(`${error.message}, but shows ${JSON.stringify(found)}`);
    });
  }

  badge() {
    return this.browser.run(() => document.querySelector(".badge")?.textContent ?? "");
  }

  /** Waits until the badge says something. */
  async hears(words, ms) {
    let found;
    await until(async () => (found = await this.badge()).match(words), `the page says ${words}`, ms).catch(error => {
      throw new Error(`${error.message}, but says ${found}`);
    });
  }

  /** A text is pasted into an element. True if the page leaves that to the browser, which then does nothing here. */
  pastes(selector, text) {
    return this.browser.run((selector, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      return document.querySelector(selector).dispatchEvent(paste);
    }, selector, text);
  }

  toast() {
    return this.browser.run(
      () => [...document.querySelectorAll(".toast:not([hidden])")].map(toast => toast.textContent).join(),
    );
  }

  /** Waits until a text is somewhere on the page. */
  async reads(words, ms) {
    const text = () => this.browser.run(
      () => document.body.innerText + [...document.querySelectorAll("[placeholder]")].map(one => one.placeholder)
        .join(" "),
    );
    let found;
    await until(async () => (found = await text()).match(words), `the page has ${words}`, ms).catch(error => {
      throw new Error(`${error.message}, but ends with ${found.slice(-400)}`);
    });
  }

  /** Adds an item, or several lines. */
  async add(text) {
    await this.browser.click("#composer");
    await this.browser.type("#composer", text + KEYS.enter);
  }

  /** Gives a row the focus. */
  async go(text) {
    const found = await this.browser.run(text => {
      const row = [...document.querySelectorAll(".row")].find(row => row.querySelector(".text")?.textContent === text);
      row?.focus();
      return row !== undefined;
    }, text);
    if (!found) throw new Error(`there is no row ${text}: ${await this.texts()}`);
  }

  /** Presses keys while a row has the focus. */
  async press(text, keys, ...held) {
    await this.go(text);
    await this.browser.press(keys, ...held);
  }

  /** Opens the field of a row. */
  async edit(text) {
    await this.press(text, ["e"]);
    await until(
      () => this.browser.run(() => document.activeElement?.matches("textarea.field") === true),
      "the field is open",
    );
  }

  /** Clicks what has this text: a button of a dialog or of a message. */
  async choose(text) {
    const click = text => {
      const found = [...document.querySelectorAll("button, a")].filter(
        one => one.checkVisibility?.() !== false && one.firstChild?.textContent === text,
      );
      const inDialog = found.filter(one => one.closest("dialog"));
      (inDialog[0] ?? found[0])?.click();
      return found.length > 0;
    };
    await until(() => this.browser.run(click, text), `there is “${text}”`);
  }

  /** What the field shows, and its selection. */
  field() {
    return this.browser.run(() => {
      const { value, selectionStart, selectionEnd } = document.querySelector("textarea.field");
      return { value, caret: [selectionStart, selectionEnd] };
    });
  }

  /** Waits until the field shows a text. */
  async types(text) {
    let found;
    await until(async () => (found = (await this.field()).value) === text, `the field shows ${JSON.stringify(text)}`)
      .catch(error => {
      throw new Error(`${error.message}, but shows ${JSON.stringify(found)}`);
    });
  }

  /** Waits until the line for new items has a text. */
  async composes(text) {
    await until(
      () => this.browser.run(text => document.querySelector("#composer")?.value === text, text),
      `the line for new items has ${text}`,
    ).catch(async error => {
      const there = await this.browser.run(
        () => `${document.querySelector("#composer")?.value}\n${document.querySelector("main")?.innerText}`,
      );
      throw new Error(`${error.message}: ${there}`);
    });
  }

  /** The middle of an element, in the window. */
  place(css, text = null) {
    const middle = (css, text) => {
      const all = [...document.querySelectorAll(css)];
      const found = text === null
        ? all[0]
        : all.find(one => one.closest(".row")?.querySelector(".text")?.textContent === text);
      const box = found.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2, box.height];
    };
    return this.browser.run(middle, css, text);
  }
}
