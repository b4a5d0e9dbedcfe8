// A client as the vectors of the machine ask about it.

import { FrameReader } from "../../Sources/Web/client/frames.js";
import { decodeUp } from "../../Sources/Web/client/messages.js";
import { Session } from "../../Sources/Web/client/session.js";
import * as json from "./json.mjs";
import { toldTo } from "./told.mjs";

const hidden = new Set(["hello", "ping", "presence"]);

export class Machine {
  #session = new Session({ client: "0".repeat(31) + "1", person: "Ada", program: "vectors" });
  #list = this.#session.follow("list");
  #now = 0;
  /** The last request that it has sent. */
  lastRequest = 0;

  get replica() {
    return this.#session.replica(this.#list);
  }

  /** What the client does at one step, as the vectors have it. */
  step(step) {
    const { out, told } = this.happens(step);
    return { out, view: json.listTo(this.replica.view), told };
  }

  /** The same, and the messages that it sends. */
  happens(step) {
    const effects = this.#effects(step);
    const messages = effects.filter(effect => effect.do === "send").flatMap(({ bytes }) => messagesOf(bytes));
    // Of a restored list, the protocol asks nothing to be told.
    const tellings = effects.filter(effect => effect.do === "tell" && effect.told.type !== "restored");
    const told = tellings.map(({ told }) => toldTo(told));
    for (const { message } of messages) if (message.type === "subscribe") this.lastRequest = message.request;
    const shown = messages.filter(({ message }) => !hidden.has(message.type));
    const out = shown.map(({ frame, message }) => ({ frame, message: message.type, fields: json.fieldsTo(message) }));
    return { out, told, sent: shown.map(({ message }) => message) };
  }

  #effects(step) {
    const session = this.#session;
    const now = ++this.#now;
    if (step.connected) {
      return [...session.tick(this.#later(), 0), ...session.connected(this.#now)].filter(
        effect => effect.do !== "connect",
      );
    }
    if (step.lost) return session.lost(now, 0);
    if (step.frame !== undefined) return session.received(json.bytesOfHex(step.frame), now, 0);
    return session.act(this.#list, replica => act(replica, step), now);
  }

  /** The time when the client connects again. */
  #later() {
    return (this.#now = Math.max(this.#now, this.#session.deadline));
  }
}

function act(replica, step) {
  if (step.undo) replica.undo();
  else if (step.redo) replica.redo();
  else replica.edit(json.deltaFrom(step.edit), step.exact ? "exact" : undefined);
}

function messagesOf(bytes) {
  const messages = [];
  new FrameReader().read(bytes, body => messages.push({ message: decodeUp(body), frame: json.hexOf(bytes) }));
  return messages;
}
