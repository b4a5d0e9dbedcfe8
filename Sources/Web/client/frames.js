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

/**
 * Frames wait here for the writes that were begun before them: what happened before a message is on the disk before the
 * message is sent.
 */
export class Outbox {
  #emit;
  /**
   * Frames, each with the write that it waits for.
   * @type {{ bytes: Uint8Array, write: number }[]}
   */
  #queue = [];
  /**
   * Frames of the event that is being handled.
   * @type {Uint8Array[]}
   */
  #fresh = [];
  #begun = 0;
  #stored = 0;

  /** @param {(bytes: Uint8Array) => void} emit sends bytes */
  constructor(emit) {
    this.#emit = emit;
  }

  /**
   * Sends a frame when all is stored that has happened up to now.
   * @param {Uint8Array} bytes
   */
  send(bytes) {
    this.#fresh.push(bytes);
  }

  /**
   * Sends a frame that says nothing of what has happened.
   * @param {Uint8Array} bytes
   */
  overtake(bytes) {
    this.#emit(bytes);
  }

  /** A write begins: the frames of this event wait for it. Gives the number of the write. */
  begin() {
    return ++this.#begun;
  }

  /** The event is handled. */
  flush() {
    for (const bytes of this.#fresh) this.#queue.push({ bytes, write: this.#begun });
    this.#fresh = [];
    const ready = this.#queue.filter(({ write }) => write <= this.#stored);
    this.#queue = this.#queue.slice(ready.length);
    for (const { bytes } of ready) this.#emit(bytes);
  }

  /**
   * All writes up to this one are stored.
   * @param {number} write
   */
  stored(write) {
    this.#stored = Math.max(this.#stored, write);
  }

  /** The connection is lost: what waits is of no use any more. */
  clear() {
    this.#queue = [];
    this.#fresh = [];
  }
}
