// The text that is being edited in this tab, for when the tab is loaded again. Another tab has another one: if two tabs
// went on with the same words, both would save them.

/** @typedef {{ id: string, kept: [base: string, text: string] }} Unsaved of an item */

/** @param {string} list */
const keyOf = list => `unsaved ${list}`;

/**
 * @param {string} list
 * @returns {Unsaved | undefined}
 */
export function unsavedIn(list) {
  try {
    const { id, kept } = JSON.parse(sessionStorage.getItem(keyOf(list)) ?? "{}");
    if (typeof id === "string" && Array.isArray(kept) && kept.every(text => typeof text === "string")) {
      return { id, kept: [kept[0], kept[1]] };
    }
  } catch {
    // There may be no storage, and what is in it may be anything.
  }
  return undefined;
}

/** @param {string} list @param {Unsaved | undefined} unsaved */
export function keepUnsaved(list, unsaved) {
  try {
    if (unsaved) sessionStorage.setItem(keyOf(list), JSON.stringify(unsaved));
    else sessionStorage.removeItem(keyOf(list));
  } catch {
    // Then a reload loses it.
  }
}
