// What is told, as the vectors have it.

import { textOf } from "../../Sources/Web/client/bytes.js";
import { REASONS } from "../../Sources/Web/client/messages.js";

/** A loss in the form of `superseded`. */
export function lostTo(lost) {
  const json = { ...lost };
  for (const name of ["original", "words", "present"]) if (json[name]) json[name] = textOf(json[name]);
  return json;
}

/** What people are told. */
export function toldTo(told) {
  switch (told.type) {
    case "committed":
      return { committed: told.sequence, revision: told.revision };
    case "rejected":
      return { rejected: REASONS[told.reason] };
    case "overridden":
      return { overridden: told.item, ...lostTo(told.lost), author: told.author, revision: told.revision };
    case "kept": {
      const { item, ...words } = told.words;
      return { kept: item, lost: "words", ...lostTo(words) };
    }
    case "usedTwice":
      return { usedTwice: told.revision };
    case "diverged":
      return { diverged: told.revision };
    case "restored":
      return { restored: told.gone.length };
    case "renamed":
      return { renamed: told.name };
    case "ended":
      return { ended: told.reason };
    default:
      return { disconnected: true };
  }
}
