// How long things take, and how large the modules are: `node speed.mjs`. Nothing is tested here.

import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Reader, bytesOf } from "../../Sources/Web/client/bytes.js";
import { apply } from "../../Sources/Web/client/delta.js";
import { framed } from "../../Sources/Web/client/frames.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { encodeDown } from "../../Sources/Web/client/messages.js";
import { readItems } from "../../Sources/Web/client/codec.js";
import { Session } from "../../Sources/Web/client/session.js";
import { Random } from "./random.mjs";

const count = 100_000;
const random = new Random(1);
const bytes = 40 - 8 - 1 - 1 - 1;
const items = Array.from({ length: count }, (_, i) => encoded(random.bytes(8), 3, {
  text: bytesOf(`item ${i}`.padEnd(bytes, "x")), done: false, level: 0,
}));
const snapshot = Buffer.concat(items.map(item => item.whole));

function report(name, times, body) {
  const durations = [];
  for (let i = 0; i < times; i++) {
    const input = body.prepare?.(i);
    const start = performance.now();
    body.run(input, i);
    durations.push(performance.now() - start);
  }
  durations.sort((a, b) => a - b);
  const at = part => durations[Math.min(times - 1, Math.floor(part * times))].toFixed(2);
  console.log(`${name}: median ${at(0.5)} ms, best ${at(0)} ms, 95 of 100 below ${at(0.95)} ms`);
}

console.log(`node ${process.version}, ${count} items of ${snapshot.length / count} bytes`);

const read = () => readItems(new Reader(new Uint8Array(snapshot)), count);

report("digest of all items", 7, { prepare: () => List.of(read()), run: list => list.digest });
report("reading all items", 7, { run: read });

const log = "0000000100000001";
const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };
const digest = List.of(items).digest;

/** The frames with which a server answers a subscription, in pieces as a socket delivers them. */
function opening() {
  const frames = [
    { type: "welcome", version: 5, capabilities: 0, author: 1, idleDeadline: 45000, frameBytes: 8388608, program: "" },
    { type: "subscribed", request: 1, list: 1, logID: log, rules, lastSequence: 0, isLastRefused: false, start: {
      snapshot: { revision: 1, count, digest },
    } },
  ];
  for (let at = 0; at < count; at += 1600) {
    frames.push({ type: "chunk", request: 1, items: items.slice(at, at + 1600) });
  }
  const all = Buffer.concat(frames.map(frame => framed(encodeDown(frame))));
  const pieces = [];
  for (let at = 0; at < all.length; at += 65536) pieces.push(new Uint8Array(all.subarray(at, at + 65536)));
  return pieces;
}

function session() {
  const client = new Session({ client: "0".repeat(32), person: "", program: "" });
  const list = client.follow("list");
  client.connected(0);
  return { client, list };
}

function opened() {
  const { client, list } = session();
  for (const piece of opening()) client.received(piece, 1, 0);
  return { client, list };
}

report("opening a snapshot, from bytes to the view", 7, {
  prepare: () => ({ ...session(), pieces: opening() }),
  run: ({ client, pieces }) => pieces.forEach(piece => client.received(piece, 1, 0)),
});

/** Commits of somebody else, each a new text or an insertion somewhere, as frames. */
function commits(list, number) {
  const frames = [];
  for (let revision = 2; revision < 2 + number; revision++) {
    const at = random.below(list.count);
    const keep = at > 0 ? [{ op: "keep", count: at }] : [];
    const delta = random.is(0.5)
      ? [...keep, { op: "edit", change: { done: random.is(0.5), level: revision % 3 } }]
      : [...keep, { op: "insert", items: [random.item([3])], side: "after" }];
    list = apply(list, delta);
    const commit = {
      revision, author: 2, sequence: revision, base: revision - 1, time: 0, count: list.count, digest: list.digest,
      delta,
    };
    frames.push(framed(encodeDown({ type: "commit", list: 1, commit })));
  }
  return frames;
}

{
  const { client, list } = opened();
  const frames = commits(client.replica(list).confirmed, 2000);
  report("applying a remote commit", frames.length, { run: (_, i) => client.received(frames[i], 2, 0) });
}

report("a local edit while 100 remote edits come", 10, {
  prepare: () => {
    const { client, list } = opened();
    return { client, list, frames: commits(client.replica(list).confirmed, 100) };
  },
  run: ({ client, list, frames }) => {
    const delta = [{ op: "keep", count: 50_000 }, { op: "insert", items: [random.item([3])], side: "after" }];
    client.act(list, replica => replica.edit(delta), 2);
    for (const frame of frames) client.received(frame, 2, 0);
  },
});

{
  const { client, list } = opened();
  report("a local edit behind up to 50 that wait", 50, {
    prepare: () => [
      { op: "keep", count: random.below(count) }, { op: "insert", items: [random.item([3])], side: "after" },
    ],
    run: delta => client.act(list, replica => replica.edit(delta), 2),
  });
}

const folder = new URL("../../Sources/Web/", import.meta.url);
const names = ["client", "view"].flatMap(
  part => readdirSync(new URL(part, folder)).filter(name => name.endsWith(".js")).map(name => `${part}/${name}`),
);
const sources = names.map(name => readFileSync(new URL(name, folder)));
const all = Buffer.concat(sources);
const code = Buffer.from(all.toString().replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "").replaceAll(
  /\n\s*\n+/g,
  "\n",
));
const size = buffer =>
  `${(buffer.length / 1024).toFixed(1)} KiB, gzip ${(gzipSync(buffer, { level: 9 }).length / 1024).toFixed(1)} KiB`;
console.log(`${sources.length} modules: ${size(all)}; without comments: ${size(code)}`);
