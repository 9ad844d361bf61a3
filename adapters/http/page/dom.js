/**
 * Elements from plain data. Text is only ever set as text: nothing here reads markup.
 *
 * @module
 */

/**
 * @typedef {{ class?: string, text?: string, on?: Record<string, (event: any) => void>, [attribute: string]: unknown }} Attributes
 */

/**
 * Makes an element. `class` and `text` are set as such, `on` holds listeners, all else are attributes; `false` and
 * `undefined` leave one out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  const { class: className, text, on = {}, ...others } = attributes;
  if (className !== undefined) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [type, listener] of Object.entries(on)) element.addEventListener(type, listener);
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/**
 * The element with that id.
 *
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  return /** @type {Kind} */ (document.getElementById(id));
}

/**
 * Sets text only where it differs: a live region that is set again is read again, and layout is done again.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Has a screen reader say something.
 *
 * @param {string} text
 */
export function announce(text) {
  byId("announcer").textContent = text;
}
