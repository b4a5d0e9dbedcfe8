// A client as the vectors of the machine ask about it.

import { FrameReader } from "../../Sources/Web/frames.js";
import { REASONS, decodeUp } from "../../Sources/Web/messages.js";
import { Session } from "../../Sources/Web/session.js";
import * as json from "./json.mjs";
import { toldTo } from "./told.mjs";

const hidden = new Set(["hello", "ping", "presence"]);

export class Machine {
  #session = new Session({ client: "0".repeat(31) + "1", person: "Ada", program: "vectors" });
  #list = this.#session.follow("list");
  #now = 0;

  get replica() {
    return this.#session.replica(this.#list);
  }

  /** What the client does at one step. */
  step(step) {
    const effects = this.#effects(step);
    const out = effects.filter(effect => effect.do === "send").flatMap(({ bytes }) => sent(bytes));
    const told = effects.filter(effect => effect.do === "tell").map(({ told }) => toldTo(told, this.replica));
    return { out, view: json.listTo(this.replica.view), told };
  }

  #effects(step) {
    const now = ++this.#now;
    const session = this.#session;
    if (step.connected) return [...session.tick(now + 1e9, 0), ...session.connected(now)].filter(effect => effect.do !== "connect");
    if (step.lost) return session.lost(now, 0);
    if (step.frame !== undefined) return session.received(new Uint8Array(Buffer.from(step.frame, "hex")), now, 0);
    return session.act(this.#list, replica => {
      if (step.undo) replica.undo();
      else if (step.redo) replica.redo();
      else replica.edit(json.deltaFrom(step.edit), step.exact ?? false);
    }, now);
  }
}

function sent(bytes) {
  const messages = [];
  new FrameReader().read(bytes, body => messages.push(decodeUp(body)));
  return messages
    .filter(({ type }) => !hidden.has(type))
    .map(message => ({ frame: Buffer.from(bytes).toString("hex"), message: message.type, fields: json.fieldsTo(message) }));
}

export { REASONS };
