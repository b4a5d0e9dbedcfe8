// The laws of the algebra on random lists. A list of blocks is compared with an array, the digest with BigInts. They
// hold in browsers, too.

import { compose } from "../../Sources/Web/client/compose.js";
import { normalForm } from "../../Sources/Web/client/components.js";
import { apply, invert, mapIndexes } from "../../Sources/Web/client/delta.js";
import { diff } from "../../Sources/Web/client/diff.js";
import { List } from "../../Sources/Web/client/list.js";
import { transform } from "../../Sources/Web/client/transform.js";
import { Chain } from "../../Sources/Web/client/undo.js";
import { diffTexts, wordsOf } from "../../Sources/Web/client/words.js";
import { applySplices } from "../../Sources/Web/client/splices.js";
import { Reader, bytesOf, textOf } from "../../Sources/Web/client/bytes.js";
import { bytesOfDelta, readDelta } from "../../Sources/Web/client/codec.js";
import { mapGap } from "./gaps.mjs";
import * as json from "./json.mjs";
import { applyNaively } from "./naive.mjs";
import { Random } from "./random.mjs";
import { isTrue, same } from "./same.mjs";

/** Each law: its name, how often it is tried, and `check`, which tries it so often with other seeds. */
export const laws = [];

function law(name, count, body) {
  const check = (seed, times) => {
    for (let i = 0; i < count * times; i++) {
      try {
        body(new Random(seed + i));
      } catch (error) {
        throw new Error(`HAND_SEED=${seed + i}: ${error.message} ${error.stack}`);
      }
    }
  };
  laws.push({ name, count, check });
}

const sameItems = (a, b) => same(json.listTo(a), json.listTo(b));
const isNormal = delta => same(bytesOfDelta(normalForm(delta)), bytesOfDelta(delta));

law("both orders lead to the merge", 1000, random => {
  const list = random.list();
  const [a, b] = [random.delta(list), random.delta(list)];
  const [restOfA, restOfB] = [transform(a, b, false), transform(b, a, true)];
  sameItems(apply(apply(list, a), restOfB), apply(apply(list, b), restOfA));
  isNormal(restOfA);
  isNormal(restOfB);
});

law("compose does both", 1000, random => {
  const list = random.list();
  const first = random.delta(list);
  const between = apply(list, first);
  const second = random.delta(between);
  const both = compose(first, second);
  sameItems(apply(list, both), apply(between, second));
  isNormal(both);
});

law("a chain does all that was added", 20, random => {
  const list = List.of(random.items(random.pick([8, 600])));
  let now = list;
  let chain = Chain.empty;
  for (let left = random.below(20); left > 0; left--) {
    const delta = random.delta(now, 0.2);
    now = apply(now, delta);
    chain = chain.with(delta);
    sameItems(apply(list, chain.delta), now);
    isNormal(chain.delta);
  }
});

law("the inverse takes back", 1000, random => {
  const list = random.list();
  const delta = random.delta(list);
  const inverse = invert(list, delta);
  sameItems(apply(apply(list, delta), inverse), list);
  isNormal(inverse);
});

law("a difference leads from one list to the other", 500, random => {
  const from = random.list();
  const edited = apply(from, random.delta(from));
  const to = List.of([...edited].sort(() => (random.is(0.1) ? 1 : 0)));
  sameItems(apply(from, diff(from, to)), to);
});

law("texts are cut at words, and their difference leads from one to the other", 1000, random => {
  const [from, to] = [random.text(8), random.text(8)];
  same(wordsOf(from).join(""), from);
  same(textOf(applySplices(bytesOf(from), diffTexts(bytesOf(from), bytesOf(to)))), to);
});

law("places are carried with their items", 1000, random => {
  const list = random.list();
  const delta = random.delta(list);
  const after = apply(list, delta);
  for (const [index, item] of [...list].entries()) {
    const now = mapIndexes(delta, [index])[0];
    if (now === undefined) same(after.indexOf(item.id), -1);
    else same(after.at(now).id, item.id);
  }
  for (let gap = 0; gap <= list.count; gap++) {
    const [left, right] = [mapGap(delta, gap, "after"), mapGap(delta, gap, "before")];
    isTrue(left >= 0 && left <= right && right <= after.count);
    if (gap > 0) isTrue(mapGap(delta, gap - 1, "before") <= left);
  }
});

