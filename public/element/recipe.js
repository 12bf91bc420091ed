// @ts-check
/**
 * How the contents of rows and headers are made: by the page's template, the page's function, both, or neither. Recipes
 * are immutable; a new recipe makes all rows again.
 */

import { instantiate, showing, textOf } from "./template.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Section} Section */
/** @typedef {import("./row-view.js").Place} Place */
/** @typedef {(element: HTMLElement, row: Row, place: Place) => void} RenderRow */
/** @typedef {(element: HTMLElement, section: Section) => void} RenderSection */

export class Recipe {
  /**
   * @param {HTMLTemplateElement | null} template @param {RenderRow | null} render
   * @param {readonly string[]} columns shown when there is neither
   */
  constructor(template, render, columns) {
    this.template = template;
    this.render = render;
    this.columns = template || render ? [] : columns;
  }

  /**
   * Whether it makes the same rows.
   *
   * @param {Recipe} other
   */
  equals(other) {
    return this.template === other.template && this.render === other.render
      && JSON.stringify(this.columns) === JSON.stringify(other.columns);
  }

  /**
   * Fills a row's element.
   *
   * @param {HTMLElement} element
   * @returns {(row: Row, place: Place) => void} to be called with each new row and place
   */
  make(element) {
    const update = this.template ? fromTemplate(this.template, element) : this.#cells(element);
    const { render } = this;
    return (row, place) => {
      update(row);
      render?.(element, row, place);
    };
  }

  /** @param {HTMLElement} element */
  #cells(element) {
    const cells = this.columns.map((column) => {
      const cell = document.createElement("div");
      cell.className = "live-cell";
      cell.dataset.text = column;
      return cell;
    });
    element.append(...cells);
    return (/** @type {Row} */ row) => {
      for (const cell of cells) cell.textContent = textOf(row[/** @type {string} */ (cell.dataset.text)]);
    };
  }
}

/**
 * The elements in a row that show a column, from a template or a function.
 *
 * @param {Element} row @param {string} column
 */
export function cellsOf(row, column) {
  return showing(row, column);
}

/** @param {HTMLTemplateElement} template @param {HTMLElement} element */
export function fromTemplate(template, element) {
  const { fragment, update } = instantiate(template);
  element.append(fragment);
  return update;
}

/**
 * The title of a section.
 *
 * @param {any} name text, a number or null
 */
export function sectionTitle(name) {
  return name === null ? "(none)" : name === "" ? "(empty)" : textOf(name);
}

/** @type {Intl.NumberFormat | undefined} */
let numbers;

/** @param {number | bigint} count in the page's language */
export function formatted(count) {
  numbers ??= new Intl.NumberFormat(document.documentElement.lang || undefined);
  return numbers.format(count);
}

/**
 * Totals as templates name them, `totals.feet`: numbers in the page's language.
 *
 * @param {Readonly<Record<string, any>>} [totals] @returns {Record<string, string>}
 */
export function totalTexts(totals) {
  return Object.fromEntries(Object.entries(totals ?? {}).map(([name, value]) => [
    `totals.${name}`, typeof value === "number" || typeof value === "bigint" ? formatted(value) : textOf(value)]));
}

export class SectionRecipe {
  /** @param {HTMLTemplateElement | null} template @param {RenderSection | null} render */
  constructor(template, render) {
    this.template = template;
    this.render = render;
  }

  /** @param {SectionRecipe} other */
  equals(other) {
    return this.template === other.template && this.render === other.render;
  }

  /**
   * Fills a header's element.
   *
   * @param {HTMLElement} element
   * @returns {(section: Section, isOpenEnded: boolean) => void} `isOpenEnded`: there are more rows than it counts
   */
  make(element) {
    const update = this.template ? fromTemplate(this.template, element) : this.render ? () => {} : ordinary(element);
    const { render } = this;
    return (section, isOpenEnded) => {
      const { name, count, indexTitle, totals } = section;
      const counted = isOpenEnded ? `${formatted(count)}+` : formatted(count);
      update({ name: sectionTitle(name), count: counted, indexTitle, ...totalTexts(totals) });
      render?.(element, section);
    };
  }
}

/** @param {HTMLElement} element */
function ordinary(element) {
  const parts = ["name", "count"].map((part) => {
    const result = document.createElement("span");
    result.className = `live-${part}`;
    result.dataset.text = part;
    return result;
  });
  element.append(...parts);
  return (/** @type {Record<string, any>} */ texts) => {
    for (const part of parts) part.textContent = texts[/** @type {string} */ (part.dataset.text)];
  };
}

/** The recipes of one list, which change with the page's templates and functions. */
export class Recipes {
  /** @type {RenderRow | null} */
  renderRow = null;
  /** @type {RenderSection | null} */
  renderSection = null;
  /**
   * Used in place of the templates in the list's element.
   *
   * @type {HTMLTemplateElement | null}
   */
  rowTemplate = null;
  /** @type {HTMLTemplateElement | null} */
  sectionTemplate = null;
  #row = new Recipe(null, null, []);
  #section = new SectionRecipe(null, null);

  /** @param {Element} host while a page loads, its templates may come later than the element */
  constructor(host) {
    this.host = host;
  }

  /** @param {readonly string[]} columns */
  row(columns) {
    const template = this.rowTemplate ?? this.template("template:not([slot])");
    const recipe = new Recipe(template, this.renderRow, columns);
    if (!recipe.equals(this.#row)) this.#row = recipe;
    return this.#row;
  }

  section() {
    const template = this.sectionTemplate ?? this.template('template[slot="section"]');
    const recipe = new SectionRecipe(template, this.renderSection);
    if (!recipe.equals(this.#section)) this.#section = recipe;
    return this.#section;
  }

  /** @param {string} selector @returns {HTMLTemplateElement | null} */
  template(selector) {
    return this.host.querySelector(`:scope > ${selector}`);
  }
}
