// A server, three clients of tcp.mjs with journals and the command line of hand, all killed again and again: each note
// that was written is in the list in the end, once, and all see the same list.
//
//     HAND=path/to/hand node chaos.mjs [SECONDS] [PORT]

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { Random, seed } from "./random.mjs";

const hand = process.env.HAND ?? "hand";
const [seconds = "30", port = "7790"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "hand-chaos-"));
const random = new Random(seed);
const run = promisify(execFile);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const environment = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
const address = `hand://127.0.0.1:${port}/chaos`;
let kills = 0;

// The server

let server;

async function startServer() {
  server = spawn(hand, ["serve", "--data", join(folder, "server"), "--listen", `127.0.0.1:${port}`], {
    stdio: "ignore", env: environment,
  });
  for (let i = 0; i < 100 && !(await answers()); i++) await pause(50);
}

function answers() {
  return new Promise(resolve => {
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    socket.on("connect", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });
}

// The clients

/** The texts of the notes that are in a journal, or were added by the command line. */
const written = new Set();

class Tab {
  #journal;
  #process;
  #said = [];
  #number = 0;

  constructor(name) {
    this.name = name;
    this.#journal = join(folder, `journal-${name}`);
    this.start();
  }

  start() {
    const program = fileURLToPath(new URL("tcp.mjs", import.meta.url));
    const child = spawn("node", [program, "127.0.0.1", port, "chaos"], {
      stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, HAND_JOURNAL: this.#journal },
    });
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", line => this.#hear(line));
    this.#process = child;
  }

  kill() {
    kills++;
    this.#process.kill("SIGKILL");
    return new Promise(resolve => this.#process.on("close", resolve));
  }

  note() {
    this.say(`note ${this.name}-${++this.#number}`);
  }

  say(line) {
    this.#process.stdin.write(line + "\n");
  }

  /** The next line that begins so. */
  line(start) {
    return new Promise(resolve => this.#said.push({ start, resolve }));
  }

  #hear(line) {
    if (line.startsWith("did note ")) written.add(line.slice("did note ".length));
    if (/failed|stopped|diverged|usedTwice|ended/.test(line)) console.log(`${this.name}: ${line}`);
    const i = this.#said.findIndex(({ start }) => line.startsWith(start));
    if (i >= 0) this.#said.splice(i, 1)[0].resolve(line);
  }
}

async function main() {
  console.log(`seed ${seed}, ${seconds} s`);
  await startServer();
  await run(hand, ["create", "--url", `hand://127.0.0.1:${port}`, "chaos"], { env: environment })
    .catch(error => console.log(error.stderr));
  const tabs = ["a", "b", "c"].map(name => new Tab(name));
  const until = Date.now() + Number(seconds) * 1000;
  let added = 0;
  while (Date.now() < until) {
    const tab = random.pick(tabs);
    const what = random.below(100);
    if (what < 60) tab.note();
    else if (what < 75) tab.say(random.pick(["move 1 2", "move 2 1", "move 1 3"]));
    else if (what < 80) await add(`cli-${++added}`);
    else if (what < 84) {
      await tab.kill();
      tab.start();
    } else if (what < 86) {
      kills++;
      server.kill("SIGKILL");
      await pause(random.below(800));
      await startServer();
    }
    await pause(random.below(120));
  }
  const ends = [];
  for (const tab of tabs) {
    tab.say("wait");
    ends.push(tab.line("quiet"));
  }
  await Promise.race([Promise.all(ends), pause(60_000)]);
  // Others' last commits may have come after somebody was quiet.
  await pause(500);
  for (const tab of tabs) tab.say("wait");
  const states = await Promise.race([
    Promise.all(tabs.map(tab => tab.line("quiet"))), pause(60_000).then(() => ["nobody is quiet"]),
  ]);
  const { stdout } = await run(hand, ["ls", "--url", address, "--json"], { env: environment, maxBuffer: 1e8 });
  judge(states, stdout);
  for (const tab of tabs) tab.kill();
  server.kill("SIGKILL");
  await pause(300);
  rmSync(folder, { recursive: true, force: true });
}

/** An item is added by the command line, which may be killed: it says so if it has added it. */
async function add(text) {
  const isKilled = random.is(0.4);
  const adding = run(hand, ["add", "--url", address, text], {
    env: environment, ...(isKilled && { timeout: random.below(60) + 1, killSignal: "SIGKILL" }),
  });
  await adding.then(() => written.add(text)).catch(() => kills++);
}

/** @param {string[]} states what each tab says in the end @param {string} items the list, as JSON */
function judge(states, items) {
  const texts = [...items.matchAll(/"text":"((?:[abc]|cli)-\d+)"/g)].map(([, text]) => text);
  const twice = texts.filter((text, i) => texts.indexOf(text) !== i);
  const missing = [...written].filter(text => !texts.includes(text));
  console.log(`${kills} killed, ${written.size} notes written, ${texts.length} in the list, ${twice.length} twice,`
    + ` ${missing.length} missing: ${missing.slice(0, 20).join(" ")}`);
  console.log(states.join("\n"));
  const isRight = twice.length + missing.length === 0 && new Set(states).size === 1 && !states[0].startsWith("nobody");
  console.log(isRight ? "right" : "wrong");
  process.exitCode = isRight ? 0 : 1;
}

await main();
