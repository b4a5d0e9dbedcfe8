// Bytes that nobody would send: whole frames arrive in pieces, end anywhere, or have other bits. A reader says so with
// one kind of error, soon, and without much memory.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Malformed, Reader, isUtf8 } from "../../Sources/Web/client/bytes.js";
import { FrameReader, LONGEST_BODY, framed } from "../../Sources/Web/client/frames.js";
import { decodeDown, decodeUp, encodeDown, encodeUp } from "../../Sources/Web/client/messages.js";
import { Random, seed, times } from "./random.mjs";
import { Session } from "../../Sources/Web/client/session.js";

const frames = readFileSync(new URL("../Data/Vectors/frames.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map(line => JSON.parse(line))
  .map(({ direction, hex }) => ({ direction, bytes: new Uint8Array(Buffer.from(hex, "hex")) }));
const all = Buffer.concat(frames.map(({ bytes }) => bytes));

const decode = direction => (direction === "up" ? decodeUp : decodeDown);
const encode = direction => (direction === "up" ? encodeUp : encodeDown);
const bodyOf = bytes => {
  const bodies = [];
  new FrameReader().read(bytes, body => bodies.push(body));
  return bodies[0];
};

/** What is read is written as it was; otherwise it is malformed, and nothing else. */
function readsOrRefuses(direction, body) {
  let message;
  try {
    message = decode(direction)(body);
  } catch (error) {
    assert.ok(error instanceof Malformed, `${Buffer.from(body).toString("hex")}: ${error.stack}`);
    return false;
  }
  assert.deepEqual(encode(direction)(message), new Uint8Array(body));
  return true;
}

test("pieces of any size give the same frames", () => {
  for (const size of [1, 2, 3, 7, 100, all.length]) {
    const reader = new FrameReader();
    const bodies = [];
    for (let at = 0; at < all.length; at += size) {
      reader.read(new Uint8Array(all.subarray(at, at + size)), body => bodies.push(body));
    }
    assert.equal(bodies.length, frames.length);
    for (const [i, body] of bodies.entries()) assert.deepEqual(framed(body), frames[i].bytes);
  }
});

test("no message ends early, and none goes on", () => {
  for (const { direction, bytes } of frames) {
    const body = bodyOf(bytes);
    for (let end = 0; end < body.length; end++) assert.equal(readsOrRefuses(direction, body.subarray(0, end)), false);
    assert.equal(readsOrRefuses(direction, Uint8Array.of(...body, 0)), false);
    assert.ok(readsOrRefuses(direction, body));
  }
});

test("each bit may be another", () => {
  for (const { direction, bytes } of frames) {
    const body = bodyOf(bytes);
    for (let bit = 0; bit < body.length * 8; bit++) {
      const other = body.slice();
      other[bit >> 3] ^= 1 << (bit & 7);
      readsOrRefuses(direction, other);
    }
  }
});

test(`bytes at random from seed ${seed}`, () => {
  const random = new Random(seed);
  for (let i = 0; i < 3000 * times; i++) {
    const { direction, bytes } = random.pick(frames);
    const body = bodyOf(bytes).slice();
    for (let left = random.below(6); left >= 0; left--) {
      body[random.below(body.length)] = random.pick([0, 1, 127, 128, 255, random.below(256)]);
    }
    readsOrRefuses(direction, body);
    readsOrRefuses(direction, random.bytes(random.below(40)));
  }
});

test("a length over the limit is refused before anything is kept", () => {
  const over = [...varint(LONGEST_BODY + 1)];
  assert.throws(() => new FrameReader().read(Uint8Array.from(over), () => {}), Malformed);
  for (const length of [[0], [0x80, 0], [0xff, 0xff, 0xff, 0xff, 0xff], [0x81, 0x80, 0x00]]) {
    assert.throws(() => new FrameReader().read(Uint8Array.from(length), () => {}), Malformed, String(length));
  }
  const reader = new FrameReader();
  reader.accept(LONGEST_BODY + 1);
  reader.read(Uint8Array.from(over), () => {});
});

test("what is announced takes no memory until it arrives", () => {
  const before = process.memoryUsage().arrayBuffers;
  const readers = Array.from({ length: 100 }, () => new FrameReader());
  for (const reader of readers) reader.read(Uint8Array.from([...varint(LONGEST_BODY), 3]), () => {});
  assert.ok(process.memoryUsage().arrayBuffers - before < 1e6);
});

test("counts that no bytes follow are refused at once", () => {
  const greatest = varint(0x7fffffff);
  const started = Date.now();
  assert.throws(() => decodeDown(Uint8Array.from([3, 1, ...greatest])), Malformed);
  assert.throws(() => decodeDown(Uint8Array.from([8, 1, ...greatest])), Malformed);
  assert.throws(() => decodeDown(Uint8Array.from([12, 1, ...greatest])), Malformed);
  // A delta of few bytes may be about all items: that takes neither time nor memory.
  const pick = varint(0x7fffffff * 8 + 3);
  const drop = varint(0x7fffffff * 8 + 6);
  const submit = Uint8Array.from([4, 1, 1, 1, 0, 2, ...pick, ...drop, 0]);
  assert.equal(decodeUp(submit).delta.length, 2);
  assert.ok(Date.now() - started < 1000);
});

test("numbers have one form, and end at 2^53 - 1", () => {
  const read = (...bytes) => new Reader(Uint8Array.from(bytes)).varint();
  for (const value of [0, 1, 127, 128, 2 ** 31 - 1, 2 ** 32, 2 ** 53 - 1]) assert.equal(read(...varint(value)), value);
  for (const bytes of [[0x80, 0], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 16], Array(9).fill(0xff), [0x80]]) {
    assert.throws(() => read(...bytes), Malformed);
  }
});

test("a text is UTF-8 exactly where a strict decoder says so", () => {
  const strict = new TextDecoder("utf-8", { fatal: true });
  const random = new Random(seed);
  const edges = [
    0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3,
    0xf4, 0xf5, 0xff,
  ];
  for (let i = 0; i < 50_000 * times; i++) {
    const bytes = Uint8Array.from({ length: 1 + random.below(5) }, () => random.pick(edges));
    let expected = true;
    try {
      strict.decode(bytes);
    } catch {
      expected = false;
    }
    assert.equal(isUtf8(bytes, 0, bytes.length), expected, Buffer.from(bytes).toString("hex"));
  }
});

test(`a session survives everything from seed ${seed}`, () => {
  const random = new Random(seed);
  for (let i = 0; i < 300 * times; i++) {
    const session = new Session({ client: "0".repeat(32), person: "", program: "" });
    session.follow("list");
    let now = 0;
    for (let left = 20; left > 0; left--) {
      now = Math.max(now + 1, session.deadline === Infinity ? 0 : session.deadline);
      session.tick(now, random.next());
      session.connected(now);
      session.received(frames.find(({ direction }) => direction === "down").bytes, now, random.next());
      const { bytes } = random.pick(frames);
      const other = bytes.slice();
      if (random.is(0.7)) other[random.below(other.length)] ^= 1 << random.below(8);
      session.received(other, now, random.next());
    }
  }
});

function* varint(value) {
  while (value > 127) {
    yield (value % 128) + 128;
    value = Math.floor(value / 128);
  }
  yield value;
}
