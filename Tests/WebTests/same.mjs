// Whether two values are the same, in Node and in browsers.

const isObject = value => typeof value === "object" && value !== null;
const kindOf = value => (isObject(value) ? Object.getPrototypeOf(value) : undefined);
const shown = value => String(JSON.stringify(value) ?? value).slice(0, 300);

/** Throws, and says where they differ, unless two values are the same all the way down. */
export function same(found, expected, where = "") {
  if (Object.is(found, expected)) return;
  if (!isObject(found) || !isObject(expected) || kindOf(found) !== kindOf(expected)) differ(found, expected, where);
  const keys = Object.keys(found);
  const isAlike = keys.length === Object.keys(expected).length && keys.every(key => key in expected);
  if (!isAlike) differ(found, expected, where);
  for (const key of keys) same(found[key], expected[key], `${where}.${key}`);
}

export function isTrue(condition, what) {
  if (!condition) throw new Error(what);
}

/** Throws unless something fails. */
export function fails(action) {
  let result;
  try {
    result = action();
  } catch {
    return;
  }
  throw new Error(`${shown(result)} instead of an error`);
}

function differ(found, expected, where) {
  throw new Error(`${where}: ${shown(found)} instead of ${shown(expected)}`);
}
