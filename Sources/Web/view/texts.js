// Texts as people compare them: neither case nor the composition of letters matters. The program does the same.

/**
 * A text in lower case, decomposed. A run of marks is put in order in parts: all at once would take quadratic time.
 * @param {string} text
 */
export function folded(text) {
  const lower = text.toLowerCase();
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  return lower.replace(/(\p{M}{30})(?=\p{M})/gu, "$1\u034f").normalize("NFD").replaceAll("ς", "σ");
}

/**
 * A key whose order is that of texts for people: neither case nor accents matter, and numbers count as numbers.
 * @param {string} text
 */
export function orderKey(text) {
  // A longer number is greater.
  return folded(text).replace(/[\p{Mn}\u034f]/gu, "").replace(/[0-9]+/g, digits => {
    const number = digits.replace(/^0+/, "");
    return "0" + String.fromCharCode(Math.min(number.length, 0x7f)) + number;
  });
}

/**
 * The order of two keys by code points, as of their bytes.
 * @param {string} a @param {string} b
 */
export function compareKeys(a, b) {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === end) return a.length - b.length;
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
  // Surrogates stand for code points above all others.
  const rank = (/** @type {number} */ unit) => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
  return rank(x) - rank(y);
}
