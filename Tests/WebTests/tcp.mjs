// A client over TCP, for trying the session against a real server: `node tcp.mjs HOST PORT LIST` reads commands from
// its input, one on each line, and prints what it is told, and `did` when a command is done and in its journal. The
// journal is a file, if HAND_JOURNAL names one.
//
//   note TEXT        appends a note           edit N TEXT   gives item N another text
//   delete N         deletes item N           move N M      moves item N to gap M
//   undo, redo       take back, make again    random N      makes N random edits
//   wait             until nothing is pending and the list is as the server has it, prints count and digest
//   show             prints the texts         quit          ends

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Adoption } from "../../Sources/Web/client/adoption.js";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { DeltaBuilder } from "../../Sources/Web/client/components.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { Journal, readJournals } from "../../Sources/Web/client/journal.js";
import { Session } from "../../Sources/Web/client/session.js";
import { diffTexts } from "../../Sources/Web/client/words.js";
import { Random } from "./random.mjs";
import { toldTo } from "./told.mjs";

/** Rows in a file, which grows by a line for each transaction. What was written partly is left out. */
class Storage {
  rows = new Map();
  #file;

  constructor(path) {
    if (existsSync(path)) {
      for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) this.#apply(fromLine(line));
    }
    this.#file = openSync(path, "a");
  }

  write(changes) {
    writeSync(this.#file, toLine(changes) + "\n");
    fsyncSync(this.#file);
    this.#apply(changes);
  }

  close() {
    closeSync(this.#file);
  }

  #apply({ puts, deletes }) {
    for (const key of deletes) this.rows.delete(String(key));
    for (const entry of puts) this.rows.set(String(entry.key), entry);
  }
}

const toLine = changes => JSON.stringify(
  changes,
  (_, value) => (value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value),
);
const fromLine = line =>
  JSON.parse(line, (_, value) => (value?.bytes ? new Uint8Array(Buffer.from(value.bytes, "base64")) : value));

/** One client id: its session, its connection and its clock. */
export class Client {
  #address;
  #name;
  #storage;
  #print;
  #journal;
  #session;
  #list;
  #socket;
  #timer;
  #adoptions = [];
  #waiting = [];

  /** Connects, first with what is left in the journal of an earlier run, under its client id. */
  constructor({ host, port, name, person = "node", storage, kept, print = () => {} }) {
    this.#address = { host, port };
    this.#name = name;
    this.#storage = storage;
    this.#print = print;
    const client = kept?.client ?? randomBytes(16).toString("hex");
    this.#journal = storage && new Journal(client, kept?.lists);
    this.#session = new Session(
      { client, person, program: "web test" },
      this.#journal && (lists => this.#journal.changes(lists)),
    );
    if (kept) {
      this.#adoptions = kept.lists.map(list => ({
        list, adoption: new Adoption(list, () => this.#session.nextRequest()),
      }));
    }
    else this.#list = this.#session.follow(name);
    this.#run(this.#session.tick(this.#now(), Math.random()));
  }

  get replica() {
    return this.#list && this.#session.replica(this.#list);
  }

  get isQuiet() {
    return this.#adoptions.length === 0 && this.#list?.isLive && this.replica.pending.length === 0;
  }

  act(action) {
    this.#run(this.#session.act(this.#list, action, this.#now()));
  }

  /** When nothing is pending, and all commits have come. */
  quiet() {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      this.#settle();
    });
  }

  close() {
    clearTimeout(this.#timer);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #now() {
    return Math.round(performance.now());
  }

  #settle() {
    if (this.isQuiet) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #run(effects) {
    for (const effect of effects) this.#do(effect);
    clearTimeout(this.#timer);
    const wait = this.#session.deadline - this.#now();
    if (wait < Infinity) {
      this.#timer = setTimeout(() => this.#run(this.#session.tick(this.#now(), Math.random())), Math.max(0, wait));
    }
    this.#settle();
  }

  #do(effect) {
    switch (effect.do) {
      case "connect":
        return this.#connect();
      case "send":
        return this.#socket?.write(effect.bytes);
      case "close":
        this.#socket?.destroy();
        this.#socket = undefined;
        return;
      case "write":
        this.#storage.write(effect.changes);
        return setImmediate(() => this.#run(this.#session.stored(effect.write)));
      case "tell":
        return this.#print(JSON.stringify(toldTo(effect.told)));
      case "open":
        for (const one of this.#adoptions) this.#step(one, one.adoption.begin());
        return;
      case "answer":
        for (const one of [...this.#adoptions]) this.#step(one, one.adoption.answer(effect.message));
        return;
      case "draw": {
        const client = randomBytes(16).toString("hex");
        if (this.#journal) this.#storage.write(this.#journal.rename(client));
        return setImmediate(() => this.#run(this.#session.take(client, this.#now())));
      }
      case "stop":
        return this.#print(JSON.stringify({ stopped: effect.reason }));
    }
  }

  #step(one, step) {
    if (!step) return;
    if (step.do === "ask") for (const message of step.messages) this.#run(this.#session.ask(message, this.#now()));
    if (step.do === "follow") {
      this.#adoptions = this.#adoptions.filter(other => other !== one);
      this.#list = this.#session.follow(step.name, step.replica, one.list.list);
      this.#run(this.#session.tick(this.#now(), 0));
    }
    if (step.do === "fail") this.#print(JSON.stringify({ failed: step.reason }));
  }

  #connect() {
    const socket = connect(this.#address);
    this.#socket = socket;
    const isMine = () => this.#socket === socket;
    socket.setNoDelay(true);
    socket.on("connect", () => isMine() && this.#run(this.#session.connected(this.#now())));
    socket.on(
      "data",
      data => isMine() && this.#run(this.#session.received(new Uint8Array(data), this.#now(), Math.random())),
    );
    socket.on("error", () => {});
    socket.on("close", () => {
      if (!isMine()) return;
      this.#socket = undefined;
      this.#run(this.#session.lost(this.#now(), Math.random()));
    });
  }
}

/** The clients of a journal's file: those that have ended, and a new one. */
export function clientsOf({ path, ...options }) {
  const storage = path && new Storage(path);
  const kept = storage ? readJournals(storage.rows.values()).filter(journal => "lists" in journal) : [];
  return {
    dead: kept.map(kept => new Client({ ...options, storage, kept })), live: new Client({ ...options, storage }),
  };
}

// Edits of the view

const note = text => encoded(new Uint8Array(randomBytes(8)), 2, { text: bytesOf(text), level: 0 });

/** The delta that does something at the item of an index. */
function at(index, body) {
  const builder = new DeltaBuilder();
  builder.keep(index);
  body(builder);
  return builder.finish();
}

function moving(from, gap) {
  const builder = new DeltaBuilder();
  if (gap <= from) {
    builder.keep(gap);
    builder.drop(0, 1, "after");
    builder.keep(from - gap);
    builder.pick(1);
  } else {
    builder.keep(from);
    builder.pick(1);
    builder.keep(gap - from - 1);
    builder.drop(0, 1, "after");
  }
  return builder.finish();
}

const random = new Random(randomBytes(4).readUInt32LE());

function anyEdit({ view }) {
  const { count } = view;
  const index = random.below(Math.max(count, 1));
  const what = random.below(8);
  if (count === 0 || what < 3) {
    return at(
      random.below(count + 1),
      builder => builder.insert([note(`w${random.below(1e6)} x${random.below(1e6)}`)], random.side()),
    );
  }
  if (what === 3) return at(index, builder => builder.delete(1));
  if (what < 6) return moving(index, random.below(count + 1));
  const change = random.change(view.at(index));
  return change ? at(index, builder => builder.edit(change)) : [];
}

async function command(client, line) {
  const [verb, ...words] = line.trim().split(" ");
  const { view } = client.replica;
  const index = Number(words[0]) - 1;
  switch (verb) {
    case "note":
      return client.act(
        replica => replica.edit(at(view.count, builder => builder.insert([note(words.join(" "))], "before"))),
      );
    case "edit": {
      const text = diffTexts(view.at(index).fields().text, bytesOf(words.slice(1).join(" ")));
      return client.act(replica => replica.edit(at(index, builder => builder.edit({ text }))));
    }
    case "delete":
      return client.act(replica => replica.edit(at(index, builder => builder.delete(1))));
    case "move":
      return client.act(replica => replica.edit(moving(index, Number(words[1]))));
    case "undo":
      return client.act(replica => replica.undo());
    case "redo":
      return client.act(replica => replica.redo());
    case "random":
      for (let left = Number(words[0]); left > 0; left--) {
        client.act(
          replica =>
            (random.is(0.1) ? replica.undo() : random.is(0.05) ? replica.redo() : replica.edit(anyEdit(replica))),
        );
        await new Promise(resolve => setTimeout(resolve, random.below(30)));
      }
      return;
    case "wait":
      await client.quiet();
      return console.log(
        `quiet ${client.replica.revision} ${client.replica.confirmed.count} ${client.replica.confirmed.digest}`,
      );
    case "show":
      return [...view].forEach((item, i) => console.log(`${i + 1} ${item.text}`));
    case "quit":
      client.close();
      process.exit(0);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [host, port, name] = process.argv.slice(2);
  const { dead, live } = clientsOf({
    path: process.env.HAND_JOURNAL, host, port: Number(port), name, print: line => console.log(line),
  });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "wait") for (const client of dead) await client.quiet();
    await command(live, line).then(
      () => console.log(`did ${line}`),
      error => console.log(`cannot: ${error.message}`),
    );
  }
}
