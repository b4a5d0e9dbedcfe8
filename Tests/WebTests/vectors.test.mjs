// The vectors in Node.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkFile, files } from "./vectors.mjs";

for (const file of files) {
  const { count, faults } = checkFile(readFileSync(new URL(`../Data/Vectors/${file}.jsonl`, import.meta.url), "utf8"));
  test(`${file}: ${count} vectors`, () => assert.deepEqual(faults, []));
}
