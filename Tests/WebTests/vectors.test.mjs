// Every vector of the algebra, the bytes and the frames.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Reader, Writer } from "../../Sources/Web/client/bytes.js";
import { readCommit, readDelta, readRules, writeCommit, writeDelta, writeRules } from "../../Sources/Web/client/codec.js";
import { compose } from "../../Sources/Web/client/compose.js";
import { apply, invert, mapGap, mapIndex } from "../../Sources/Web/client/delta.js";
import { diff } from "../../Sources/Web/client/diff.js";
import { digestText } from "../../Sources/Web/client/digest.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { readItem } from "../../Sources/Web/client/item.js";
import { decodeDown, decodeUp, encodeDown, encodeUp } from "../../Sources/Web/client/messages.js";
import { superseded } from "../../Sources/Web/client/superseded.js";
import { transform } from "../../Sources/Web/client/transform.js";
import * as json from "./json.mjs";
import { lostTo } from "./told.mjs";

const codecs = {
  item: [json.itemFrom, json.itemTo, (writer, item) => writer.raw(item.whole), readItem],
  delta: [json.deltaFrom, json.deltaTo, writeDelta, readDelta],
  commit: [json.commitFrom, json.commitTo, writeCommit, readCommit],
  rules: [json.rulesFrom, json.rulesTo, writeRules, readRules],
};

const answers = {
  codec(question, expected) {
    if (question.type === "frame") return frame(question, expected);
    if (question.type) {
      const reader = new Reader(bytesFrom(question.hex));
      const value = codecs[question.type][3](reader);
      reader.finish();
      const refused = expected[question.type]?.refused;
      return { [question.type]: codecs[question.type][1](value, refused?.message) };
    }
    const type = Object.keys(codecs).find(name => question[name]);
    const writer = new Writer();
    codecs[type][2](writer, codecs[type][0](question[type]));
    return { hex: Buffer.from(writer.written).toString("hex") };
  },
  apply({ list, delta }) {
    const result = apply(json.listFrom(list), json.deltaFrom(delta));
    return { result: json.listTo(result), digest: result.digest };
  },
  transform({ list: before, first: a, second: b }) {
    const [list, first, second] = [json.listFrom(before), json.deltaFrom(a), json.deltaFrom(b)];
    const [newFirst, newSecond] = [transform(first, second, false), transform(second, first, true)];
    return {
      first: json.deltaTo(newFirst),
      second: json.deltaTo(newSecond),
      afterFirst: json.listTo(apply(apply(list, first), newSecond)),
      afterSecond: json.listTo(apply(apply(list, second), newFirst)),
      superseded: superseded(list, first, second).map(lostTo),
    };
  },
  compose({ list: before, first: a, second: b }) {
    const [list, first, second] = [json.listFrom(before), json.deltaFrom(a), json.deltaFrom(b)];
    apply(apply(list, first), second);
    const delta = compose(first, second);
    return { delta: json.deltaTo(delta), result: json.listTo(apply(list, delta)) };
  },
  invert({ list: before, delta: a }) {
    const [list, delta] = [json.listFrom(before), json.deltaFrom(a)];
    const inverse = invert(list, delta);
    return { inverse: json.deltaTo(inverse), result: json.listTo(apply(apply(list, delta), inverse)) };
  },
  diff({ from, to }) {
    return { delta: json.deltaTo(diff(json.listFrom(from), json.listFrom(to))) };
  },
  digest({ list }) {
    const items = json.listFrom(list);
    return { digest: items.digest, hashes: [...items].map(item => digestText(item.hash)) };
  },
  map({ delta, index, gap, side }) {
    const place = index ?? gap;
    if (!Number.isInteger(place) || place < 0) throw new Error("place");
    if (index !== undefined) return { index: mapIndex(json.deltaFrom(delta), index) ?? null };
    if (side !== "after" && side !== "before") throw new Error("side");
    return { gap: mapGap(json.deltaFrom(delta), gap, side) };
  },
};

function frame({ direction, hex }, expected) {
  const bodies = [];
  const bytes = bytesFrom(hex);
  new FrameReader().read(bytes, body => bodies.push(body));
  assert.equal(bodies.length, 1, "one whole frame");
  const message = (direction === "up" ? decodeUp : decodeDown)(bodies[0]);
  const encoded = framed((direction === "up" ? encodeUp : encodeDown)(message));
  assert.deepEqual(encoded, bytes, "it is written as it was read");
  return { message: message.type, fields: json.fieldsTo(message, expected.fields) };
}

function bytesFrom(hex) {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new Error("hex");
  return new Uint8Array(Buffer.from(hex, "hex"));
}

const files = ["frames", "codec", "apply", "transform", "compose", "invert", "diff", "digest", "map", "merging"];
for (const file of files) {
  const lines = readFileSync(new URL(`../Data/Vectors/${file}.jsonl`, import.meta.url), "utf8").trim().split("\n");
  test(`${file}: ${lines.length} vectors`, async t => {
    for (const [i, line] of lines.entries()) {
      const vector = JSON.parse(line);
      await t.test(vector.name ?? `line ${i + 1}`, () => check(vector));
    }
  });
}

function check(vector) {
  const { law, expect: expected, ...question } = vector;
  if (expected.error !== undefined) return assert.throws(() => answers[law](question, expected));
  const answer = { law, ...answers[law](question, expected) };
  if (law === "diff") {
    const result = apply(json.listFrom(vector.from), json.deltaFrom(answer.delta));
    return assert.deepEqual(json.listTo(result), vector.to);
  }
  if (law === "compose") return assert.deepEqual(answer.result, expected.result);
  assert.deepEqual(answer, expected);
}
