// Frames: a stream of bytes is cut into bodies, wherever the pieces of the stream end.

import { Malformed, Writer } from "./bytes.js";

/** The longest body that a client must accept. */
export const LONGEST_BODY = 16 * 1024 * 1024;

/**
 * A body with its length in front.
 * @param {Uint8Array} body
 */
export function framed(body) {
  const writer = new Writer();
  writer.blob(body);
  return writer.written;
}

/** Collects the pieces of a stream. It holds what has arrived of one frame, and never more than twice that. */
export class FrameReader {
  #longest = LONGEST_BODY;
  #held = new Uint8Array(0);
  #size = 0;
  #needed = 1;

  /**
   * Bodies of this length are accepted too.
   * @param {number} size
   */
  accept(size) {
    this.#longest = Math.max(this.#longest, size);
  }

  /**
   * The bodies that are complete now. They share the memory of the pieces, which nobody may write to afterwards. Throws
   * `Malformed` if a frame is too long, or its length is not in its shortest form; what came before it is handled
   * first, and the stream is of no use then.
   * @param {Uint8Array} piece @param {(body: Uint8Array) => void} handle
   */
  read(piece, handle) {
    let bytes = piece;
    if (this.#size > 0) {
      this.#append(piece);
      if (this.#size < this.#needed) return;
      bytes = this.#held.subarray(0, this.#size);
    }
    this.#held = new Uint8Array(0);
    this.#size = 0;
    for (let at = 0; at < bytes.length; ) {
      const [start, end] = this.#extent(bytes, at);
      if (end > bytes.length) {
        this.#needed = end - at;
        this.#append(bytes.subarray(at));
        return;
      }
      handle(bytes.subarray(start, end));
      at = end;
    }
  }

  /**
   * Where the body of the frame begins and ends, as far as that is known.
   * @param {Uint8Array} bytes @param {number} at
   * @returns {[number, number]}
   */
  #extent(bytes, at) {
    let size = 0;
    let scale = 1;
    for (let i = at; i < at + 5; i++) {
      if (i === bytes.length) return [i, i + 1];
      size += (bytes[i] & 127) * scale;
      scale *= 128;
      if (bytes[i] > 127) continue;
      if (bytes[i] === 0 && i > at) break;
      if (size === 0 || size > this.#longest) break;
      return [i + 1, i + 1 + size];
    }
    throw new Malformed("a frame's length is none that is allowed");
  }

  /** @param {Uint8Array} piece */
  #append(piece) {
    const size = this.#size + piece.length;
    if (size > this.#held.length) {
      const held = new Uint8Array(Math.max(size, Math.min(2 * this.#held.length, this.#needed)));
      held.set(this.#held.subarray(0, this.#size));
      this.#held = held;
    }
    this.#held.set(piece, this.#size);
    this.#size = size;
  }
}
