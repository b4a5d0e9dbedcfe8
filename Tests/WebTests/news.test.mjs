// What others do in a list, as a screen reader tells it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../Sources/Web/client/delta.js";
import { Company } from "../../Sources/Web/view/news.js";
import { appended, begun, note } from "./live.mjs";

test("while one types, what others do waits to be told, and the oldest of it is forgotten", async () => {
  globalThis.document = { hidden: false };
  const replica = begun(note(1, "milk"));
  let [words, asked] = [() => "", 0];
  const app = { speech: { tell: told => (words = told) }, nameOf: async () => (asked++, "Bob") };
  const company = new Company(app, { replica }, {});
  for (let revision = 4; revision < 1004; revision++) {
    const { count } = replica.confirmed;
    const delta = count > 10 ? [{ op: "delete", count: 1 }] : appended(count, note(revision % 250, "x"));
    replica.follow({ revision, author: 2, delta }, apply(replica.confirmed, delta), 1);
    company.hear();
  }
  assert.match(await words(), /^Bob /);
  assert.equal(asked, 200);
});
