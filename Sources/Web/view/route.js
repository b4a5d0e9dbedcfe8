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
  // Words may stand behind a link that is copied.
  const token = values.get("token")?.split(/\s/)[0] || undefined;
  return { list, token, view: list && values.has("history") ? "history" : undefined };
}

/**
 * A link that somebody was given. What it holds is for its own server only.
 * @param {string} text @param {string} host of this page's server
 * @returns {Route | string} why it cannot be opened here
 */
export function linkOf(text, host) {
  const [, scheme, its] = /^([a-z][a-z+]*):\/\/([^/#?]*)/i.exec(text) ?? [];
  if (scheme && !/^https?$/i.test(scheme)) {
    return `A link that begins with ${scheme}: is for a terminal. The other one is for browsers; it begins with http.`;
  }
  const route = routeOf(text.slice(text.indexOf("#")));
  if (!text.includes("#") || !route.list) return "That is no link to a list.";
  if (its && its.toLowerCase() !== host) return `This link is for ${its}: put it into the address bar of the browser.`;
  return route;
}

/**
 * @param {Route} route
 * @returns {string} with its `#`
 */
export function fragmentOf({ list, view }) {
  if (list === undefined) return "#";
  return `#list=${encodeURIComponent(list)}${view ? `&${view}` : ""}`;
}
