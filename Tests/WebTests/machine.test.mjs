// Every vector of the client's machine, with undo and with what people are told.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Machine } from "./machine.mjs";

const lines = readFileSync(new URL("../Data/Vectors/machine.jsonl", import.meta.url), "utf8").trim().split("\n");

test(`machine: ${lines.length} vectors`, async t => {
  for (const line of lines) {
    const vector = JSON.parse(line);
    await t.test(vector.name, () => {
      const machine = new Machine();
      const steps = vector.steps.map(step => machine.step(step));
      for (const [i, step] of steps.entries()) assert.deepEqual(step, vector.expect.steps[i], `step ${i + 1}`);
    });
  }
});
