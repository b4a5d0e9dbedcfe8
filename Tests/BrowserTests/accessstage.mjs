// What the tests of accessibility share: a server with some lists, a browser, and what one asks of a page.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, chromeDriver, until } from "./browser.mjs";

const hand = process.env.HAND;
/** Why these tests cannot run, if they cannot. */
export const missing = !hand ? "HAND is not the path of the program" : !chromeDriver ? "Chromium's driver is not installed" : undefined;

/** The text of axe-core, which a package of Python has, if it is installed. */
export function axeSource() {
  const where = "import axe_playwright_python as axe, os; print(os.path.dirname(axe.__file__))";
  const { stdout, status } = spawnSync("python3", ["-c", where], { encoding: "utf8" });
  const folders = [process.env.AXE, status === 0 ? stdout.trim() : undefined].filter(folder => folder);
  const path = folders.map(folder => join(folder, "axe.min.js")).find(path => existsSync(path));
  return path && readFileSync(path, "utf8");
}

/** A server with a folder of its own. */
export class Server {
  #folder = mkdtempSync(join(tmpdir(), "hand-access-"));
  #process;
  #port;
  #web;

  static async start() {
    const server = new Server();
    [server.#port, server.#web] = [await freePort(), await freePort()];
    await server.begin();
    return server;
  }

  async begin() {
    const args = ["serve", "--data", join(this.#folder, "data"), "--listen", `127.0.0.1:${this.#port}`, "--web", `127.0.0.1:${this.#web}`];
    this.#process = spawn(hand, args, { stdio: "ignore", env: this.#environment });
    await until(() => fetch(this.page).then(() => true, () => false), "the server answers");
  }

  /** The server ends, and keeps its lists. */
  async end() {
    const ended = new Promise(resolve => this.#process.on("exit", resolve));
    this.#process.kill();
    await ended;
  }

  get page() {
    return `http://127.0.0.1:${this.#web}/`;
  }

  get #environment() {
    return { ...process.env, HOME: this.#folder, HAND_URL: `hand://127.0.0.1:${this.#port}`, HAND_NAME: "Bob" };
  }

  /** Runs a command as Bob. */
  run(...args) {
    const { status, stderr } = spawnSync(hand, args, { encoding: "utf8", env: this.#environment });
    if (status !== 0) throw new Error(`hand ${args.join(" ")}: ${stderr}`);
  }

  /** Runs a command beside others. */
  start(...args) {
    return new Promise(resolve => spawn(hand, args, { stdio: "ignore", env: this.#environment }).on("exit", resolve));
  }

  async close() {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A browser whose person has a name already. */
export async function startBrowser(page, person = "Alice") {
  const browser = await Browser.chromium({ width: 1280, height: 800 });
  await browser.open(page);
  await browser.run(person => localStorage.setItem("hand identity", JSON.stringify({ person, links: [] })), person);
  await browser.open("about:blank");
  await browser.open(page);
  await until(() => browser.run(() => document.querySelector(".badge")?.textContent === "saved"), "the page is online");
  return browser;
}

/** Goes to a part of the page. */
export async function go(browser, fragment, isThere) {
  await browser.run(fragment => void (location.hash = fragment), fragment);
  await until(() => browser.run(isThere), String(isThere));
}

/** Goes to a list, and waits for its rows. */
export async function openList(browser, list, rows) {
  await browser.run(list => void (location.hash = `#list=${list}`), list);
  const isThere = () => browser.run((list, rows) => document.querySelector("h1")?.textContent === list && document.querySelectorAll(".row").length === rows, list, rows);
  await until(isThere, `${list} has ${rows} rows`);
}

/** How wide the window is, which theme it has, and whether the system has its own colours. */
export async function look(browser, { width = 1280, theme = "light", forced = false } = {}) {
  await browser.cdp("Emulation.setDeviceMetricsOverride", { width, height: width < 600 ? 640 : 800, deviceScaleFactor: 1, mobile: false });
  await browser.cdp("Emulation.setEmulatedMedia", {
    features: [
      { name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" },
      { name: "forced-colors", value: forced ? "active" : "none" },
    ],
  });
}

/** What has the focus, in a few words. */
export function focused(browser) {
  return browser.run(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return "nothing";
    if (element.matches(".row")) return `row ${element.querySelector(".text")?.textContent}`;
    return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
  });
}
