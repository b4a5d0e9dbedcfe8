// A small server with one list, for tests of programs: it keeps to section 7 of the protocol's page as far as they ask.

import { apply } from "../../Sources/Web/client/delta.js";
import { ERRORS } from "../../Sources/Web/client/messages.js";
import { List } from "../../Sources/Web/client/list.js";
import { transform } from "../../Sources/Web/client/transform.js";

const number = 7;
const rules = { maximumCount: 0x7fffffff, maximumSize: 16384, maximumLevel: 15, deck: false };

export class SmallServer {
  #authors = new Map();
  #clients = new Map();
  #commits = [];
  #lists = [List.empty];
  log = "0000000200000005";
  /** The ids of items that somebody has deleted. */
  deleted = new Set();

  constructor(items) {
    this.#commit(1000, 1, 0, [{ op: "insert", items, side: "after" }]);
  }

  get list() {
    return this.#lists.at(-1);
  }

  get revision() {
    return this.#commits.length;
  }

  authorOf(client) {
    if (!this.#authors.has(client)) this.#authors.set(client, this.#authors.size + 1);
    return this.#authors.get(client);
  }

  /** The answers to a subscription. */
  subscribe(client, { request, logID, revision, wants }, isSnapshot) {
    const { last = 0, isLastRefused = false } = this.#clients.get(client) ?? {};
    const { list, log } = this;
    const resumes = !isSnapshot && logID === log && revision <= this.revision;
    const start = resumes
      ? { resumed: { head: this.revision, digest: list.digest } }
      : wants & 1 ? { snapshot: { revision: this.revision, count: list.count, digest: list.digest } } : {
        newest: this.revision,
      };
    const answers = [
      { type: "subscribed", request, list: number, logID: log, rules, lastSequence: last, isLastRefused, start },
    ];
    if (resumes) {
      for (const commit of this.#commits.slice(revision)) answers.push({ type: "commit", list: number, commit });
    }
    else if (wants & 1 && list.count > 0) answers.push({ type: "chunk", request, items: [...list] });
    return answers;
  }

  /** The answers to a fetch. */
  fetch({ request, revision = this.revision }) {
    const list = this.#lists[revision];
    if (!list) {
      return [{ type: "error", code: ERRORS.indexOf("noSuchRevision"), request, list: 0, retryAfter: 0, message: "" }];
    }
    const answers = [{ type: "state", request, revision, count: list.count, digest: list.digest, rules }];
    return list.count > 0 ? [...answers, { type: "chunk", request, items: [...list] }] : answers;
  }

  /** The answer to a submission: a commit, or another message. */
  submit(client, { base, sequence, how, delta }) {
    const { last = 0 } = this.#clients.get(client) ?? {};
    const author = this.authorOf(client);
    if (sequence <= last) {
      const commit = this.#commits.find(commit => commit.author === author && commit.sequence === sequence);
      return { type: "acknowledged", list: number, sequence, revision: sequence === last ? commit.revision : 0 };
    }
    this.#clients.set(client, { last: sequence, isLastRefused: false });
    return this.#commit(author, sequence, Math.max(0, base - Math.max(0, how - 1)), this.#carried(delta, base));
  }

  /** Somebody else's edit. */
  others(random) {
    const delta = random.delta(this.list, 0.2, [2]);
    this.#commit(1000, 1 + this.revision, this.revision, delta);
  }

  #carried(delta, base) {
    for (const commit of this.#commits.slice(base)) delta = transform(delta, commit.delta, true);
    return delta;
  }

  #commit(author, sequence, base, delta) {
    const list = apply(this.list, delta);
    const ids = new Set([...list].map(({ id }) => id));
    for (const { id } of this.list) if (!ids.has(id)) this.deleted.add(id);
    const commit = {
      revision: this.revision + 1, author, sequence, base, time: 0, count: list.count, digest: list.digest, delta,
    };
    this.#commits.push(commit);
    this.#lists.push(list);
    return commit;
  }
}
