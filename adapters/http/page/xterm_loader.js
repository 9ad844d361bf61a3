/**
 * Loads xterm.js, and lets it style itself under a policy that allows no styles but those of files.
 *
 * xterm.js makes `<style>` elements and sets `style` attributes, which `style-src 'self'` forbids. What a script puts in
 * a constructed style sheet or in `element.style` is allowed. So once xterm.js is loaded, the document's new elements
 * do the same by those ways. (Its `documentOverride` would be the place for that, but parts of it do not ask for it.)
 *
 * @module
 */

/**
 * @typedef {object} Xterm
 * @property {typeof import("@xterm/xterm").Terminal} Terminal
 * @property {typeof import("@xterm/addon-fit").FitAddon} FitAddon
 * @property {typeof import("@xterm/addon-search").SearchAddon} SearchAddon
 */

/** @type {Promise<Xterm> | undefined} */
let loading;

/**
 * @returns {Promise<Xterm>}
 * @throws {Error} that says which package the server lacks
 */
export function loadXterm() {
  return loading ??= Promise.all(["xterm", "addon-fit", "addon-search"].map(load)).then((parts) => {
    document.createElement = /** @type {typeof document.createElement} */ (styleableElement);
    return Object.assign({}, ...parts);
  }).catch((error) => {
    loading = undefined; // it may be there the next time
    throw error;
  });
}

/** @param {string} name */
async function load(name) {
  const url = new URL(`./${name}.mjs`, import.meta.url);
  try {
    return { ...await import(url.href) };
  } catch (error) {
    const answer = await fetch(url).then((response) => response.ok ? undefined : response.json()).catch(() =>
      undefined
    );
    const refusal = answer?.error;
    throw refusal === undefined ? error : new Error(`${refusal.message}. To see output on this page: ${refusal.hint}`);
  }
}

const plainElement = document.createElement.bind(document);

/**
 * Makes an element that styles itself in a way the policy allows.
 *
 * @param {string} tag
 */
function styleableElement(tag) {
  if (tag === "style") return constructedStyle();
  const element = plainElement(tag);
  element.setAttribute = (name, value) => {
    if (name === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

/** Stands where xterm.js puts a `<style>`; its text is a style sheet of the document as long as it is not removed. */
function constructedStyle() {
  const sheet = new CSSStyleSheet();
  const element = plainElement("template");
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", {
    set: (/** @type {string} */ css) => sheet.replaceSync(css),
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
