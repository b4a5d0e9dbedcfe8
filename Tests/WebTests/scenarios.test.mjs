// Random scenarios of the machine, in which the Python of the protocol's page does the same at each step.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Python, hasPython } from "./python.mjs";
import { Random, seed, times } from "./random.mjs";
import { Scenario } from "./scenario.mjs";

const count = Math.round(200 * times);

test(`${count} scenarios from seed ${seed}`, { skip: !hasPython && "there is no python3" }, async t => {
  const python = new Python();
  t.after(() => python.close());
  for (let i = 0; i < count; i++) {
    const { steps, answers } = new Scenario(new Random(seed + i));
    const [{ steps: expected, error }] = await python.ask([{ law: "machine", steps }]);
    assert.equal(error, undefined, `seed ${seed + i}`);
    for (const [j, answer] of answers.entries()) {
      const past = () => `seed ${seed + i}, step ${j + 1}: ${JSON.stringify(steps.slice(0, j + 1))}`;
      assert.deepEqual({ ...answer, out: answer.out.map(short) }, { ...expected[j], out: expected[j].out.map(short) }, past());
    }
  }
});

/** A message with the fields that the machine of the page names. */
function short({ message, fields: { wantsItems, wantsPeople, ...fields } }) {
  return { message, fields };
}
