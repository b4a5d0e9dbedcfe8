// The pure parts of the page's view: rows, edits, texts that are typed while others change them, routes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, textOf } from "../../Sources/Web/client/bytes.js";
import { apply, mapIndexes } from "../../Sources/Web/client/delta.js";
import { CARD, HEADING, LINK, NOTE, TASK, encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { applySplices } from "../../Sources/Web/client/splices.js";
import { diffTexts } from "../../Sources/Web/client/words.js";
import {
  copyOf, kindBeside, markdownOf, newItem, safeAddress, written, writtenLines,
} from "../../Sources/Web/view/content.js";
import { Draft } from "../../Sources/Web/view/draft.js";
import { Identity } from "../../Sources/Web/view/identity.js";
import {
  branchesOf, changing, inserting, moving, originOf, removing, runsOf, sortedBy, touchedBy,
} from "../../Sources/Web/view/edits.js";
import { deleting } from "./deleting.mjs";
import { fragmentOf, linkOf, routeOf } from "../../Sources/Web/view/route.js";
import { rowsOf } from "../../Sources/Web/view/rows.js";
import { actionsOf, errorText, sentenceOf } from "../../Sources/Web/view/sentences.js";
import { Random, seed, times } from "./random.mjs";

const random = new Random(seed);
console.log(`seed ${seed}`);
const item = (text, level = 0, done = false) => encoded(random.bytes(8), TASK, { text: bytesOf(text), done, level });
const textsOf = list => [...list].map(({ text }) => text).join(" ");
const named = rows => [...rows].map(({ text }) => text).join(" ");
const levelsOf = ({ parts }) => parts.flatMap(({ levels }) => levels);
const parentsOf = ({ parts }) => parts.flatMap(({ parents }) => parents);

// Edits

test("moving runs is taking them out and putting them in", () => {
  for (let round = 0; round < 500 * times; round++) {
    const list = List.of(Array.from({ length: 1 + random.below(12) }, (_, i) => item(String(i))));
    const indexes = Array.from({ length: list.count }, (_, i) => i).filter(() => random.is(0.4));
    const gap = random.below(list.count + 1);
    const chosen = new Set(indexes);
    const all = [...list];
    const expected = [
      ...all.slice(0, gap).filter((_, i) => !chosen.has(i)),
      ...indexes.map(i => all[i]),
      ...all.slice(gap).filter((_, i) => !chosen.has(gap + i)),
    ];
    assert.equal(textsOf(apply(list, moving(runsOf(indexes), gap, "after"))), textsOf(expected));
  }
});

test("where an item was is where it came from", () => {
  for (let round = 0; round < 500 * times; round++) {
    const list = random.list(10);
    const delta = random.delta(list);
    const now = apply(list, delta);
    const origins = new Map();
    for (let old = 0; old < list.count; old++) origins.set(mapIndexes(delta, [old])[0], old);
    for (let index = 0; index < now.count; index++) {
      const { old, does } = originOf(delta, index);
      assert.equal(old, origins.get(index));
      assert.equal(does === "inserted", old === undefined);
      if (does === undefined) assert.ok(now.at(index).isSame(list.at(old)));
      if (old !== undefined && !now.at(index).isSame(list.at(old))) assert.ok(does === "edited" || does === "moved");
    }
  }
});

test("runs are neighbours, and branches have all beneath them", () => {
  assert.deepEqual(runsOf([5, 1, 2, 2, 4]), [[1, 3], [4, 6]]);
  const list = List.of([item("a"), item("b", 1), item("c", 2), item("d", 1), item("e")]);
  assert.deepEqual(branchesOf(list, [[1, 2]]), [[1, 3]]);
  assert.deepEqual(branchesOf(list, [[0, 1]]), [[0, 4]]);
  assert.deepEqual(branchesOf(list, [[0, 1], [4, 5]]), [[0, 5]]);
  assert.equal(textsOf(apply(list, deleting([[1, 3]]))), "a d e");
  assert.equal(textsOf(apply(list, inserting([item("x")], 1, "after"))), "a x b c d e");
  const ticked = apply(list, changing(list, [[1, 2], [4, 5]], () => ({ done: true })));
  assert.deepEqual([...ticked].map(one => one.fields().done), [false, true, false, false, true]);
});

test("branches have all beneath each of their items", () => {
  for (let round = 0; round < 500 * times; round++) {
    const list = List.of(Array.from({ length: 1 + random.below(9) }, (_, i) => item(String(i), random.below(4))));
    const indexes = [...list].map((_, i) => i).filter(() => random.is(0.4));
    const all = indexes.flatMap(i => Array.from({ length: 1 + list.subItems(i) }, (_, below) => i + below));
    assert.deepEqual(branchesOf(list, runsOf(indexes)), runsOf(all));
  }
});

test("a copy is the item with another id", () => {
  const id = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const text = bytesOf("a\0b");
  const items = [
    encoded(id, CARD, { card: 17, level: 3 }), encoded(id, TASK, { text, done: true, level: 1 }),
    encoded(id, LINK, { text, url: bytesOf("https://a.example"), level: 0 }), encoded(id, NOTE, { text, level: 15 }),
    encoded(id, 900, { bytes: Uint8Array.of(1, 2, 255), level: 2 }),
  ];
  for (const original of items) {
    const copy = copyOf(original, 5);
    assert.notEqual(copy.id, original.id);
    assert.deepEqual([copy.kind, copy.level, ...copy.content], [original.kind, 5, ...original.content]);
  }
});

test("where several items go is where each goes", () => {
  for (let round = 0; round < 500 * times; round++) {
    const list = random.list(12);
    const delta = random.delta(list);
    const indexes = [...list].map((_, i) => i).concat(list.count, list.count + 3).filter(() => random.is(0.7));
    assert.deepEqual(mapIndexes(delta, indexes), indexes.flatMap(i => mapIndexes(delta, [i])));
  }
});

test("what stays belongs to what is left above it, whatever is deleted", () => {
  for (let round = 0; round < 300 * times; round++) {
    const most = [2, 4, 16][round % 3];
    const list = List.of(Array.from({ length: random.below(30) }, (_, i) => item(`${i}`, random.below(most))));
    const shown = [...list].map((_, i) => list.shownLevel(i));
    const goes = shown.map(() => random.is(0.3));
    const above = (/** @type {number} */ i) =>
      [...shown.keys()].filter(up => up < i && shown.slice(up + 1, i + 1).every(level => level > shown[up]));
    const runs = shown.flatMap((_, i) => (goes[i] ? [/** @type {[number, number]} */ ([i, i + 1])] : []));
    const left = [...shown.keys()].filter(i => !goes[i]);
    for (const some of [runs, runsOf(runs.map(([i]) => i))]) {
      const after = apply(list, removing(list, some));
      assert.deepEqual([...after].map(({ id }) => id), left.map(i => list.at(i).id));
      const levels = left.map(i => above(i).filter(up => !goes[up]).length);
      assert.deepEqual(left.map((_, i) => after.shownLevel(i)), levels);
      for (const [at, i] of left.entries()) {
        if (!above(i).some(up => goes[up])) assert.ok(after.at(at).isSame(list.at(i)));
      }
    }
  }
});

test("what some edits have touched is what is left of it in the end", () => {
  const list = List.of(["a", "b", "c", "d"].map(text => item(text)));
  const steps = [
    view => changing(view, [[1, 2]], () => ({ done: true })), view => moving([[3, 4]], 0, "after"),
    view => inserting([item("e")], 2, "after"), view => deleting([[1, 2]]),
  ];
  let view = list;
  const deltas = steps.map(step => {
    const delta = step(view);
    view = apply(view, delta);
    return delta;
  });
  assert.equal(textsOf(view), "d e b c");
  const touched = touchedBy(deltas, view);
  assert.deepEqual([...view].filter(({ id }) => touched.has(id)).map(({ text }) => text), ["d", "e", "b"]);
});

test("what is unlike before is what has come or changed, also in a list that has arrived anew", () => {
  for (let round = 0; round < 200 * times; round++) {
    const list = List.of(Array.from({ length: random.below(300) }, (_, i) => item(String(i))));
    const anew = [...list].map(item => item.with(item.fields()));
    assert.deepEqual(List.of(anew).unlike(list), []);
    const delta = random.delta(list);
    const now = apply(list, delta);
    const expected = [...now].filter(item => ![...list].some(other => other.isSame(item))).map(({ id }) => id);
    for (const after of [now, List.of([...now].map(item => item.with(item.fields())))]) {
      assert.deepEqual(after.unlike(list).map(({ id }) => id), expected);
    }
  }
});

test("sorting keeps what is beneath, and the order of equals", () => {
  const list = List.of([item("b10"), item("x", 1), item("a"), item("b9", 0, true), item("A")]);
  assert.equal(textsOf(apply(list, sortedBy(list, "text"))), "a A b9 b10 x");
  assert.equal(textsOf(apply(list, sortedBy(list, "done"))), "b10 x a A b9");
  // The order of 'hand sort' (`SortingTests`).
  const texts = [
    "ß", "Zebra", "_x", "(y)", "10", "9", "1.5", "éa", "E\u0301b", "ea", "007", "7", "ss", "ς", "Σ", "😀", "\uffee",
  ];
  const mixed = List.of(texts.map(text => item(text)));
  assert.equal(textsOf(apply(mixed, sortedBy(mixed, "text"))),
    "(y) 1.5 007 7 9 10 _x éa ea E\u0301b ss Zebra ß ς Σ \uffee 😀");
  const sorted = apply(list, sortedBy(list, "text"));
  assert.equal(sortedBy(sorted, "text").length, 0);
  // Siblings are sorted at each level; a level that was hidden by what was above stays hidden.
  const deep = List.of([item("b", 5), item("y", 1), item("x", 4), item("z", 4), item("a")]);
  const after = apply(deep, sortedBy(deep, "text"));
  assert.equal(textsOf(after), "a b y x z");
  assert.deepEqual([...after].map((_, i) => after.shownLevel(i)), [0, 0, 1, 2, 3]);
});

// Rows

const look = (more = {}) => ({ folded: new Set(), ...more });

test("folded items hide what is beneath them", () => {
  const items = [item("a"), item("b", 1), item("c", 2), item("d", 1), item("e")];
  const list = List.of(items);
  assert.equal(named(rowsOf(list, look())), "a b c d e");
  const rows = rowsOf(list, look({ folded: new Set([items[1].id]) }));
  assert.equal(named(rows), "a b d e");
  assert.deepEqual(levelsOf(rows), [0, 1, 1, 0]);
  assert.deepEqual(parentsOf(rows), [true, true, false, false]);
  assert.equal(named(rowsOf(list, look({ folded: new Set([items[0].id, items[1].id]) }))), "a e");
});

test("a filter shows what is wanted, also beneath folded items", () => {
  const items = [item("a"), item("b", 1), item("ab")];
  const isWanted = ({ text }) => text.includes("b");
  assert.equal(named(rowsOf(List.of(items), look({ isWanted }))), "b ab");
});

test("ticked tasks are last among their siblings, a moment after the tick", () => {
  const items = [
    item("a", 0, true), item("a1", 1), item("b"), item("b1", 1, true), item("b2", 1), item("c", 0, true), item("d"),
  ];
  const list = List.of(items);
  assert.equal(named(rowsOf(list, look({ isTickedLast: true }))), "b b2 b1 d a a1 c");
  assert.equal(named(rowsOf(list, look({ isTickedLast: true, held: new Set([items[0].id]) }))), "a a1 b b2 b1 d c");
});

test("levels that nobody sees count as the deepest that one sees", () => {
  const rows = rowsOf(List.of([item("a", 3), item("b", 9), item("c", 1)]), look());
  assert.deepEqual(levelsOf(rows), [0, 1, 1]);
});

/** The rows as the comments say it, from the whole list. */
function rowsNaively(list, { folded, isWanted }) {
  const all = [...list].map(item => ({ item }));
  all.forEach((row, i) => (row.level = i === 0 ? 0 : Math.min(row.item.level, all[i - 1].level + 1)));
  all.forEach((row, i) => (row.isParent = all[i + 1]?.level > row.level));
  let hidden = Infinity;
  return all.filter(({ item, level }) => {
    if (level > hidden) return false;
    const isShown = isWanted?.(item) !== false;
    // What a filter hides does not hide anything else.
    hidden = isShown && folded.has(item.id) ? level : Infinity;
    return isShown;
  });
}

test("rows that follow edits are those of the list, and the same objects where nothing has changed", () => {
  for (let round = 0; round < 60 * times; round++) {
    let list = List.of(random.items(2000));
    const folded = new Set([...list].filter(() => random.is(0.3)).map(({ id }) => id));
    const isWanted = ({ id }) => id < "8";
    const one = [look(), look({ folded }), look({ isWanted }), look({ folded, isWanted })][round % 4];
    let before;
    for (let edit = 0; edit < 10; edit++) {
      const rows = rowsOf(list, one);
      const expected = rowsNaively(list, one);
      assert.deepEqual([...rows].map(({ id }) => id), expected.map(({ item }) => item.id));
      assert.deepEqual(levelsOf(rows), expected.map(({ level }) => level));
      assert.deepEqual(parentsOf(rows), expected.map(({ isParent }) => isParent));
      for (const [row, { item, isParent }] of expected.entries()) {
        if (row % 97 === 0) assert.deepEqual([rows.rowOf(item.id), rows.isParent(item.id)], [row, isParent]);
      }
      const old = new Map([...(before ?? [])].map(item => [item.id, item]));
      const isOld = item => old.get(item.id)?.isSame(item) === true;
      if (before) assert.deepEqual(rows.unlike(before), [...rows].filter(item => !isOld(item)));
      assert.ok(rowsOf(list, one).parts.every((part, i) => part === rows.parts[i]));
      before = rows;
      // What is above a block, and below it, is a part of what its rows are.
      const border = 128 * (1 + random.below(6)) - random.below(2);
      if (random.is(0.7) && border < list.count) list = apply(list, deleting([[border, border + 1]]));
      else list = apply(list, random.delta(list, random.pick([0.0005, 0.01])));
    }
  }
});

// What is written

test("a line becomes what its beginning says", () => {
  assert.deepEqual(written("milk", TASK), { kind: TASK, text: "milk" });
  assert.deepEqual(written("milk", NOTE), { kind: NOTE, text: "milk" });
  assert.deepEqual(written("[x] milk", NOTE), { kind: TASK, done: true, text: "milk" });
  assert.deepEqual(written("- [ ] milk", NOTE), { kind: TASK, done: false, text: "milk" });
  assert.deepEqual(written("## Shop", TASK), { kind: HEADING, text: "Shop" });
  assert.deepEqual(written("#milk", TASK), { kind: TASK, text: "#milk" });
  assert.deepEqual(written("https://a.example/b", TASK), {
    kind: LINK, text: "https://a.example/b", url: "https://a.example/b",
  });
  assert.deepEqual(written("see https://a.example", TASK).kind, TASK);
  // A list that takes only some kinds makes those of what one types.
  assert.deepEqual(written("milk", LINK), { kind: LINK, text: "milk", url: "milk" });
  assert.deepEqual(written("milk", HEADING), { kind: HEADING, text: "milk" });
  for (const line of ["# Shop", "https://a.example/b", "[a](https://a.example)"]) {
    assert.deepEqual(written(line, TASK, [TASK]), { kind: TASK, text: line });
  }
  assert.deepEqual(written("[x] milk", NOTE, [NOTE, HEADING]), { kind: NOTE, text: "[x] milk" });
  assert.deepEqual(writtenLines("- # a\n- [x] b", TASK, 2, [TASK]).map(({ kind, text }) => [kind, text]), [
    [TASK, "# a"], [TASK, "b"],
  ]);
  const kinds = [[TASK, NOTE], [NOTE], [HEADING, LINK], [LINK], [CARD]].map(kinds => kindBeside(undefined, { kinds }));
  assert.deepEqual(kinds, [TASK, NOTE, HEADING, LINK, TASK]);
  assert.equal(kindBeside(undefined, undefined), TASK);
  assert.equal(kindBeside({ kind: NOTE }, { kinds: [TASK, NOTE] }), NOTE);
});

test("pasted lines have levels, and lose their bullets", () => {
  const lines = writtenLines("- a\r\n  - [x] b\n\n\t* c\r      d", TASK, 2);
  assert.deepEqual(lines.map(({ text, level, done }) => [text, level, done]), [
    ["a", 0, undefined], ["b", 1, true], ["c", 1, undefined], ["d", 2, undefined],
  ]);
  const pasted = "- one\n    - two\n     • three\n         ◦ four\n    - five\n  - six\n- seven";
  const nested = writtenLines(pasted, TASK, 15);
  assert.equal(nested.map(({ text, level }) => ">".repeat(level ?? 0) + text).join(" "),
    "one >two >three >>four >five >six seven");
});

test("what is copied is read as it was", () => {
  const texts = ["a", "b\nc\n\nd", "[ ] e"];
  const items = [
    newItem({ kind: TASK, text: texts[0], done: true }, 1), newItem({ kind: TASK, text: texts[1] }, 2),
    newItem({ kind: TASK, text: texts[2] }, 1), newItem({ kind: LINK, text: "f (g)", url: "https://h.example/i" }, 1),
    newItem({ kind: HEADING, text: "# j" }, 1),
  ];
  const read = writtenLines(markdownOf(items), TASK, 15);
  assert.deepEqual(
    read.map(({ kind, text, level, done, url }) => [kind, text, level, done, url]),
    items.map(({ kind, text, level }, i) =>
      [kind, text, level - 1, kind === TASK ? i === 0 : undefined, kind === LINK ? "https://h.example/i" : undefined]),
  );
});

test("as many items are copied as a list has", () => {
  const items = Array.from({ length: 300_000 }, () => newItem({ kind: TASK, text: "a" }, 1));
  assert.equal(markdownOf(items).length, items.length * "- [ ] a\n".length - 1);
});

test("only addresses that cannot run are links", () => {
  for (const url of ["https://a.example", "http://a", "mailto:a@b.example"]) assert.equal(safeAddress(url), url);
  const others = ["javascript:alert(1)", "JaVaScRiPt:1", "data:text/html,x", " javascript:1", "file:///etc", "a", ""];
  for (const url of others) {
    assert.equal(safeAddress(url), undefined, url);
  }
});

test("a route is what its fragment says", () => {
  for (const list of ["groceries", "a & b+c=d#e", "日本", "100 %"]) {
    assert.deepEqual(routeOf(fragmentOf({ list })), { list, token: undefined, view: undefined });
    assert.equal(routeOf(fragmentOf({ list, view: "history" })).view, "history");
    assert.equal(routeOf(`${fragmentOf({ list })}&token=a-b`).token, "a-b");
  }
  assert.equal(routeOf("#").list, undefined);
  // Whoever copies a link may copy words behind it.
  for (const behind of [" ok", "\nok", "%20ok"]) assert.equal(routeOf(`#list=a&token=hand-x${behind}`).token, "hand-x");
});

// Drafts

/** Types into what the field shows: some characters are replaced by others, and the caret stands behind them. */
function typed(draft, from, to, text) {
  const { shown } = draft;
  draft.type(shown.slice(0, from) + text + shown.slice(to), from + text.length);
}

const strings = ["a", "b ", "milk ", "é", "👍", "\n", "\r\n", "\r", "日本", "\u202e", "\0", "👨‍👩‍👧"];
const someText = () => Array.from({ length: random.below(6) }, () => random.pick(strings)).join("");

/** A place between two characters of what the field shows. */
function place(shown) {
  const places = [0];
  for (const character of shown) places.push(places[places.length - 1] + character.length);
  return random.pick(places);
}

test("what nobody touches stays, byte for byte", () => {
  const text = "a\r\nb\rc\0d\u202ee👨‍👩‍👧f";
  const draft = new Draft(bytesOf(text));
  typed(draft, 4, 4, "x");
  assert.equal(draft.text, "a\r\nb\rxc\0d\u202ee👨‍👩‍👧f");
  assert.equal(draft.splices.length, 1);
  // The same letter beside itself: the one at the caret is new.
  const again = new Draft(bytesOf("aaa"));
  typed(again, 1, 1, "a");
  assert.equal(again.text, "aaaa");
  assert.equal(textOf(applySplices(bytesOf("aaa"), again.splices)), "aaaa");
});

test("a field follows others, and the draft becomes the text", () => {
  for (let round = 0; round < 2000 * times; round++) {
    let base = bytesOf(someText());
    const draft = new Draft(base);
    let field = draft.shown;
    for (let step = 0; step < 6; step++) {
      const what = random.below(4);
      if (what < 2) {
        const [from, to] = [place(field), place(field)].sort((a, b) => a - b);
        const text = random.is(0.3) ? "" : random.pick(strings).replace(/\r\n?/g, "\n");
        typed(draft, from, to, text);
        field = field.slice(0, from) + text + field.slice(to);
      } else {
        const replacements = what === 2 ? draft.follow((base = bytesOf(someText()))) : draft.undo();
        for (const { from, to, text } of replacements) field = field.slice(0, from) + text + field.slice(to);
      }
      assert.equal(field, draft.shown);
      assert.equal(textOf(applySplices(base, draft.splices)), draft.text);
    }
    // Without any of the person's words, the text is others' text.
    while (draft.undo().length > 0);
  }
});

test("undo takes one's own words back, and leaves those of others", () => {
  const draft = new Draft(bytesOf("milk"));
  typed(draft, 4, 4, " f");
  typed(draft, 6, 6, "a");
  typed(draft, 7, 7, "t");
  draft.follow(bytesOf("oat milk"));
  assert.equal(draft.text, "oat milk fat");
  draft.undo();
  assert.equal(draft.text, "oat milk");
  assert.equal(draft.isChanged, false);
  draft.redo();
  assert.equal(draft.text, "oat milk fat");
  assert.deepEqual(draft.undo().length > 0, true);
  assert.deepEqual(draft.undo(), []);
});

test("a draft goes on later, on the text that others have made meanwhile", () => {
  const draft = new Draft(bytesOf("milk"));
  typed(draft, 4, 4, " fat");
  const later = Draft.of(bytesOf("oat milk"), draft.kept);
  assert.equal(later.text, "oat milk fat");
  assert.equal(Draft.of(bytesOf("milk"), undefined).text, "milk");
  assert.deepEqual(diffTexts(bytesOf("oat milk"), bytesOf("oat milk fat")), later.splices);
});

test("a link is opened at its own server only", () => {
  const open = text => linkOf(text, "lists.example:7780");
  const route = { list: "a b", token: "hand-x", view: undefined };
  for (const start of ["https://lists.example:7780/", "HTTP://LISTS.example:7780/x", "lists.example:7780/", "/", ""]) {
    assert.deepEqual(open(`${start}#list=a%20b&token=hand-x`), route, start);
  }
  assert.match(open("https://lists.example/#list=a&token=hand-x"), /is for lists\.example:/);
  assert.match(open("https://evil.example:7780/#list=a&token=hand-x"), /is for evil\.example:7780:/);
  assert.match(open("hand://lists.example:7780/a#hand-x"), /begins with hand: is for a terminal/);
  for (const text of ["", "a", "https://lists.example:7780/", "#", "#token=x"]) {
    assert.equal(open(text), "That is no link to a list.", text);
  }
});

test("a draft knows when others change the words that it replaces, and only then", () => {
  const draft = Draft.of(bytesOf("the brown fox"));
  draft.type("the black fox", 9);
  draft.follow(bytesOf("the brown fox jumps"));
  assert.equal(draft.clash, undefined);
  draft.follow(bytesOf("the white fox jumps"));
  assert.equal(draft.clash, "white");
  assert.equal(draft.text, "the black fox jumps");
  draft.follow(bytesOf("the white fox jumps"));
  assert.equal(draft.clash, undefined, "it is told once");
  const removed = Draft.of(bytesOf("the brown fox"), ["the brown fox", "the black fox"]);
  removed.follow(bytesOf("the fox"));
  assert.ok(removed.clash !== undefined);
  const inserted = Draft.of(bytesOf("one two"));
  inserted.type("one and two", 8);
  inserted.follow(bytesOf("one or two"));
  assert.equal(inserted.clash, undefined, "nothing was replaced");
});

// Links

test("tabs of one device keep each other's links", () => {
  const stored = new Map();
  globalThis.localStorage = {
    getItem: key => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value),
  };
  const [one, two] = [new Identity(), new Identity()];
  one.addLink("a", "groceries");
  two.addLink("b", "trip");
  one.setPerson("Ada");
  one.renameList("groceries", "food");
  const tokens = lists => lists.map(list => new Identity().tokenFor(list));
  assert.deepEqual(tokens(["food", "trip"]), ["a", "b"]);
  one.learn("b", "tools");
  two.addLink("c", "trip");
  assert.equal(one.refuse("b"), true);
  assert.deepEqual(tokens(["food", "trip", "tools"]), ["a", "c", "b"]);
  assert.equal(new Identity().person, "Ada");
  // For other lists there is the token that allows most, not the newest; none of those that the server does not take.
  const onAll = role => ({ role, lists: [] });
  one.grant("a", onAll(3));
  two.addLink("e", "diary");
  assert.deepEqual(tokens(["diary", "other", undefined]), ["e", "a", "a"]);
  two.grant("e", onAll(4));
  two.addLink("a", "food");
  assert.deepEqual(tokens([undefined]), ["e"]);
  two.grant("e", onAll(-1));
  assert.deepEqual(tokens(["diary", undefined]), ["a", "a"]);
  assert.equal(two.refuse("e"), true);
  assert.deepEqual([tokens(["diary"]), two.linkOf("e")], [["a"], undefined]);
  // A link that allows less than another one lowers nobody, nor does any link lower what everybody may.
  two.grant("a", { role: 0, lists: [{ name: "food", role: 3 }] });
  two.addLink("f", "food");
  assert.deepEqual(tokens(["food"]), ["f"]);
  two.grant("f", { role: 0, lists: [{ name: "food", role: 1 }] });
  two.grant("", onAll(-1));
  assert.deepEqual(tokens(["food", "other"]), ["a", "f"]);
  two.grant("", onAll(2));
  assert.deepEqual(tokens(["food", "other", undefined]), ["a", "", ""]);
  two.renameList("food", "meals");
  assert.deepEqual(tokens(["food", "meals"]), ["", "a"]);
  // One that was given for a list tells why it cannot be read.
  two.grant("", onAll(0));
  two.grant("a", onAll(-1));
  two.grant("f", onAll(0));
  assert.deepEqual([two.refuse("a"), tokens(["meals"])], [true, ["f"]]);
  // The server takes 64 bytes of a name.
  one.setPerson("Ж".repeat(40));
  assert.equal(new Identity().person, "Ж".repeat(32));
  // Without a storage, each knows its own.
  globalThis.localStorage = { getItem: () => null, setItem: () => { throw new Error("full"); } };
  one.addLink("d", "food");
  assert.equal(one.tokenFor("food"), "d");
  delete globalThis.localStorage;
});

