// A browser that does what a test says, by WebDriver. The drivers are Debian's.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
/** How long a page may take for an answer, in ms: machines are slow while they test other things. */
const timeouts = { script: 300_000 };
export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** The path of a program, if it is installed. */
const installed = (...paths) => paths.find(path => existsSync(path));
export const chromeDriver = installed("/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver");
export const webKitDriver = installed("/usr/bin/WebKitWebDriver");
const chromium = installed("/usr/bin/chromium");
const miniBrowser = installed(
  "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
  "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.0/MiniBrowser",
);
const xvfb = installed("/usr/bin/Xvfb");
/** Why WebKit cannot run, if it cannot: it has no mode without a screen. */
export const noWebKit = !webKitDriver || !miniBrowser
  ? "WebKit's driver is not installed"
  : !process.env.DISPLAY && !xvfb && "there is no screen, and Xvfb is not installed";

/** The keys that have no character. */
export const KEYS = {
  enter: "\uE007", escape: "\uE00C", up: "\uE013", down: "\uE015", tab: "\uE004", shift: "\uE008", control: "\uE009",
  alt: "\uE00A", backspace: "\uE003", end: "\uE010", left: "\uE012", right: "\uE014",
};

/** Waits until something is true, and gives it. */
export async function until(condition, what = String(condition), ms = 60_000) {
  for (const end = Date.now() + ms; ; await pause(30)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
}

/** A screen that nobody sees, if there is no other. */
async function screen() {
  if (process.env.DISPLAY) return { name: process.env.DISPLAY, close() {} };
  const child = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1200x900x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let number = "";
  child.stdio[3].on("data", data => (number += data));
  await until(() => number.endsWith("\n"), "the screen is there");
  return { name: `:${number.trim()}`, close: () => child.kill() };
}

/** A program that answers WebDriver, with one window after the other. */
class Driver {
  #process;
  #address;

  constructor(process, address) {
    this.#process = process;
    this.#address = address;
  }

  /** Starts a driver on a port that is free: one that ends at once had none. */
  static async start(program, env = {}) {
    for (;;) {
      // Below those that systems give to anybody.
      const port = 12_000 + Math.floor(Math.random() * 20_000);
      const child = spawn(program, [`--port=${port}`], { stdio: "ignore", env: { ...process.env, ...env } });
      const driver = new Driver(child, `http://127.0.0.1:${port}`);
      const answers = () => driver.call("GET", "/status").then(() => true, () => child.exitCode !== null);
      await until(answers, `${program} answers`);
      if (child.exitCode === null) return driver;
    }
  }

  async call(method, path, body) {
    const answer = await fetch(this.#address + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`.slice(0, 600));
    return value;
  }

  close() {
    this.#process.kill();
  }
}

/** A browser with a profile of its own. */
export class Browser {
  #driver;
  #session;
  #folder;
  #closed;

  constructor(driver, session, folder, closed = () => {}) {
    this.#driver = driver;
    this.#session = session;
    this.#folder = folder;
    this.#closed = closed;
  }

  static async chromium(
    { width = 1000, height = 800, args = [], folder = mkdtempSync(join(tmpdir(), "hand-browser-")) } = {},
  ) {
    const driver = await Driver.start(chromeDriver);
    const options = {
      binary: chromium,
      args: [
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
        `--window-size=${width},${height}`, `--user-data-dir=${folder}`, ...args,
      ],
    };
    const wanted = {
      browserName: "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { browser: "ALL" },
      acceptInsecureCerts: true, timeouts,
    };
    const { sessionId } = await driver.call("POST", "/session", { capabilities: { alwaysMatch: wanted } });
    return new Browser(driver, `/session/${sessionId}`, folder);
  }

  static async webKit() {
    const { name, close } = await screen();
    const env = { DISPLAY: name, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" };
    const driver = await Driver.start(webKitDriver, env);
    const options = { binary: miniBrowser, args: ["--automation"] };
    const { sessionId } = await driver.call("POST", "/session", {
      capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options, timeouts } },
    });
    return new Browser(driver, `/session/${sessionId}`, undefined, close);
  }

  // Windows

  open(url) {
    return this.#call("POST", "/url", { url });
  }

  reload() {
    return this.#call("POST", "/refresh", {});
  }

  async newTab(url) {
    const { handle } = await this.#call("POST", "/window/new", { type: "tab" });
    await this.switchTo(handle);
    if (url) await this.open(url);
    return handle;
  }

  async newWindow() {
    return (await this.#call("POST", "/window/new", { type: "window" })).handle;
  }

  get tab() {
    return this.#call("GET", "/window");
  }

  tabs() {
    return this.#call("GET", "/window/handles");
  }

  switchTo(handle) {
    return this.#call("POST", "/window", { handle });
  }

  closeTab() {
    return this.#call("DELETE", "/window");
  }

  resize(width, height) {
    return this.#call("POST", "/window/rect", { width, height });
  }

  // What is in the page

  /** Runs a function in the page. */
  run(action, ...args) {
    return this.#call("POST", "/execute/sync", { script: `return (${action})(...arguments)`, args });
  }

  /** Runs a function that gives a promise. */
  wait(action, ...args) {
    const script = `const all = [...arguments], done = all.pop();
      (${action})(...all).then(done, error => done(String(error)));`;
    return this.#call("POST", "/execute/async", { script, args });
  }

  async find(css) {
    return (await this.#call("POST", "/element", { using: "css selector", value: css }))[ELEMENT];
  }

  async click(css) {
    return this.#call("POST", `/element/${await this.find(css)}/click`, {});
  }

  async type(css, text) {
    return this.#call("POST", `/element/${await this.find(css)}/value`, { text });
  }

  /** Keys for whatever has the focus; those of `held` are held down meanwhile. */
  async press(keys, ...held) {
    const actions = [...held.map(value => ({ type: "keyDown", value }))];
    for (const value of keys) actions.push({ type: "keyDown", value }, { type: "keyUp", value });
    for (const value of held) actions.push({ type: "keyUp", value });
    await this.#call("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** A pointer goes down, moves over some places, and up: [x, y] in the window. */
  drag([first, ...rest], pointerType = "mouse") {
    return this.pointer([["down", ...first], ...rest.map(place => ["move", ...place]), ["up"]], pointerType);
  }

  /** A pointer moves, and goes down or up: `[what, x, y]`, in the window. It stays down until it goes up. */
  async pointer(steps, pointerType = "mouse") {
    const actions = steps.flatMap(([what, x, y]) => [
      ...(what === "up" ? [] : [{ type: "pointerMove", duration: 60, x: Math.round(x), y: Math.round(y) }]),
      ...(what === "move" ? [] : [{ type: what === "up" ? "pointerUp" : "pointerDown", button: 0 }]),
    ]);
    await this.#call("POST", "/actions", {
      actions: [{ type: "pointer", id: pointerType, parameters: { pointerType }, actions }],
    });
  }

  /** What Chromium's own protocol does: the network, input methods, frozen pages. */
  cdp(cmd, params = {}) {
    return this.#call("POST", "/goog/cdp/execute", { cmd, params });
  }

  /** What the page has written to the console since it was asked last. */
  async log() {
    const entries = await this.#call("POST", "/se/log", { type: "browser" });
    return entries.map(({ level, message }) => `${level} ${message}`);
  }

  async screenshot(path) {
    writeFileSync(path, Buffer.from(await this.#call("GET", "/screenshot"), "base64"));
  }

  async close() {
    await this.#call("DELETE", "").catch(() => {});
    this.#driver.close();
    this.#closed();
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
  }

  #call(method, path, body) {
    return this.#driver.call(method, this.#session + path, body);
  }
}
