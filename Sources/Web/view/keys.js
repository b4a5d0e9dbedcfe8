// The keys of a list, those of `hand open`, and what they do. The help is made of this table.

/** @typedef {keyof typeof ACTIONS} ActionName */

/** The setting that letters without ctrl or alt do nothing. */
export const NO_LETTERS = "no letters";

/** What each action is called, and its keys: `alt+` and `ctrl+` stand in front of a key's name. */
export const ACTIONS = {
  down: ["one row down", "j", "ArrowDown"],
  up: ["one row up", "k", "ArrowUp"],
  top: ["to the top", "Home", "g"],
  end: ["to the end", "End", "G"],
  pageDown: ["a page down", "PageDown"],
  pageUp: ["a page up", "PageUp"],
  open: ["the item, and all that one can do with it", "Enter", "l"],
  add: ["add items at the end", "a"],
  addBelow: ["add items below", "o"],
  addAbove: ["add items above", "O"],
  edit: ["edit the text; shift-enter breaks the line", "e", "i", "F2"],
  editAddress: ["edit a link's address", "E"],
  tick: ["tick or untick", " "],
  deal: ["deal a card", "c"],
  delete: ["delete; what is folded goes, too", "d", "Delete"],
  deleteBranch: ["delete with the sub-items", "D"],
  moveUp: ["move up", "K", "alt+ArrowUp"],
  moveDown: ["move down", "J", "alt+ArrowDown"],
  moveTop: ["move to the top", "t"],
  moveEnd: ["move to the end", "b"],
  moveTo: ["move to a number", ":"],
  indent: ["one level further in", ">", "alt+ArrowRight"],
  outdent: ["one level further out", "<", "alt+ArrowLeft"],
  fold: ["fold or unfold the sub-items", "z"],
  foldAll: ["fold everything, or unfold everything", "Z"],
  range: ["start or end selecting a range", "v"],
  selectDown: ["select downwards", "shift+ArrowDown"],
  selectUp: ["select upwards", "shift+ArrowUp"],
  pick: ["select items one by one: space selects, escape ends it", "V"],
  selectAll: ["select everything", "ctrl+a"],
  cut: ["cut, to paste here or in another list", "x"],
  copy: ["copy", "y"],
  paste: ["paste below", "p"],
  undo: ["undo your last edit", "u", "ctrl+z"],
  redo: ["redo", "U", "ctrl+y", "ctrl+shift+z"],
  sort: ["sort by text or ticks", "="],
  untickAll: ["untick all ticked tasks", "X"],
  clearTicked: ["delete all ticked tasks", "S"],
  hideTicked: ["hide ticked tasks, or show them", "s"],
  tickedLast: ["show ticked tasks last, or in their places", "B"],
  mine: ["show only tasks that name you, as @name", "@"],
  filter: ["show only what contains a text", "/"],
  nextNew: ["to the next item that others have changed", "n"],
  previousNew: ["to the previous one", "N"],
  toList: ["move to another list", "m"],
  copyToList: ["copy to another list", "M"],
  history: ["who changed what, and when", "H"],
  people: ["who is here", "w"],
  notices: ["what was overridden or not taken", "!"],
  share: ["the list's address for others", "L"],
  connection: ["the connection, and what waits for it", "C"],
  help: ["these keys", "?", "F1"],
  back: ["back; leave off what was begun", "Escape", "q", "h"],
};

/** @type {Map<string, ActionName>} */
const BY_KEY = new Map();
for (const [name, [, ...keys]] of Object.entries(ACTIONS)) {
  for (const key of keys) BY_KEY.set(key, /** @type {ActionName} */ (name));
}
/** Actions that change the list need a role: 2 may add, 3 may change. */
const ADDING = ["add", "addBelow", "addAbove", "deal", "paste"];
const CHANGING = [
  "edit", "editAddress", "tick", "delete", "deleteBranch", "moveUp", "moveDown", "moveTop", "moveEnd", "moveTo",
  "indent", "outdent", "cut", "undo", "redo", "sort", "untickAll", "clearTicked", "toList",
];

/**
 * The role that an action needs.
 * @param {string} action
 */
export function roleFor(action) {
  return CHANGING.includes(action) ? 3 : ADDING.includes(action) ? 2 : 0;
}

/**
 * What a key does, if anything.
 * @param {KeyboardEvent} event
 */
export function actionOf(event) {
  const { key, altKey, shiftKey } = event;
  const isCommand = event.ctrlKey || event.metaKey;
  // Capitals come with shift by themselves.
  const isShifted = shiftKey && (key.length > 1 || isCommand);
  const name = `${altKey ? "alt+" : ""}${isCommand ? "ctrl+" : ""}${isShifted ? "shift+" : ""}`;
  return BY_KEY.get(name + (isCommand ? key.toLowerCase() : key));
}

/**
 * The keys of an action, as one reads them.
 * @param {ActionName} action
 */
export function keysOf(action) {
  const names = new Map([
    [" ", "space"], ["ArrowUp", "↑"], ["ArrowDown", "↓"], ["ArrowLeft", "←"], ["ArrowRight", "→"], ["Escape", "esc"],
  ]);
  const read = (/** @type {string} */ key) => key.split(/(?<=.)\+/).map(part => names.get(part) ?? part).join("-");
  return ACTIONS[action].slice(1).map(read);
}
