// @ts-check
/**
 * SVG elements, kept by name from one drawing to the next; and what tells series apart: colours, patterns, dashes,
 * marks.
 */

const namespace = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} children
 * @returns {SVGElement}
 */
export function shape(tag, attributes = {}, ...children) {
  const result = document.createElementNS(namespace, tag);
  set(result, attributes);
  result.append(...children);
  return result;
}

/** @param {Element} element @param {Record<string, string | number>} attributes */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/** Shapes of a group, by name. Shapes that are not drawn again are removed. */
export class Shapes {
  /** @type {Map<string, SVGElement>} */
  #kept = new Map();
  /** @type {Set<string>} */
  #drawn = new Set();

  /** @param {SVGElement} group */
  constructor(group) {
    this.group = group;
  }

  /**
   * @param {string} name @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text]
   */
  draw(name, tag, attributes, text) {
    let element = this.#kept.get(name);
    if (!element) {
      element = shape(tag);
      this.#kept.set(name, element);
      this.group.append(element);
    }
    this.#drawn.add(name);
    set(element, attributes);
    if (text !== undefined && element.textContent !== text) element.textContent = text;
    return element;
  }

  /** Ends a drawing: removes the shapes that were not drawn. */
  end() {
    for (const [name, element] of this.#kept) {
      if (this.#drawn.has(name)) continue;
      element.remove();
      this.#kept.delete(name);
    }
    this.#drawn.clear();
  }
}

/** @param {number} series */
export function colourOf(series) {
  return `var(--chart-${series + 1})`;
}

/** Hatching over the colour of each series: paths in a pattern of 8 by 8 pixels. */
const hatchings = [
  "", "M0 8L8 0M-2 2L2 -2M6 10L10 6", "M2 2h2v2h-2zM6 6h2v2h-2z", "M0 4h8", "M4 0v8", "M0 0L8 8M-2 6L2 10M6 -2L10 2", "M0 4h8M4 0v8", "M0 0L8 8M0 8L8 0",
];
const dashes = ["", "7 4", "2 3", "11 4 2 4", "5 2", "1 4", "9 3 3 3", "3 6"];

/** @param {number} series */
export function dashOf(series) {
  return dashes[series % dashes.length];
}

/** @param {string} id of the chart @param {number} series @returns {string} what to fill with */
export function fillOf(id, series) {
  return hatchings[series] ? `url(#${id}-${series})` : colourOf(series);
}

/** @param {string} id @param {number} count of series @returns {SVGElement} their patterns */
export function patterns(id, count) {
  return shape("defs", {}, ...hatchings.slice(0, count).flatMap((hatching, index) => (hatching ? [shape("pattern",
    { id: `${id}-${index}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, shape("rect", { width: 8, height: 8, fill: colourOf(index) }),
    shape("path", { d: hatching, class: "chart-hatching" }))] : [])));
}

/**
 * Marks of the points of a line: circle, square, triangle, diamond.
 *
 * @type {((x: number, y: number) => string)[]}
 */
const marks = [
  (x, y) => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`, (x, y) => `M${x - 3} ${y - 3}h6v6h-6z`,
  (x, y) => `M${x} ${y - 4}L${x + 4} ${y + 3}h-8z`, (x, y) => `M${x} ${y - 4.5}L${x + 4.5} ${y}L${x} ${y + 4.5}L${x - 4.5} ${y}z`,
];

/** @param {number} series @param {number} x @param {number} y @returns {string} a path */
export function markAt(series, x, y) {
  return marks[series % marks.length](Math.round(x * 10) / 10, Math.round(y * 10) / 10);
}
