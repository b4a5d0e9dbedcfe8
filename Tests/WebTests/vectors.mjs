// How the client answers the vectors of the algebra, the bytes, the frames and the machine. It runs in browsers, too.

import { Reader, Writer } from "../../Sources/Web/client/bytes.js";
import {
  readCommit, readDelta, readRules, writeCommit, writeDelta, writeRules,
} from "../../Sources/Web/client/codec.js";
import { compose } from "../../Sources/Web/client/compose.js";
import { apply, invert, mapIndexes } from "../../Sources/Web/client/delta.js";
import { diff } from "../../Sources/Web/client/diff.js";
import { digestText } from "../../Sources/Web/client/digest.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { readItem } from "../../Sources/Web/client/item.js";
import { decodeDown, decodeUp, encodeDown, encodeUp } from "../../Sources/Web/client/messages.js";
import { superseded } from "../../Sources/Web/client/superseded.js";
import { transform } from "../../Sources/Web/client/transform.js";
import { mapGap } from "./gaps.mjs";
import * as json from "./json.mjs";
import { Machine } from "./machine.mjs";
import { fails, isTrue, same } from "./same.mjs";
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
      const reader = new Reader(json.bytesOfHex(question.hex));
      const value = codecs[question.type][3](reader);
      reader.finish();
      const refused = expected[question.type]?.refused;
      return { [question.type]: codecs[question.type][1](value, refused?.message) };
    }
    const type = Object.keys(codecs).find(name => question[name]);
    const writer = new Writer();
    codecs[type][2](writer, codecs[type][0](question[type]));
    return { hex: json.hexOf(writer.written) };
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
    if (index !== undefined) return { index: mapIndexes(json.deltaFrom(delta), [index])[0] ?? null };
    if (side !== "after" && side !== "before") throw new Error("side");
    return { gap: mapGap(json.deltaFrom(delta), gap, side) };
  },
  machine({ steps }) {
    const machine = new Machine();
    return { steps: steps.map(step => machine.step(step)) };
  },
};

function frame({ direction, hex }, expected) {
  const bodies = [];
  const bytes = json.bytesOfHex(hex);
  new FrameReader().read(bytes, body => bodies.push(body));
  isTrue(bodies.length === 1, "one whole frame");
  const message = (direction === "up" ? decodeUp : decodeDown)(bodies[0]);
  const encoded = framed((direction === "up" ? encodeUp : encodeDown)(message));
  same(encoded, bytes, "as it is written");
  return { message: message.type, fields: json.fieldsTo(message, expected.fields) };
}

/** The files of vectors. */
export const files = [
  "frames", "codec", "apply", "transform", "compose", "invert", "diff", "digest", "map", "merging", "machine",
];

/** Checks the vectors of a file, and gives how many there are, and what is wrong, by name. */
export function checkFile(text) {
  const vectors = text.trim().split("\n").map(line => JSON.parse(line));
  const faults = vectors.flatMap(vector => {
    try {
      check(vector);
      return [];
    } catch (error) {
      return [`${vector.name ?? JSON.stringify(vector)}: ${error.message}`];
    }
  });
  return { count: vectors.length, faults };
}

function check(vector) {
  const { law, expect: expected, name, ...question } = vector;
  if (expected.error !== undefined) return fails(() => answers[law](question, expected));
  const answer = { law, ...answers[law](question, expected) };
  if (law === "diff") {
    const result = apply(json.listFrom(vector.from), json.deltaFrom(answer.delta));
    return same(json.listTo(result), vector.to);
  }
  if (law === "compose") return same(answer.result, expected.result);
  same(answer, expected);
}
