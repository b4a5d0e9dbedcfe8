// What is told, as the vectors have it.

import { textOf } from "../../Sources/Web/bytes.js";

/** A loss in the form of `superseded`. */
export function lostTo(lost) {
  const json = { ...lost };
  for (const name of ["original", "words", "present"]) if (json[name]) json[name] = textOf(json[name]);
  return json;
}