law("what is encoded is decoded", 500, random => {
  const list = random.list();
  const delta = random.delta(list);
  const bytes = bytesOfDelta(delta);
  const reader = new Reader(bytes);
  same(json.deltaTo(readDelta(reader)), json.deltaTo(delta));
  reader.finish();
});

law("a long list is what an array is, and so is its digest", 20, random => {
  let list = List.of(random.items(3000, [2, 3]));
  let items = [...list];
  for (let i = 0; i < 20; i++) {
    const delta = random.delta(list, random.pick([0.001, 0.01, 0.3]), [2, 3]);
    [list, items] = [apply(list, delta), applyNaively(items, delta)];
    same(list.count, items.length);
    same(list.digest, List.of(items).digest);
    for (let j = 0; j < 10 && items.length > 0; j++) {
      const index = random.below(items.length);
      isTrue(list.at(index).isSame(items[index]));
      same(list.indexOf(items[index].id), index);
    }
    const from = random.below(items.length + 1);
    sameItems(list.slice(from, from + 700), items.slice(from, from + 700));
  }
});

law("blocks stay between few and many items", 5, random => {
  let list = List.of(random.items(4000, [2]));
  for (let i = 0; i < 300; i++) list = apply(list, random.delta(list, 0.0005, [2]));
  for (const [i, block] of list.blocks.entries()) {
    isTrue(block.count <= 128, `block ${i} has ${block.count} items`);
    isTrue(block.count >= 16 || i >= list.blocks.length - 2, `block ${i} has ${block.count} items`);
  }
});

law("the digest of a list is that of the page", 20, random => {
  const list = random.list(random.pick([20, 2000]));
  same(list.digest, digestNaively([...list]));
});

law("shown levels and sub-items are those of the page", 50, random => {
  const list = List.of(random.items(1500, [2]));
  const shown = [];
  for (const item of list) shown.push(shown.length === 0 ? 0 : Math.min(item.level, shown.at(-1) + 1));
  for (let i = 0; i < 20 && shown.length > 0; i++) {
    const index = random.below(shown.length);
    same(list.shownLevel(index), shown[index]);
    const end = shown.findIndex((level, place) => place > index && level <= shown[index]);
    same(list.subItems(index), (end < 0 ? shown.length : end) - index - 1);
  }
});

law("levels 0, 5, 5, 1 are shown as 0, 1, 2, 1", 1, random => {
  const list = List.of([0, 5, 5, 1].map(level => random.item([2])).map((item, i) => item.with({
    ...item.fields(), level: [0, 5, 5, 1][i],
  })));
  same([0, 1, 2, 3].map(index => list.shownLevel(index)), [0, 1, 2, 1]);
  same([0, 1, 2, 3].map(index => list.subItems(index)), [3, 1, 0, 0]);
});

function digestNaively(items) {
  const prime = (1n << 61n) - 1n;
  let digest = 0n;
  for (const item of items) {
    let h = 0xcbf29ce484222325n;
    for (const byte of item.whole) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
    for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) {
      h = ((h ^ (h >> 33n)) * factor) & 0xffffffffffffffffn;
    }
    h ^= h >> 33n;
    digest = (digest * 0x0e3b7c9d5f17a36bn + (h % prime)) % prime;
  }
  return digest.toString(16).padStart(16, "0");
}

law("words are those of the page", 1, () => {
  const cut = text => wordsOf(text).join("|");
  same(cut("12 eggs, 10:30 ada@example.org"), "12| |eggs|,| |10:30| |ada@example.org");
  same(cut("a::b a: b -c"), "a|:|:|b| |a|:| |b| |-|c");
  same(cut("日本 カナ x日y"), "日|本| |カ|ナ| |x|日|y");
  same(cut("naïve ½ ٣"), "naïve| |½| |٣");
  const change = (from, to) => diffTexts(bytesOf(from), bytesOf(to))
    .map(({ at, removed, inserted }) => [at, textOf(removed), textOf(inserted)]);
  same(change("12 eggs", "13 eggs"), [[0, "12", "13"]]);
  same(change("milk", "oat milk"), [[0, "", "oat "]]);
  same(change("oat milk", "oat soy milk"), [[3, "", " soy"]]);
  same(change("a b c", "a c"), [[1, " b", ""]]);
  same(change("crème fraîche", "crème brûlée"), [[7, "fraîche", "brûlée"]]);
});
