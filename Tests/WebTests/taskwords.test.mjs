// The words of a text that name people and days.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf, isNamed, partsOf } from "../../Sources/Web/view/taskwords.js";

const words = text => partsOf(text).flatMap(({ person, due }) => (person ? [`@${person}`] : due ? [due] : []));

test("names and days are found", () => {
  assert.deepEqual(words("call @bob due:2026-12-01"), ["@bob", "2026-12-01"]);
  assert.deepEqual(words("(@bob, @eve): due:2026-12-01."), ["@bob", "@eve", "2026-12-01"]);
  assert.deepEqual(
    words("mail a@b.example @ @a@b due:2026-13-01 due:2025-02-29 due:tomorrow xdue:2026-12-01 due:2026-12-01x"),
    [],
  );
  assert.deepEqual(words("due:2024-02-29"), ["2024-02-29"]);
  assert.deepEqual(words("pay (due:2026-12-01) ((due:2026-12-02), due:(2026-12-03) due:2026-12-04("),
    ["2026-12-01", "2026-12-02"]);
});

test("the pieces are the text", () => {
  const dates = ["due:2026-12-01", "((due:2026-12-01)"];
  const texts = ["", " ", "@bob", "a  @bob,\n\tdue:2026-12-01!! b", "(@x)", "@ due: x", ...dates];
  for (const text of texts) {
    assert.equal(partsOf(text).map(part => part.text).join(""), text);
  }
});

test("a name of several words is one word", () => {
  assert.ok(isNamed("Ada Lovelace", "milk (@ada_lovelace)"));
  assert.ok(!isNamed("Ada", "milk @ada_lovelace"));
  assert.ok(!isNamed("", "milk @"));
  assert.ok(isNamed("(guest) Ada", "milk @ada") && !isNamed("(guest) Ada", "milk @(guest)"));
});

test("a day is where the device is", () => assert.equal(dayOf(new Date(2026, 0, 5, 23, 59)), "2026-01-05"));
