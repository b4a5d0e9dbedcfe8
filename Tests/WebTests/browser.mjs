// A real browser by WebDriver, and pages that it is given: the modules of the client, and a way through to a server's
// WebSockets, which can be cut.

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../Sources/Web/client/", import.meta.url));
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Serves the modules on a port, and sends WebSockets on to another one. */
export class Pages {
  #server;
  #sockets = new Set();
  isCut = false;

  constructor(port, behind) {
    this.port = port;
    this.#server = createServer(async (request, response) => {
      const path = new URL(request.url, "http://x").pathname.slice(1);
      if (path === "") return response.setHeader("Content-Type", "text/html").end("<!doctype html><title>hand</title>");
      try {
        response.setHeader("Content-Type", "text/javascript");
        response.end(await readFile(folder + path));
      } catch {
        response.writeHead(404).end();
      }
    });
    this.#server.on("upgrade", (request, socket, head) => {
      if (this.isCut) return socket.destroy();
      const other = connect(behind, "127.0.0.1");
      const headers = request.rawHeaders.map((text, i) => (i % 2 ? `${text}\r\n` : `${text}: `)).join("");
      other.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n`);
      other.write(head);
      socket.pipe(other).pipe(socket);
      for (const one of [socket, other]) {
        this.#sockets.add(one);
        one.on("error", () => {});
        one.on("close", () => (socket.destroy(), other.destroy(), this.#sockets.delete(one)));
      }
    });
    this.#server.listen(port, "127.0.0.1");
  }

  /** Nothing gets through any more. */
  cut(isCut) {
    this.isCut = isCut;
    if (isCut) for (const socket of this.#sockets) socket.destroy();
  }

  close() {
    this.cut(true);
    this.#server.close();
    this.#server.closeAllConnections?.();
  }
}

/** A browser with windows. */
export class Browser {
  #driver;
  #base;
  #session;

  static async start(port) {
    const browser = new Browser();
    browser.#driver = spawn("chromedriver", [`--port=${port}`], { stdio: "ignore" });
    browser.#base = `http://127.0.0.1:${port}/session`;
    for (let left = 100; left > 0; left--) {
      try {
        const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        const capabilities = { alwaysMatch: { browserName: "chrome", "goog:chromeOptions": { args } } };
        const { sessionId } = await browser.#ask("POST", "", { capabilities });
        browser.#session = sessionId;
        break;
      } catch (error) {
        if (left === 1) throw error;
        await pause(100);
      }
    }
    return browser;
  }

  go(url) {
    return this.#command("POST", "/url", { url });
  }

  async newTab() {
    const { handle } = await this.#command("POST", "/window/new", { type: "tab" });
    return handle;
  }

  current() {
    return this.#command("GET", "/window");
  }

  to(handle) {
    return this.#command("POST", "/window", { handle });
  }

  closeTab() {
    return this.#command("DELETE", "/window");
  }

  /** Runs the body of an async function in the page. */
  async run(script, ...args) {
    const wrapped = `const all = [...arguments], done = all.pop();
      (async (...args) => { ${script} })(...all)
        .then(value => done({ value }), error => done({ error: String(error?.stack ?? error) }));`;
    const { value, error } = await this.#command("POST", "/execute/async", { script: wrapped, args });
    if (error) throw new Error(error);
    return value;
  }

  /** A command of the DevTools. */
  devtools(cmd, params) {
    return this.#command("POST", "/goog/cdp/execute", { cmd, params });
  }

  async close() {
    await this.#command("DELETE", "").catch(() => {});
    this.#driver.kill();
  }

  #command(method, path, body) {
    return this.#ask(method, `/${this.#session}${path}`, body);
  }

  async #ask(method, path, body) {
    const response = await fetch(this.#base + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }
}
