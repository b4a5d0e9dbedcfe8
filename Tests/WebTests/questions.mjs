// Random questions about the algebra and the machine, with the client's answers. It runs in browsers, too.

import { compose } from "../../Sources/Web/client/compose.js";
import { apply, invert, mapIndexes } from "../../Sources/Web/client/delta.js";
import { diff } from "../../Sources/Web/client/diff.js";
import { List } from "../../Sources/Web/client/list.js";
import { superseded } from "../../Sources/Web/client/superseded.js";
import { transform } from "../../Sources/Web/client/transform.js";
import { mapGap } from "./gaps.mjs";
import * as json from "./json.mjs";
import { Random } from "./random.mjs";
import { Scenario } from "./scenario.mjs";
import { lostTo } from "./told.mjs";

/** A question about the algebra, and the answer. */
export function aboutTheAlgebra(seed) {
  const random = new Random(seed);
  return random.pick(questions)(random);
}

/** A scenario of the machine, and what the client does at each step. */
export function aboutTheMachine(seed) {
  const { steps, answers } = new Scenario(new Random(seed));
  const named = answers.map(({ out, ...rest }) => ({ out: out.map(asThePageNamesIt), ...rest }));
  return { question: { law: "machine", steps }, answer: { steps: named } };
}

/** A message with the fields that the machine of the page names. */
function asThePageNamesIt({ message, fields: { wantsItems, wantsPeople, ...fields } }) {
  return { message, fields };
}

const questions = [
  function applied(random) {
    const list = random.list();
    const delta = random.delta(list);
    const result = apply(list, delta);
    const question = { law: "apply", list: json.listTo(list), delta: json.deltaTo(delta) };
    return { question, answer: { result: json.listTo(result), digest: result.digest } };
  },
  transformed,
  transformed,
  transformed,
  function composed(random) {
    const list = random.list();
    const first = random.delta(list);
    const second = random.delta(apply(list, first));
    const question = { law: "compose", first: json.deltaTo(first), second: json.deltaTo(second) };
    return { question, answer: { delta: json.deltaTo(compose(first, second)) } };
  },
  function inverted(random) {
    const list = random.list();
    const delta = random.delta(list);
    const question = { law: "invert", list: json.listTo(list), delta: json.deltaTo(delta) };
    return { question, answer: { inverse: json.deltaTo(invert(list, delta)) } };
  },
  function different(random) {
    const from = random.list();
    // Texts are cut at words by a table that differs between versions of Unicode, so that they do not change here.
    const kept = [...from].filter(() => random.is(0.8))
      .map(item => item.with({ ...item.fields(), level: random.below(3) }));
    const to = List.of([...kept, ...random.items(3)].sort(() => random.next() - 0.5));
    const question = { law: "diff", from: json.listTo(from), to: json.listTo(to) };
    return { question, answer: { delta: json.deltaTo(diff(from, to)) } };
  },
  function mapped(random) {
    const list = random.list();
    const delta = random.delta(list);
    const place = random.below(list.count + 2);
    const question = { law: "map", delta: json.deltaTo(delta) };
    if (random.is(0.5)) {
      return { question: { ...question, index: place }, answer: { index: mapIndexes(delta, [place])[0] ?? null } };
    }
    const side = random.side();
    return { question: { ...question, gap: place, side }, answer: { gap: mapGap(delta, place, side) } };
  },
];

function transformed(random) {
  const list = random.list();
  const [first, second] = [random.delta(list), random.delta(list)];
  const question = {
    law: "transform", list: json.listTo(list), first: json.deltaTo(first), second: json.deltaTo(second),
  };
  const answer = {
    first: json.deltaTo(transform(first, second, false)),
    second: json.deltaTo(transform(second, first, true)),
    superseded: superseded(list, first, second).map(lostTo),
  };
  return { question, answer };
}
