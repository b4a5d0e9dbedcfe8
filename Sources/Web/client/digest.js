// The digest of a list, section 6, "Digest", in numbers that are exact: 64 bits are two halves of 32 bits, and a value
// modulo 2^61 - 1 is three limbs of 21, 21 and 19 bits. There is no BigInt, which would make an object for each step.

/** @typedef {readonly [number, number, number]} Limbs a value modulo 2^61 - 1, the lowest limb first */

const LIMB = 0x200000;
const TOP = 0x80000;
/** Above this many bytes, an item remembers its hash. */
const LARGE = 256;
const BASE = limbsOf(0x0e3b7c9d, 0x5f17a36b);

/** @type {Limbs} */
export const ZERO = [0, 0, 0];

/** @type {Limbs[]} */
const powers = [[1, 0, 0]];

/** The hash that was computed last: its two halves. */
let high = 0;
let low = 0;

/**
 * The hash of an item.
 * @param {Uint8Array} bytes @param {number} start @param {number} end
 * @returns {Limbs}
 */
export function hashOf(bytes, start, end) {
  hash(bytes, start, end);
  return limbsOf(high, low);
}

/**
 * The digest of some items. O(bytes), but for large items whose hash is known.
 * @param {readonly import('./item.js').Item[]} items
 * @returns {Limbs}
 */
export function digestOf(items) {
  const [b0, b1, b2] = BASE;
  let [x0, x1, x2] = ZERO;
  for (const item of items) {
    let h0, h1, h2;
    if (item.end - item.start > LARGE) {
      [h0, h1, h2] = item.hash;
    } else {
      // No object is made for a small item, as reading a list would make one for each.
      hash(item.bytes, item.start, item.end);
      [h0, h1, h2] = [low & 0x1fffff, (low >>> 21) | ((high & 0x3ff) << 11), high >>> 10];
    }
    [x0, x1, x2] = reduced(
      x0 * b0 + 4 * (x1 * b2 + x2 * b1) + h0,
      x0 * b1 + x1 * b0 + 4 * x2 * b2 + h1,
      x0 * b2 + x1 * b1 + x2 * b0 + h2,
    );
  }
  return [x0, x1, x2];
}

/**
 * The digest of two lists, one behind the other.
 * @param {Limbs} a @param {Limbs} b @param {number} count items of the second list
 * @returns {Limbs}
 */
export function joinedDigest(a, b, count) {
  const [x, y, z] = times(a, powerOf(count));
  return reduced(x + b[0], y + b[1], z + b[2]);
}

/**
 * Sixteen hexadecimal digits.
 * @param {Limbs} limbs
 */
export function digestText([a, b, c]) {
  if (a === LIMB - 1 && b === LIMB - 1 && c === TOP - 1) return "0".repeat(16);
  const low = (a + (b & 0x7ff) * LIMB) % 0x100000000;
  const high = (c * 1024 + (b >>> 11)) % 0x100000000;
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

/**
 * B^count; each number of items is asked for again and again.
 * @param {number} count
 * @returns {Limbs}
 */
function powerOf(count) {
  if (count <= 512) {
    while (powers.length <= count) powers.push(times(powers[powers.length - 1], BASE));
    return powers[count];
  }
  const half = powerOf(count >>> 1);
  const square = times(half, half);
  return count & 1 ? times(square, BASE) : square;
}

/** @param {Limbs} a @param {Limbs} b @returns {Limbs} */
function times([a0, a1, a2], [b0, b1, b2]) {
  // 2^63 is 4 here; each sum is below 2^47, so exact.
  return reduced(
    a0 * b0 + 4 * (a1 * b2 + a2 * b1),
    a0 * b1 + a1 * b0 + 4 * a2 * b2,
    a0 * b2 + a1 * b1 + a2 * b0,
  );
}

/** @param {number} a @param {number} b @param {number} c @returns {Limbs} */
function reduced(a, b, c) {
  for (let i = 0; i < 2; i++) {
    let carry = Math.floor(a / LIMB);
    a -= carry * LIMB;
    b += carry;
    carry = Math.floor(b / LIMB);
    b -= carry * LIMB;
    c += carry;
    carry = Math.floor(c / TOP);
    c -= carry * TOP;
    a += carry;
  }
  return [a, b, c];
}

/**
 * 64 bits modulo 2^61 - 1.
 * @param {number} high @param {number} low
 * @returns {Limbs}
 */
function limbsOf(high, low) {
  return reduced(low & 0x1fffff, (low >>> 21) | ((high & 0x3ff) << 11), high >>> 10);
}

/**
 * The upper half of a product of 64 bits.
 * @param {number} ah @param {number} al @param {number} bh @param {number} bl
 */
function highOfProduct(ah, al, bh, bl) {
  const a0 = al & 65535;
  const a1 = al >>> 16;
  const b0 = bl & 65535;
  const b1 = bl >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const other = a0 * b1 + (middle % 65536);
  const carry = a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536);
  return (carry + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
}

/** @param {Uint8Array} bytes @param {number} start @param {number} end */
function hash(bytes, start, end) {
  let hi = 0xcbf29ce4 | 0;
  let lo = 0x84222325 | 0;
  for (let i = start; i < end; i++) {
    lo ^= bytes[i];
    // The prime is 2^40 + 435.
    const p0 = (lo & 65535) * 435;
    const p1 = (lo >>> 16) * 435 + (p0 >>> 16);
    hi = (Math.imul(hi, 435) + (lo << 8) + (p1 >>> 16)) | 0;
    lo = (p1 << 16) | (p0 & 65535);
  }
  lo ^= hi >>> 1;
  hi = highOfProduct(hi, lo, 0xff51afd7, 0xed558ccd);
  lo = Math.imul(lo, 0xed558ccd);
  lo ^= hi >>> 1;
  hi = highOfProduct(hi, lo, 0xc4ceb9fe, 0x1a85ec53);
  lo = Math.imul(lo, 0x1a85ec53);
  lo ^= hi >>> 1;
  high = hi;
  low = lo;
}
