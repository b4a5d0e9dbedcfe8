// Elements. A text that somebody wrote is only ever the text of an element.

/** @typedef {Node | string | false | undefined} Child */

/**
 * A new element: `on...` are its listeners, `class` and names with a hyphen its attributes, all others its properties.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} [properties] @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name.includes("-")) setAttribute(element, name, value);
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...shown(children));
  return element;
}

/**
 * An attribute has a value, or is not there.
 * @param {Element} element @param {string} name @param {string | number | boolean | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, String(value));
  }
}

/** @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren(...shown(children));
}

/** @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A button with a name.
 * @param {string} text @param {() => void} onclick @param {Record<string, any>} [properties]
 */
export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

/**
 * A button with a sign, whose name is only heard, and shown when one points at it.
 * @param {string} sign @param {string} name @param {() => void} onclick @param {Record<string, any>} [properties]
 */
export function signButton(sign, name, onclick, properties = {}) {
  return button(sign, onclick, { "aria-label": name, title: name, class: "sign", ...properties });
}

const growsItself = globalThis.CSS?.supports("field-sizing", "content");

/**
 * A field is as high as its text.
 * @param {HTMLTextAreaElement} field
 */
export function fitHeight(field) {
  if (growsItself) return;
  const { style } = field;
  style.height = "auto";
  style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function shown(children) {
  return /** @type {(Node | string)[]} */ (children.filter(child => child !== undefined && child !== false));
}
