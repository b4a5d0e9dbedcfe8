// The WebSockets of a tab's lines. An event of a socket that was closed here is not heard any more.

/**
 * How a line ended: the server had welcomed the client, or had not, or there was never a connection.
 * @typedef {"lost" | "silent" | "unreachable"} End
 */
/**
 * What hears the sockets.
 * @typedef {object} Listener
 * @property {(line: number) => void} opened
 * @property {(line: number, bytes: Uint8Array) => void} received
 * @property {(line: number, end: End) => void} lost
 */
/** @typedef {{ socket: WebSocket, isOpened: boolean, isWelcome: boolean }} Link */

export class Links {
  #url;
  #listener;
  /** @type {Map<number, Link>} */
  #links = new Map();

  /** @param {string} url @param {Listener} listener */
  constructor(url, listener) {
    this.#url = url;
    this.#listener = listener;
  }

  /** @param {number} line that has no socket */
  open(line) {
    let socket;
    try {
      socket = new WebSocket(this.#url);
    } catch {
      return void setTimeout(() => this.#listener.lost(line, "unreachable"));
    }
    const link = { socket, isOpened: false, isWelcome: false };
    const isMine = () => this.#links.get(line) === link;
    this.#links.set(line, link);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      link.isOpened = true;
      if (isMine()) this.#listener.opened(line);
    };
    socket.onmessage = ({ data }) => {
      if (isMine()) this.#listener.received(line, new Uint8Array(data));
    };
    socket.onclose = () => {
      const end = isMine() && this.close(line);
      if (end) this.#listener.lost(line, end);
    };
  }

  /** @param {number} line @param {Uint8Array} bytes */
  send(line, bytes) {
    this.#links.get(line)?.socket.send(bytes);
  }

  /** @param {number} line on which the server has welcomed the client */
  welcome(line) {
    const link = this.#links.get(line);
    if (link) link.isWelcome = true;
  }

  /**
   * Gives how the line ends; nothing if it has no socket.
   * @param {number} line
   * @returns {End | undefined}
   */
  close(line) {
    const link = this.#links.get(line);
    if (!link) return undefined;
    this.#links.delete(line);
    link.socket.close();
    return link.isWelcome ? "lost" : link.isOpened ? "silent" : "unreachable";
  }
}
