// The real server, without clock and sockets: `hand-lab machine` is asked and answers at once, so that a test stays in
// one thread, and a seed repeats it.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { apply } from "../../Sources/Web/client/delta.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { List } from "../../Sources/Web/client/list.js";
import { decodeDown, encodeUp } from "../../Sources/Web/client/messages.js";

const lab = process.env.HAND && join(dirname(process.env.HAND), "hand-lab");
/** For tests that ask it. */
export const needsServer = { skip: !existsSync(lab ?? "") && "there is no hand-lab beside the program of HAND" };

export class Host {
  /** When the server wants to be told the time. */
  deadline = Infinity;
  #requests;
  #answers;
  #unread = "";
  /** Those that hear what the server sends, and that it has closed: by number. */
  #ends = new Map();
  #count = 0;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "hand-host-"));
    const pipes = [join(folder, "requests"), join(folder, "answers")];
    execFileSync("mkfifo", pipes);
    const command = ["-c", 'exec "$0" machine <"$1" >"$2"', lab, ...pipes];
    // It ends with its input.
    spawn("sh", command, { stdio: ["ignore", "ignore", "inherit"] }).unref();
    this.#requests = openSync(pipes[0], "w");
    this.#answers = openSync(pipes[1], "r");
    rmSync(folder, { recursive: true });
  }

  /** Another server, that has nothing. */
  begin(seed, now) {
    this.#ends.clear();
    this.#ask(`begin ${seed}`, now);
  }

  /** Connects somebody who hears with `received` and `closed`. Gives the connection's number. */
  connect(end, now) {
    this.#ends.set(++this.#count, end);
    this.#ask(`connect ${this.#count}`, now);
    return this.#count;
  }

  receive(number, bytes, now) {
    this.#ask(`receive ${number} ${Buffer.from(bytes).toString("base64")}`, now);
  }

  lose(number, now) {
    this.#ends.delete(number);
    this.#ask(`lose ${number}`, now);
  }

  tick(now) {
    if (Math.floor(now) >= this.deadline) this.#ask("tick", now);
  }

  /** The server counts whole milliseconds. */
  #ask(event, now) {
    writeSync(this.#requests, `${event} ${Math.floor(now)}\n`);
    const said = [];
    for (;;) {
      const [what, subject, bytes] = this.#line().split(" ");
      if (what === "until") {
        this.deadline = Number(subject);
        break;
      }
      said.push([what, Number(subject), bytes]);
    }
    for (const [what, number, bytes] of said) {
      const end = this.#ends.get(number);
      if (what === "send") end?.received(new Uint8Array(Buffer.from(bytes, "base64")));
      else end?.closed();
    }
  }

  #line() {
    for (;;) {
      const end = this.#unread.indexOf("\n");
      if (end >= 0) {
        const line = this.#unread.slice(0, end);
        this.#unread = this.#unread.slice(end + 1);
        return line;
      }
      const bytes = Buffer.alloc(65_536);
      const count = readSync(this.#answers, bytes);
      if (count === 0) throw new Error("hand-lab has ended");
      this.#unread += bytes.toString("latin1", 0, count);
    }
  }
}

const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };

/** Somebody on another device, whose connection never fails: makes a list, edits it, and sees what the server has. */
export class Elsewhere {
  list = List.empty;
  #host;
  #number;
  #listNumber;
  #revision = 0;
  #sequence = 0;
  #frames = new FrameReader();

  constructor(host, name, now) {
    this.#host = host;
    this.#number = host.connect(this, now);
    const versions = { lowestVersion: 5, highestVersion: 5, capabilities: 0 };
    const me = { client: "e".repeat(32), person: "Eve", program: "test", token: "", idle: 0 };
    this.#send({ type: "hello", magic: "HAND", ...versions, ...me }, now);
    this.#send({ type: "create", request: 1, name, rules }, now);
    this.#send({ type: "subscribe", request: 2, name, logID: "0".repeat(16), revision: 0, wants: 1 }, now);
    if (this.#listNumber === undefined) throw new Error("the server has not made the list");
  }

  get revision() {
    return this.#revision;
  }

  edit(delta, now) {
    const before = this.#revision;
    const sequence = ++this.#sequence;
    this.#send({ type: "submit", list: this.#listNumber, base: before, sequence, how: 0, delta }, now);
    if (this.#revision === before) throw new Error("the server has not taken the edit");
  }

  /** So that the server does not take the connection for dead. */
  ping(now) {
    this.#send({ type: "ping", nonce: 1 }, now);
  }

  received(bytes) {
    this.#frames.read(bytes, body => this.#read(decodeDown(body)));
  }

  closed() {
    throw new Error("the server has closed a connection without fault");
  }

  #send(message, now) {
    this.#host.receive(this.#number, framed(encodeUp(message)), now);
  }

  #read(message) {
    if (message.type === "subscribed") this.#listNumber = message.list;
    else if (message.type === "error" || message.type === "rejected") {
      throw new Error(`the server refuses: ${JSON.stringify(message)}`);
    } else if (message.type === "commit") {
      this.#revision = message.commit.revision;
      this.list = apply(this.list, message.commit.delta);
    }
  }
}
