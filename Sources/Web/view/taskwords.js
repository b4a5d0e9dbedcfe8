// The words of a text that say who does a task and when it is due, as todo.txt writes them: `@bob`, `due:2026-12-01`.
// They are the words that `hand open` colours. It is pure.

/** @typedef {{ text: string, person?: string, due?: string }} Part a piece of a text: plain, or one of these words */

const PUNCTUATION = /[.,;:!?)]/;

/**
 * A text in pieces, which are the text if they are put together again. O(text)
 * @param {string} text
 * @returns {Part[]}
 */
export function partsOf(text) {
  // Nearly all texts have neither.
  if (!text.includes("@") && !text.includes("due:")) return [{ text }];
  /** @type {Part[]} */
  const parts = [];
  let plain = "";
  for (const token of text.split(/([ \t\n\v\f\r]+)/)) {
    const word = wordOf(token);
    if (!word) {
      plain += token;
      continue;
    }
    const start = plain + token.slice(0, word.from);
    if (start !== "") parts.push({ text: start });
    parts.push(word.part);
    plain = token.slice(word.from + word.part.text.length);
  }
  if (plain !== "") parts.push({ text: plain });
  return parts;
}

/**
 * Whether a text names a person: `@ada_lovelace` names Ada Lovelace, also if nobody vouches for that name.
 * @param {string} name @param {string} text
 */
export function isNamed(name, text) {
  if (name === "" || !text.includes("@")) return false;
  const word = name.replace(/^\(guest\) /, "").split(/\s+/).filter(part => part !== "").join("_").toLowerCase();
  return partsOf(text).some(({ person }) => person?.toLowerCase() === word);
}

/**
 * A day as `2026-12-01`, where the device is. Days in this form are ordered as texts.
 * @param {Date} date
 */
export function dayOf(date) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * @param {string} token
 * @returns {{ from: number, part: Part } | undefined}
 */
function wordOf(token) {
  let [from, to] = [0, token.length];
  while (token[from] === "(") from++;
  if (token.startsWith("due:", from)) {
    const [day, rest] = [token.slice(from + 4, from + 14), token.slice(from + 14)];
    if (!isDay(day) || ![...rest].every(character => PUNCTUATION.test(character))) return undefined;
    return { from, part: { text: `due:${day}`, due: day } };
  }
  while (to > from && PUNCTUATION.test(token[to - 1])) to--;
  const name = token.slice(from + 1, to);
  if (token[from] !== "@" || name === "" || name.includes("@")) return undefined;
  return { from, part: { text: `@${name}`, person: name } };
}

/** @param {string} text whether it is a day of a calendar */
function isDay(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const [year, month, day] = text.split("-").map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}
