// Three tabs of one device and the real server, with everything that happens to tabs: each edit that was in the storage
// is in the list in the end, once, and all see the same list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Own } from "../../Sources/Web/client/own.js";
import { needsServer } from "./host.mjs";
import { Random, seed, times } from "./random.mjs";
import { World } from "./world.mjs";

const runs = Math.ceil(150 * times);

test(`${runs} devices, from seed ${seed}`, needsServer, () => {
  for (let i = 0; i < runs; i++) {
    const random = new Random(seed + i);
    try {
      live(random);
    } catch (error) {
      throw new Error(`HAND_SEED=${seed + i}: ${error.stack}`);
    }
  }
});

test("devices that lost edits once lose none", needsServer, () => {
  for (const seed of [296993351, 397026295]) live(new Random(seed));
});

test("a tab whose lock another one had stops if its next write fails, and only then, under whichever name", () => {
  const stoppedAfter = (events, hasStored = true) => {
    const own = new Own({ person: "ada" }, { draw: () => "id", chance: () => 0.5 }, { join() {} }, { lookAt() {} }, {
      push() {},
      line: () => ({
        isUnsafe: false, hasStored, wrote() {}, change() {}, run: body => body({ pause() {}, introduce() {} }),
      }),
    });
    own.becomeNew();
    for (const [time, event] of events.entries()) {
      if (event === "renamed") own.introduce("eve", time);
      else if (["stored", "failed"].includes(event)) own.wrote(time, event, time);
      else own.locked(event, time);
    }
    return own.stopped;
  };
  assert.equal(stoppedAfter([false, "failed"]), "taken");
  assert.equal(stoppedAfter(["again", "failed"]), "taken");
  assert.equal(stoppedAfter([false, "failed", "renamed"]), "taken");
  assert.equal(stoppedAfter([false, "stored", "failed"]), "");
  assert.equal(stoppedAfter([true, "failed"]), "");
  // Without a storage, there is nothing that another tab could have taken.
  assert.equal(stoppedAfter(["again", "failed"], false), "");
});

function live(random) {
  const world = new World(random);
  for (let left = 3; left > 0; left--) world.open();
  for (let left = 600; left > 0; left--) {
    world.step();
    if (left % 20 === 0) world.checkKept();
  }
  world.settle();
  return world.judge();
}
