// Where one is in the page, as the fragment of its address: no server and no log sees a fragment. It is pure.

/**
 * Without a list: the lists. A token is only in the address of a link, and is taken out of it at once.
 * @typedef {{ list?: string, view?: "history", token?: string }} Route
 */

/**
 * @param {string} fragment with or without its `#`
 * @returns {Route}
 */
export function routeOf(fragment) {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  const list = values.get("list")?.normalize("NFC") || undefined;
  const token = values.get("token") || undefined;
  return { list, token, view: list && values.has("history") ? "history" : undefined };
}

/**
 * @param {Route} route
 * @returns {string} with its `#`
 */
export function fragmentOf({ list, view }) {
  if (list === undefined) return "#";
  return `#list=${encodeURIComponent(list)}${view ? `&${view}` : ""}`;
}
