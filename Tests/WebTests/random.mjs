// Random lists and deltas. HAND_SEED gives the first seed, which each test prints, and HAND_ROUNDS multiplies how much
// is tried.

import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { normalForm } from "../../Sources/Web/client/components.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { isBoundary } from "../../Sources/Web/client/bytes.js";

/** What the caller of Node has asked for; a browser has no such thing. */
const { HAND_SEED, HAND_ROUNDS } = globalThis.process?.env ?? {};
export const seed = Number(HAND_SEED ?? 1 + Math.floor(Math.random() * 1e9));
export const times = Number(HAND_ROUNDS ?? 1);

const words = [
  "milk", "oat ", "12", " eggs", "é", "naïve", "日本", "👍", "a b c", "x", " ", "10:30", "\n", "ﬁ", "soy milk, 2 l",
];
const none = new Uint8Array(0);

/** A source of chance that a seed repeats. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 0x100000000;
  }

  /** A whole number below a limit. */
  below(limit) {
    return Math.floor(this.next() * limit);
  }

  is(chance) {
    return this.next() < chance;
  }

  pick(values) {
    return values[this.below(values.length)];
  }

  bytes(count) {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }

  text(most = 4) {
    return Array.from({ length: this.below(most) }, () => this.pick(words)).join("");
  }

  // Items and lists

  item(kinds = [1, 2, 2, 2, 3, 3, 4, 5, 900]) {
    const kind = this.pick(kinds);
    const text = bytesOf(this.text());
    const level = this.is(0.7) ? 0 : this.below(16);
    const fields = {
      text, done: this.is(0.5), url: bytesOf(this.text(2)), card: this.below(53), bytes: this.bytes(this.below(4)),
      level,
    };
    return encoded(this.bytes(8), kind, fields);
  }

  items(most, kinds) {
    return Array.from({ length: this.below(most + 1) }, () => this.item(kinds));
  }

  list(most = 8) {
    return List.of(this.items(most));
  }

  // Deltas

  /** A delta that fits a list; `busy` is how likely each item is touched. */
  delta(list, busy = 0.5, kinds = undefined) {
    const items = Array.isArray(list) ? list : [...list];
    const fates = items.map(() => (this.is(busy) ? this.pick(["edit", "delete", "pick", "pick", "edit"]) : "keep"));
    const picked = items.filter((_, i) => fates[i] === "pick");
    const gaps = items.concat(null).map(() => []);
    for (const [slot, item] of picked.entries()) {
      const change = this.is(0.3) ? this.change(item) : undefined;
      this.pick(gaps).push({ op: "drop", from: slot, to: slot + 1, side: this.side(), ...(change && { change }) });
    }
    for (const gap of gaps) {
      if (this.is(busy / 3)) {
        gap.push({ op: "insert", items: [this.item(kinds), ...this.items(1, kinds)], side: this.side() });
      }
    }
    const components = gaps.flatMap((gap, i) => {
      const contents = this.is(0.5) ? gap.sort((a, b) => (a.side === b.side ? 0 : a.side === "after" ? -1 : 1)) : gap;
      return i < items.length ? [...contents, this.#fate(fates[i], items[i])] : contents;
    });
    return normalForm(components);
  }

  /** A delta that only changes texts, at their words. */
  rewording(list) {
    const items = [...list];
    return normalForm(items.map(item => {
      const { text } = item.fields();
      const splices = text ? this.splices(text) : [];
      return splices.length > 0 ? { op: "edit", change: { text: splices } } : { op: "keep", count: 1 };
    }));
  }

  side() {
    return this.is(0.5) ? "after" : "before";
  }

  #fate(fate, item) {
    const change = fate === "edit" ? this.change(item) : undefined;
    if (change) return { op: "edit", change };
    return { op: fate === "edit" ? "keep" : fate, count: 1 };
  }

  change(item) {
    const fields = item.fields();
    const change = {};
    for (const field of ["text", "url"]) if (fields[field] && this.is(0.8)) change[field] = this.splices(fields[field]);
    if (fields.done !== undefined && this.is(0.5)) change.done = this.is(0.5);
    if (fields.card !== undefined && this.is(0.7)) change.card = this.below(53);
    if (fields.bytes && this.is(0.7)) change.bytes = this.bytes(this.below(3));
    if (this.is(0.2)) change.level = this.below(16);
    for (const field of ["text", "url"]) if (change[field]?.length === 0) delete change[field];
    return Object.keys(change).length > 0 ? change : undefined;
  }

  /** Splices in normal form of a text. */
  splices(text) {
    const places = [];
    for (let at = 0; at <= text.length; at++) if (isBoundary(text, at)) places.push(at);
    const splices = [];
    let first = 0;
    while (first < places.length && this.is(0.7)) {
      const start = first + this.below(Math.min(4, places.length - first));
      const end = Math.min(places.length - 1, start + this.below(4));
      const removed = text.subarray(places[start], places[end]);
      const inserted = this.is(0.7) ? bytesOf(this.text(3)) : none;
      if (!same(removed, inserted)) splices.push({ at: places[start], removed, inserted });
      first = end + 1;
    }
    return splices;
  }
}

function same(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
