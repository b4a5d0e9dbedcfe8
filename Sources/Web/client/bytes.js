// Reading and writing the bytes of section 2 of the protocol's page. A reader checks before it allocates.

/** Bytes that the page does not allow. */
export class Malformed extends Error {
  name = "Malformed";
}

/** The greatest count, position, version, kind, slot and size. */
export const MAX_COUNT = 0x7fffffff;

const NOTHING = new Uint8Array(0);
const digits = "0123456789abcdefghjkmnpqrstvwxyz";
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads one value after the other from a range of bytes. Each method throws `Malformed`, and moves forward otherwise.
 */
export class Reader {
  /** Where the next value begins. */
  at;
  /** Where the range ends. */
  end;
  /** @readonly */
  bytes;

  /** @param {Uint8Array} bytes @param {number} [at] @param {number} [end] */
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get left() {
    return this.end - this.at;
  }

  /** @returns {number} */
  byte() {
    if (this.at >= this.end) throw new Malformed("the bytes end too early");
    return this.bytes[this.at++];
  }

  /**
   * A number in its shortest form, at most `limit`.
   * @param {number} [limit]
   * @returns {number}
   */
  varint(limit = Number.MAX_SAFE_INTEGER) {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) {
        if (byte === 0 && i > 0) throw new Malformed("a number is longer than it must be");
        if (value > limit) throw new Malformed(`a number is above ${limit}`);
        return value;
      }
      scale *= 128;
    }
    throw new Malformed("a number is above 2^53 - 1");
  }

  /**
   * How many values follow, each of at least `size` bytes: never more than there are bytes for.
   * @param {number} size
   */
  count(size) {
    const count = this.varint(MAX_COUNT);
    if (count * size > this.left) throw new Malformed("more is announced than there are bytes for");
    return count;
  }

  /** @returns {boolean} */
  flag() {
    const byte = this.byte();
    if (byte > 1) throw new Malformed("a flag is neither 0 nor 1");
    return byte === 1;
  }

  /**
   * The next bytes, not copied.
   * @param {number} size
   */
  take(size) {
    if (size > this.left) throw new Malformed("the bytes end too early");
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  /** A length and that many bytes, not copied. */
  blob() {
    return this.take(this.count(1));
  }

  /** A text as its bytes, checked. */
  text() {
    const text = this.blob();
    if (!isUtf8(text, 0, text.length)) throw new Malformed("a text is not UTF-8");
    return text;
  }

  /** A text as a string. */
  string() {
    return textOf(this.text());
  }

  /** A word as 16 hexadecimal digits. */
  word() {
    const low = this.#half();
    return hexOf(this.#half()) + hexOf(low);
  }

  /** A word as an item's id. */
  id() {
    const low = this.#half();
    return idOf(this.#half(), low);
  }

  /** Nothing may follow. */
  finish() {
    if (this.left > 0) throw new Malformed("bytes follow the last field");
  }

  #half() {
    const b = this.take(4);
    return (b[0] | (b[1] << 8) | (b[2] << 16) | (b[3] << 24)) >>> 0;
  }
}

/** Bytes that grow. */
export class Writer {
  #bytes = new Uint8Array(64);
  #size = 0;

  /** What has been written: a copy. */
  get written() {
    return this.#bytes.slice(0, this.#size);
  }

  /** @param {number} value */
  byte(value) {
    this.#grow(1);
    this.#bytes[this.#size++] = value;
  }

  /** @param {number} value a whole number from 0 to 2^53 - 1 */
  varint(value) {
    while (value > 127) {
      this.byte((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    this.byte(value);
  }

  /** @param {boolean} value */
  flag(value) {
    this.byte(value ? 1 : 0);
  }

  /** @param {Uint8Array} bytes */
  raw(bytes) {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  /** @param {Uint8Array} bytes */
  blob(bytes) {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** @param {string} text */
  string(text) {
    this.blob(bytesOf(text));
  }

  /** @param {string} hex 16 hexadecimal digits */
  word(hex) {
    for (let i = 14; i >= 0; i -= 2) this.byte(parseInt(hex.slice(i, i + 2), 16));
  }

  /** @param {string} id an item's id */
  id(id) {
    this.raw(bytesOfID(id));
  }

  /** @param {number} size */
  #grow(size) {
    if (this.#size + size <= this.#bytes.length) return;
    const old = this.#bytes;
    this.#bytes = new Uint8Array(Math.max(2 * old.length, this.#size + size));
    this.#bytes.set(old);
  }
}

/**
 * The UTF-8 of a text.
 * @param {string} text
 */
export function bytesOf(text) {
  return encoder.encode(text);
}

/**
 * The text of UTF-8.
 * @param {Uint8Array} bytes
 */
export function textOf(bytes) {
  return decoder.decode(bytes);
}

/**
 * Whether two pieces have the same bytes.
 * @param {Uint8Array} a @param {Uint8Array} b
 */
export function isSame(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * All pieces, one after the other.
 * @param {...Uint8Array} pieces
 */
export function joined(...pieces) {
  const some = pieces.filter(piece => piece.length > 0);
  if (some.length < 2) return some[0] ?? NOTHING;
  const all = new Uint8Array(some.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of some) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/**
 * Whether a range of bytes is UTF-8: no long forms, no surrogates, nothing above U+10FFFF.
 * @param {Uint8Array} bytes @param {number} at @param {number} end
 */
export function isUtf8(bytes, at, end) {
  while (at < end) {
    const first = bytes[at++];
    if (first < 0x80) continue;
    const more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (more === 0 || at + more > end) return false;
    const second = bytes[at];
    if (second < (first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80)) return false;
    if (second > (first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf)) return false;
    for (let i = 1; i < more; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return false;
    at += more;
  }
  return true;
}

/**
 * Whether a character begins at this place of a text, or the text ends there.
 * @param {Uint8Array} text @param {number} at
 */
export function isBoundary(text, at) {
  return at === text.length || (text[at] & 0xc0) !== 0x80;
}

/**
 * An item's id from the two halves of its word: 13 characters of base 32.
 * @param {number} high @param {number} low
 */
export function idOf(high, low) {
  let text = "";
  for (let bit = 59; bit >= -1; bit -= 5) {
    let value = bit < 0 ? low << 1 : low >>> bit;
    if (bit >= 32) value = high >>> (bit - 32);
    else if (bit > 27) value |= high << (32 - bit);
    text += digits[value & 31];
  }
  return text;
}

/**
 * The eight bytes of an item's id, the lowest first.
 * @param {string} id 13 characters
 */
export function bytesOfID(id) {
  const bytes = new Uint8Array(8);
  for (let i = 0; i < 13; i++) {
    const value = digits.indexOf(id[i]);
    const bit = 59 - 5 * i;
    for (let b = 0; b < 5; b++) if ((value >> b) & 1 && bit + b >= 0) bytes[(bit + b) >> 3] |= 1 << ((bit + b) & 7);
  }
  return bytes;
}

/** @param {number} half */
function hexOf(half) {
  return half.toString(16).padStart(8, "0");
}
