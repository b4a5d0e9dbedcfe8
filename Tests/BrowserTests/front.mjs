// A proxy in front of the server: it can be switched off or fall silent, notes what it is asked for, and can serve
// other files than the server has.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../Sources/Web/", import.meta.url));
const TYPES = {
  html: "text/html; charset=utf-8", css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml", webmanifest: "application/manifest+json",
};

/** The page as it is in the folder of its sources, as a build of its own. */
export class Build {
  name;
  #files = new Map();

  /** A text that differs makes another build; `changed` may change the files. */
  constructor(text = "", changed = (path, content) => content) {
    const sources =
      ["client", "view", "root"].flatMap(part => readdirSync(SOURCE + part).map(name => `${part}/${name}`)).sort();
    const contents = new Map(sources.map(path => [path, changed(path, readFileSync(SOURCE + path, "utf8"))]));
    this.name = createHash("sha256").update(text + JSON.stringify([...contents])).digest("hex").slice(0, 16);
    const modules = sources.filter(path => !path.startsWith("root/"));
    for (const [path, content] of contents) {
      if (modules.includes(path)) this.#files.set(`/${this.name}/${path}`, content);
      else if (path === "root/index.html") this.#files.set("/", content.replaceAll("/build/", `/${this.name}/`));
      else if (path === "root/worker.js") {
        const files = JSON.stringify(modules.map(module => `/${this.name}/${module}`));
        this.#files.set("/worker.js", `self.build = "${this.name}";\nself.files = ${files};\n${content}`);
      } else this.#files.set(path.slice("root".length), content);
    }
  }

  /** The content of a file and its type, if there is one. */
  get(path) {
    const content = this.#files.get(path);
    return content === undefined ? undefined : { content, type: TYPES[path === "/" ? "html" : path.split(".").at(-1)] };
  }
}

export class Front {
  /** The page that is served instead of the server's. */
  build;
  /** What answers everything instead of the server: a network that wants people to log in first. */
  portal;
  isDown = false;
  /** How many connections came while it was down. */
  refused = 0;
  /** Requests: their lines and fields. */
  asked = [];
  /** How many WebSockets were asked for. */
  upgrades = 0;
  #server;
  #target;
  #sockets = new Set();
  #fields;
  #isSilent = false;

  constructor(target) {
    this.#target = target;
    this.#server = createServer((asked, answer) => this.#answer(asked, answer));
    this.#server.on("upgrade", (asked, socket, head) => this.#upgrade(asked, socket, head));
    this.#server.on("connection", socket => this.#keep(socket));
  }

  async start() {
    await new Promise(resolve => this.#server.listen(0, "127.0.0.1", resolve));
    // The server's own fields, among them the rules of what the page may do.
    const { headers } = await fetch(`http://127.0.0.1:${this.#target}/`);
    this.#fields = Object.fromEntries(
      [...headers].filter(([name]) => /policy|nosniff|content-type-options/.test(name)),
    );
    return this;
  }

  get port() {
    return this.#server.address().port;
  }

  /** Nothing goes through any more, and what is open is closed. */
  cut() {
    this.isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nothing goes through any more, but nobody is told. */
  silence() {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend() {
    this.isDown = this.#isSilent = false;
    this.portal = undefined;
    for (const socket of this.#sockets) socket.resume();
  }

  close() {
    this.cut();
    this.#server.close();
  }

  // Private

  #keep(socket) {
    if (this.isDown) {
      this.refused++;
      return socket.destroy();
    }
    if (this.#isSilent) socket.pause();
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
  }

  #answer(asked, answer) {
    this.asked.push({ line: `${asked.method} ${asked.url}`, fields: asked.headers });
    if (this.portal) return answer.writeHead(200, { "Content-Type": "text/html" }).end(this.portal);
    const own = this.build?.get(asked.url);
    if (own) {
      const caching = asked.url.startsWith(`/${this.build.name}/`) ? "public, max-age=31536000, immutable" : "no-cache";
      return answer.writeHead(
        200,
        { ...this.#fields, "Content-Type": own.type, "Cache-Control": caching },
      ).end(own.content);
    }
    const { method, url: path, headers } = asked;
    const passed = request({
      host: "127.0.0.1", port: this.#target, method, path, headers: { ...headers, connection: "close" },
    }, given => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    });
    passed.on("error", () => asked.socket.destroy());
    passed.end();
  }

  #upgrade(asked, socket, head) {
    this.upgrades++;
    this.asked.push({ line: `${asked.method} ${asked.url}`, fields: asked.headers });
    if (this.portal) {
      return socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + this.portal);
    }
    const to = connect(this.#target, "127.0.0.1", () => {
      const lines = [];
      for (let i = 0; i < asked.rawHeaders.length; i += 2) {
        lines.push(`${asked.rawHeaders[i]}: ${asked.rawHeaders[i + 1]}`);
      }
      to.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      to.write(head);
      to.pipe(socket).pipe(to);
      if (this.#isSilent) for (const end of [to, socket]) end.pause();
    });
    this.#keep(to);
    to.on("close", () => socket.destroy());
    socket.on("close", () => to.destroy());
  }
}
