// @ts-check
/** Functions that make elements, and never turn text into markup. */

/** @param {string} id of an element that index.html has */
export function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * A new element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, any>} [properties] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const result = Object.assign(document.createElement(tag), properties);
  result.append(...children);
  return result;
}

/**
 * The content of a template of index.html.
 *
 * @param {string} id @returns {HTMLElement}
 */
export function fromTemplate(id) {
  const template = /** @type {HTMLTemplateElement} */ (part(id));
  return /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (document.importNode(template.content, true)).firstElementChild);
}

/**
 * @param {HTMLSelectElement} select @param {Record<string, string> | string[]} options values and their titles
 * @param {string} [chosen]
 */
export function fillSelect(select, options, chosen) {
  const pairs = Array.isArray(options) ? options.map((value) => [value, value]) : Object.entries(options);
  select.replaceChildren(...pairs.map(([value, title]) => new Option(title, value, value === chosen, value === chosen)));
}

/** Numbers in the form of the reader's locale. */
const numbers = new Intl.NumberFormat();

/** @param {number} number */
export function formatted(number) {
  return numbers.format(number);
}
