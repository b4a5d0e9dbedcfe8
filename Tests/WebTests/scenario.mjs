// A client, a small server and other authors, at random: what happens to the client, and what it does at each step.

import { apply } from "../../Sources/Web/client/delta.js";
import { framed } from "../../Sources/Web/client/frames.js";
import { List } from "../../Sources/Web/client/list.js";
import { ERRORS, encodeDown } from "../../Sources/Web/client/messages.js";
import { transform } from "../../Sources/Web/client/transform.js";
import * as json from "./json.mjs";
import { Machine } from "./machine.mjs";

const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };
const number = 7;

/** The server's side of one list. */
class SmallServer {
  #random;
  lists = [List.empty];
  commits = [];
  log = "0000000200000005";
  last = 0;
  isLastRefused = false;

  constructor(random) {
    this.#random = random;
    const items = [random.item([2, 3]), ...random.items(4, [2, 3, 4])];
    this.isAboutWords = random.is(0.5);
    this.commit(2, 1, 0, [{ op: "insert", items: this.isAboutWords ? items.slice(0, 2) : items, side: "before" }]);
    this.commit(2, 2, 1, random.rewording(this.list));
  }

  /** Somebody's edit of a list. */
  edit(list) {
    return this.isAboutWords && this.#random.is(0.8)
      ? this.#random.rewording(list)
      : this.#random.delta(list, 0.3, [2, 3]);
  }

  get revision() {
    return this.commits.length;
  }

  get list() {
    return this.lists[this.revision];
  }

  /** A commit; the client gets it as the frame that it is given. */
  commit(author, sequence, base, delta, refused) {
    const list = refused ? this.list : apply(this.list, delta);
    const commit = {
      revision: this.revision + 1, author, sequence, base: refused ? this.revision : base, time: 0, count: list.count,
      digest: list.digest, delta: refused ? [] : delta,
    };
    if (refused) commit.refused = refused;
    this.commits.push(commit);
    this.lists.push(list);
    return commit;
  }

  /** Somebody else's edit, made on an older revision. */
  others(author = 2, sequence = 1000 + this.revision) {
    const base = Math.max(0, this.revision - this.#random.below(4));
    return this.commit(author, sequence, base, this.carried(this.edit(this.lists[base]), base));
  }

  carried(delta, base) {
    for (const commit of this.commits.slice(base)) delta = transform(delta, commit.delta, true);
    return delta;
  }

  /** The answer to a submission: a commit, or another message. */
  decide({ base, sequence, how, delta }) {
    if (sequence <= this.last) {
      return { type: "acknowledged", list: number, sequence, revision: this.#revisionOf(sequence) };
    }
    if (how !== 1 && this.#random.is(0.1) && base < this.revision) {
      return { type: "stale", list: number, sequence, head: this.revision };
    }
    if (this.#random.is(0.07)) {
      return { type: "rejected", list: number, sequence, rejection: { reason: 10, first: 0, second: 0 } };
    }
    this.last = sequence;
    const refused = this.#refusal(base, how, delta);
    this.isLastRefused = refused !== undefined;
    return this.commit(1, sequence, Math.max(0, base - Math.max(0, how - 1)), this.carried(delta, base), refused);
  }

  /** The newest commits are gone, as after a restore from a backup. */
  restore() {
    const kept = Math.max(2, this.revision - this.#random.below(4));
    this.commits.length = kept;
    this.lists.length = kept + 1;
    this.log = this.#random.is(0.7) ? `0000000${3 + this.#random.below(6)}00000005` : this.log;
    this.last = Math.max(0, ...this.commits.filter(({ author }) => author === 1).map(({ sequence }) => sequence));
    this.isLastRefused = this.commits.some(
      ({ author, sequence, refused }) => author === 1 && sequence === this.last && refused,
    );
  }

  #revisionOf(sequence) {
    const commit = this.commits.find(commit => commit.author === 1 && commit.sequence === sequence);
    return sequence === this.last && commit ? commit.revision : 0;
  }

  #refusal(base, how, delta) {
    if (how === 1 && this.commits.slice(base).some(({ refused }) => !refused)) {
      return { reason: 9, first: this.revision, second: 0 };
    }
    const ids = [...apply(this.list, this.carried(delta, base))].map(({ id }) => id);
    if (new Set(ids).size < ids.length) return { reason: 7, first: 0, second: 1 };
    return this.#random.is(0.1) ? { reason: 13, first: 1, second: 0 } : undefined;
  }
}

/** One random scenario: `steps` are those of a question of the law `machine`, `answers` what the client did. */
export class Scenario {
  #random;
  #server;
  #machine = new Machine();
  #isConnected = false;
  /** What is on the way to the client, and from it. */
  #down = [];
  #up = [];
  steps = [];
  answers = [];

  constructor(random) {
    this.#random = random;
    this.#server = new SmallServer(random);
    this.#connect();
    for (let left = 20 + random.below(60); left > 0; left--) this.#anything();
  }