test("why there is no connection is said in words", () => {
  const reasons = [
    "no network", "unreachable", "silent", "lost", "taken", "replaced", "notAuthenticated", "versionNotSupported",
    "closedByOperator", "malformedMessage", "frameTooLarge", "outOfOrder", "wrongSequence", "baseInFuture",
  ];
  for (const reason of reasons) assert.ok(!errorText(reason).includes(`(${reason})`), reason);
});

test("what somebody has done to very many items is told at once", () => {
  const items = Array.from({ length: 50_000 }, (_, i) => item(`${i}`));
  const commit = { delta: [{ op: "insert", items, side: "after" }] };
  const start = performance.now();
  const words = sentenceOf(actionsOf({ commit, before: List.empty, after: List.of(items) }, "Bob"));
  assert.equal(words, "Bob changed 50,000 items");
  assert.ok(performance.now() - start < 5000, "nobody waits for it");
});

test("a text does not change the direction of the sentence that quotes it", () => {
  for (const mark of ["\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u2028"]) {
    const items = [item(`a${mark}b`)];
    const commit = { delta: [{ op: "insert", items, side: "after" }] };
    assert.equal(sentenceOf(actionsOf({ commit, before: List.empty, after: List.of(items) }, "Bob")), "Bob added ab");
  }
});

test("which of some items have a row, of few and of very many", () => {
  const items = Array.from({ length: 100_000 }, (_, i) => item(`${i}`));
  const ids = items.map(({ id }) => id);
  const rows = rowsOf(List.of(items.slice(10)), { folded: new Set() });
  assert.deepEqual(rows.those([ids[12], ids[9], ids[11]]), [ids[12], ids[11]]);
  const start = performance.now();
  assert.deepEqual(rows.those(ids.reverse()), ids.slice(0, -10));
  assert.ok(performance.now() - start < 1500, "nobody waits for it");
});
