// The laws in Node.

import { test } from "node:test";
import { laws } from "./laws.mjs";
import { seed, times } from "./random.mjs";

for (const { name, count, check } of laws) {
  test(`${name}: ${Math.ceil(count * times)} times from seed ${seed}`, () => check(seed, times));
}
