// Random questions, answered as the programs in Python of the protocol's page answer them.

import { test } from "node:test";
import { Python, hasPython } from "./python.mjs";
import { aboutTheAlgebra, aboutTheMachine } from "./questions.mjs";
import { seed, times } from "./random.mjs";

for (const [count, question, what] of [[1000, aboutTheAlgebra, "the algebra"], [200, aboutTheMachine, "the machine"]]) {
  const all = Math.round(count * times);
  test(`${all} questions about ${what} from seed ${seed}`, { skip: !hasPython && "there is no python3" }, async t => {
    const python = new Python();
    t.after(() => python.close());
    // Once, they did not agree on the first one.
    const seeds = [480713291, ...Array.from({ length: all }, (_, i) => seed + i)];
    for (const seed of seeds) await python.agrees(question(seed), `seed ${seed}`);
  });
}
