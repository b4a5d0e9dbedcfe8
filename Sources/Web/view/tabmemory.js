// What a tab remembers until it is closed, also when its page is loaded again.

/**
 * What was remembered, which may be anything, or null.
 * @param {string} key
 * @returns {any}
 */
export function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} key @param {unknown} value nothing forgets it */
export function remember(key, value) {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // There may be no storage: then a reload loses it.
  }
}