  #anything() {
    const random = this.#random;
    const { replica } = this.#machine;
    const what = random.below(40);
    // A client need not submit an edit that it takes back before.
    const mayStep = replica.pending.every(({ sequence }) => sequence !== undefined);
    if (what < 7) this.#edit(random.is(0.15));
    else if (what < 13 && mayStep) this.#step(what < 11 ? { undo: true } : { redo: true });
    else if (what < 18) this.#send(this.#server.others());
    else if (what < 26) this.#answer();
    else if (what < 37) for (let left = 1 + random.below(5); left > 0; left--) this.#arrive();
    else if (what < 39) this.#disturb();
    else if (this.#isConnected) this.#lose();
    if (!this.#isConnected && random.is(0.3)) this.#connect();
  }

  #edit(isExact) {
    const delta = this.#server.edit(this.#machine.replica.view);
    this.#step({ edit: json.deltaTo(delta), ...(isExact && { exact: true }) });
  }

  /** What is rare. */
  #disturb() {
    const random = this.#random;
    const { replica } = this.#machine;
    const sequence = replica.inFlight?.sequence;
    switch (random.below(6)) {
      case 0:
        if (!this.#isConnected) this.#server.restore();
        return;
      case 1:
        // Another program has the client id.
        if (sequence !== undefined && sequence > this.#server.last) {
          this.#server.last = sequence;
          this.#server.isLastRefused = false;
          this.#send(this.#server.others(1, sequence));
        }
        return;
      case 2:
        return this.#push({ type: "renamed", list: number, name: random.pick(["list", "other"]) });
      case 3:
        if (this.#isConnected) this.#sendSubscribed(this.#machine.lastRequest, true);
        return;
      case 4:
        return this.#push({
          type: "error", code: ERRORS.indexOf("notSubscribed"), request: 0, list: number, retryAfter: 0, message: "",
        });
      default:
        if (sequence !== undefined) {
          this.#push({
            type: "acknowledged", list: number, sequence,
            revision: random.pick([0, replica.revision, replica.revision + 1]),
          });
        }
    }
  }

  #connect() {
    this.#isConnected = true;
    this.#step({ connected: true });
    const program = "";
    this.#hear({
      type: "welcome", version: 5, capabilities: 0, author: 1, idleDeadline: 45000, frameBytes: 8388608, program,
    });
  }

  #lose() {
    this.#isConnected = false;
    this.#down = [];
    // What was on the way may arrive all the same.
    if (this.#random.is(0.5)) {
      for (const submission of this.#up) if (submission.type === "submit") this.#server.decide(submission);
    }
    this.#up = [];
    this.#step({ lost: true });
  }

  /** The server reads one message of the client. */
  #answer() {
    const message = this.#up.shift();
    if (!message) return;
    if (message.type === "subscribe") return this.#sendSubscribed(message.request, false, message);
    if (message.type !== "submit") return;
    const answer = this.#server.decide(message);
    if ("delta" in answer) this.#send(answer);
    else this.#push(answer);
  }

  /** @param {number} request @param {boolean} isSnapshot @param {any} [wanted] */
  #sendSubscribed(request, isSnapshot, wanted) {
    const { log, list, revision, last, isLastRefused, lists } = this.#server;
    const resumes = !isSnapshot && wanted.logID === log && wanted.revision <= revision && this.#random.is(0.7);
    const start = resumes
      ? { resumed: { head: revision, digest: list.digest } }
      : { snapshot: { revision, count: list.count, digest: list.digest } };
    this.#push({
      type: "subscribed", request, list: number, logID: log, rules, lastSequence: last, isLastRefused, start,
    });
    if (resumes) for (const commit of this.#server.commits.slice(wanted.revision)) this.#send(commit);
    else if (list.count > 0) {
      const items = [...lists[revision]];
      const half = this.#random.below(items.length);
      for (const part of [items.slice(0, half), items.slice(half)]) {
        if (part.length > 0) this.#push({ type: "chunk", request, items: part });
      }
    }
    if (wanted?.name === "") this.#push({ type: "renamed", list: number, name: "list" });
  }

  #send(commit) {
    this.#push({ type: "commit", list: number, commit });
  }

  #push(message) {
    if (this.#isConnected) this.#down.push(message);
  }

  /** The next message arrives. */
  #arrive() {
    const message = this.#down.shift();
    if (message) this.#hear(message);
  }

  #hear(message) {
    const frame = json.hexOf(framed(encodeDown(message)));
    this.#step({ frame, message: message.type, fields: json.fieldsTo(message) });
  }

  #step(step) {
    this.steps.push(step);
    const { sent, told, out } = this.#machine.happens(step);
    this.#up.push(...sent);
    this.answers.push({ out, view: this.#machine.replica.view.digest, told });
    if (told.some(({ disconnected }) => disconnected)) {
      this.#isConnected = false;
      this.#down = [];
      this.#up = [];
    }
  }
}
