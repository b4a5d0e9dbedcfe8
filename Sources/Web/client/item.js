// An item: its bytes as they are on the wire, a slice of what arrived. Texts become strings when somebody asks.

import { Malformed, MAX_COUNT, Reader, Writer, bytesOf, idOf, isSame, isUtf8, joined, textOf } from "./bytes.js";
import { hashOf } from "./digest.js";

/** @typedef {import('./digest.js').Limbs} Limbs */
/**
 * The fields of an item; texts are UTF-8. An item of an unknown kind has `bytes`.
 * @typedef {object} Fields
 * @property {Uint8Array} [text]
 * @property {boolean} [done]
 * @property {Uint8Array} [url]
 * @property {number} [card] 0 is face down
 * @property {Uint8Array} [bytes]
 * @property {number} level
 */

export const CARD = 1;
export const NOTE = 2;
export const TASK = 3;
export const LINK = 4;
export const HEADING = 5;

export class Item {
  /** @readonly */
  bytes;
  /** @readonly */
  start;
  /** @readonly */
  end;
  /** @type {Limbs | undefined} */
  #hash;
  /** @type {string | undefined} */
  #id;

  /** @param {Uint8Array} bytes @param {number} start @param {number} end what `readItem` has checked */
  constructor(bytes, start, end) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
  }

  /** 13 characters. */
  get id() {
    return (this.#id ??= idOf(this.half(4), this.half(0)));
  }

  /**
   * Half of the id: the lower one is at 0, the upper one at 4.
   * @param {number} at
   */
  half(at) {
    const { bytes, start } = this;
    const from = start + at;
    return (bytes[from] | (bytes[from + 1] << 8) | (bytes[from + 2] << 16) | (bytes[from + 3] << 24)) >>> 0;
  }

  get kind() {
    return Math.floor(this.#head() / 16);
  }

  get level() {
    return this.bytes[this.start + 8] & 15;
  }

  /**
   * The bytes behind head and size.
   * @returns {Uint8Array}
   */
  get content() {
    const at = afterVarint(this.bytes, afterVarint(this.bytes, this.start + 8));
    return this.bytes.subarray(at, this.end);
  }

  /** The item's bytes on the wire. */
  get whole() {
    return this.bytes.subarray(this.start, this.end);
  }

  /**
   * The text for people: empty if the kind has none.
   * @returns {string}
   */
  get text() {
    return textOf(this.fields().text ?? new Uint8Array(0));
  }

  get hash() {
    return (this.#hash ??= hashOf(this.bytes, this.start, this.end));
  }

  /** @returns {Fields} */
  fields() {
    const { content, kind, level } = this;
    switch (kind) {
      case CARD:
        return { card: content[0], level };
      case NOTE:
      case HEADING:
        return { text: content, level };
      case TASK:
        return { done: content[0] === 1, text: content.subarray(1), level };
      case LINK: {
        const at = afterVarint(content, 0);
        const size = varintAt(content, 0);
        return { text: content.subarray(at, at + size), url: content.subarray(at + size), level };
      }
      default:
        return { bytes: content, level };
    }
  }

  /**
   * The same item with other values.
   * @param {Fields} fields
   */
  with(fields) {
    return encoded(this.bytes.subarray(this.start, this.start + 8), this.kind, fields);
  }

  /** @param {Item} other */
  isSame(other) {
    return this === other || isSame(this.whole, other.whole);
  }

  #head() {
    return varintAt(this.bytes, this.start + 8);
  }
}

/**
 * A new item.
 * @param {Uint8Array} id eight bytes @param {number} kind @param {Fields} fields
 */
export function encoded(id, kind, fields) {
  const content = contentOf(kind, fields);
  const writer = new Writer();
  writer.raw(id);
  writer.varint(kind * 16 + fields.level);
  writer.blob(content);
  const bytes = writer.written;
  return new Item(bytes, 0, bytes.length);
}

/**
 * Reads an item, and checks its content; the item is a slice of the reader's bytes.
 * @param {Reader} reader
 */
export function readItem(reader) {
  const start = reader.at;
  reader.take(8);
  const kind = Math.floor(reader.varint(MAX_COUNT * 16 + 15) / 16);
  const size = reader.count(1);
  const at = reader.at;
  reader.at += size;
  if (!isContent(kind, reader.bytes, at, reader.at)) throw new Malformed("an item's content is not of its kind");
  return new Item(reader.bytes, start, reader.at);
}

/** @param {number} kind @param {Uint8Array} bytes @param {number} at @param {number} end */
function isContent(kind, bytes, at, end) {
  switch (kind) {
    case 0:
      return false;
    case CARD:
      return end - at === 1 && bytes[at] <= 52;
    case NOTE:
    case HEADING:
      return isUtf8(bytes, at, end);
    case TASK:
      return at < end && bytes[at] <= 1 && isUtf8(bytes, at + 1, end);
    case LINK:
      return isLink(bytes, at, end);
    default:
      return true;
  }
}

/** @param {Uint8Array} bytes @param {number} at @param {number} end */
function isLink(bytes, at, end) {
  const link = new Reader(bytes, at, end);
  link.text();
  return isUtf8(bytes, link.at, end);
}

/** @param {number} kind @param {Fields} fields @returns {Uint8Array} */
function contentOf(kind, fields) {
  const text = fields.text ?? new Uint8Array(0);
  switch (kind) {
    case CARD:
      return Uint8Array.of(fields.card ?? 0);
    case NOTE:
    case HEADING:
      return text;
    case TASK:
      return joined(Uint8Array.of(fields.done ? 1 : 0), text);
    case LINK: {
      const writer = new Writer();
      writer.blob(text);
      return joined(writer.written, fields.url ?? bytesOf(""));
    }
    default:
      return fields.bytes ?? new Uint8Array(0);
  }
}

/** @param {Uint8Array} bytes @param {number} at @returns {number} */
function varintAt(bytes, at) {
  let value = 0;
  let scale = 1;
  while (bytes[at] > 127) {
    value += (bytes[at++] & 127) * scale;
    scale *= 128;
  }
  return value + bytes[at] * scale;
}

/** @param {Uint8Array} bytes @param {number} at */
function afterVarint(bytes, at) {
  while (bytes[at] > 127) at++;
  return at + 1;
}
