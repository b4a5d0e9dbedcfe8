import { DeltaBuilder } from "../../Sources/Web/client/components.js";

/** Deletes some runs, and changes nothing else. @param {readonly (readonly [from: number, to: number])[]} runs */
export function deleting(runs) {
  const builder = new DeltaBuilder();
  let end = 0;
  for (const [from, to] of runs) {
    builder.keep(from - end);
    builder.delete(to - from);
    end = to;
  }
  return builder.finish();
}
