// A session whose list is live, and a replica that has begun, for tests without a network.

import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { FrameReader, framed } from "../../Sources/Web/client/frames.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { List } from "../../Sources/Web/client/list.js";
import { decodeUp, encodeDown } from "../../Sources/Web/client/messages.js";
import { Replica } from "../../Sources/Web/client/replica.js";
import { Session } from "../../Sources/Web/client/session.js";

export const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };
export const identity = {
  client: "00112233445566778899aabbccddeeff", person: "Ada", program: "test", idle: 180_000,
};
export const welcome = {
  type: "welcome", version: 5, capabilities: 0, author: 1, idleDeadline: 45_000, frameBytes: 8_388_608, program: "",
};
export const log = "0000000200000005";
export const subscribed = {
  type: "subscribed", request: 1, list: 7, logID: log, rules, lastSequence: 0, isLastRefused: false,
  start: { snapshot: { revision: 0, count: 0, digest: "0".repeat(16) } },
};

export const note = (number, text) =>
  encoded(Uint8Array.of(number, 0, 0, 0, 0, 0, 0, 0), 2, { text: bytesOf(text), level: 0 });
export const item = number => note(number, "x");
export const insertion = number => [{ op: "insert", items: [item(number)], side: "after" }];
export const appended = (count, item) => [{ op: "keep", count }, { op: "insert", items: [item], side: "before" }];
export const texts = list => [...list].map(({ text }) => text);

export const receive = (session, message, now = 0, chance = 0) =>
  session.received(framed(encodeDown(message)), now, chance);
export const done = effects => effects.map(effect => effect.do);

export function sent(effects) {
  const messages = [];
  for (const effect of effects) {
    if (effect.do === "send") new FrameReader().read(effect.bytes, body => messages.push(decodeUp(body)));
  }
  return messages;
}

/** A session whose list is live. */
export function live(keep) {
  const session = new Session(identity, keep);
  const list = session.follow("list");
  session.connected(0);
  receive(session, welcome);
  receive(session, subscribed);
  return { session, list };
}

/** A replica that the server has told of these items. */
export function begun(...items) {
  const replica = new Replica();
  replica.begin({ log, revision: 3, items: List.of(items) });
  return replica;
}

/** The server takes what is in flight. */
export function acknowledge(replica, revision) {
  const { delta, sequence } = replica.inFlight;
  const { view } = replica;
  const commit = { revision, author: 1, sequence, base: revision - 1, time: 0, count: view.count, digest: view.digest };
  replica.acknowledge({ ...commit, delta }, view);
}
