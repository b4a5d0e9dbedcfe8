// Frames wait here for the writes that were begun before them: what happened before a message is on the disk before the
// message is sent.

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
