// @ts-check
/**
 * The order of a list's rows and sections, as far as its columns determine it: protocol 3.2, `order` and
 * `sectionOrder`. Pure.
 */

import { collationNamed, compareValues } from "./collation.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Message} Message */
/**
 * @typedef {Record<string, string>} Sources the table's columns that the list's columns come from, by the latter's
 * names
 */
/**
 * @typedef {object} Term
 * @property {(row: Row) => SQLValue | undefined} value undefined if only the server knows it
 * @property {(left: SQLValue, right: SQLValue) => number} compare
 */

export class Ordering {
  /** @type {Term[] | null} null: only the server knows the order */
  #terms = null;
  /**
   * The term that names sections; null: the rows are one section, or it is unknown.
   *
   * @type {Term | null}
   */
  section = null;
  /** Whether sections come in the order of their names. */
  sortsSections = false;
  /**
   * Whether the rows are divided into sections; null: unknown.
   *
   * @type {boolean | null}
   */
  isSectioned = null;

  /** @param {Message} message with the order, if the server sends it @param {Sources} [sources] */
  constructor({ order, sectionOrder = null }, sources = {}) {
    if (!order) return;
    const terms = order.map((/** @type {any} */ each) => termOf(each, sources));
    if (!terms.includes(null)) this.#terms = terms;
    this.isSectioned = sectionOrder !== null;
    if (!sectionOrder) return;
    this.section = termOf(sectionOrder, sources);
    this.sortsSections = sectionOrder.sorted === true;
  }

  /**
   * Compares two rows of one section; undefined if their order is unknown.
   *
   * @param {Row} left @param {Row} right
   */
  compare(left, right) {
    if (!this.#terms) return undefined;
    for (const { value, compare } of this.#terms) {
      const [one, other] = [value(left), value(right)];
      if (one === undefined || other === undefined) return undefined;
      const order = compare(one, other);
      if (order !== 0) return order;
    }
    return 0;
  }

  /**
   * Whether a changed row stays between the same rows of the same section; undefined if that is unknown.
   *
   * @param {Row} before @param {Row} after
   */
  isSamePlace(before, after) {
    const order = this.compare(before, after);
    if (order === undefined || !this.isSectioned) return order === undefined ? undefined : order === 0;
    const [one, other] = [this.section?.value(before), this.section?.value(after)];
    if (!this.section || one === undefined || other === undefined) return undefined;
    return order === 0 && this.section.compare(one, other) === 0;
  }
}

/**
 * @param {any} term of a message @param {Sources} sources @returns {Term | null} null: an expression that is not among
 * the columns
 */
function termOf({ column, collation: named, descending: isDescending, nulls, of = {} }, sources) {
  const name = column ?? of.column ?? Object.keys(sources).find((each) => sources[each].toLowerCase() === of.source?.toLowerCase());
  const collation = collationNamed(named);
  const calls = (of.calls ?? []).map(functionOf);
  if (name === undefined || !collation || calls.includes(null)) return null;
  return {
    value: (row) => calls.reduce((/** @type {SQLValue | undefined} */ value, /** @type {(text: string) => string} */ call) =>
      // Only the server knows how a number is written as text.
      value === null ? null : typeof value === "string" ? call(value) : undefined, row[name] ?? null),
    compare: (left, right) => {
      if ((left === null) !== (right === null)) return (left === null) === (nulls === "first") ? -1 : 1;
      const order = compareValues(left, right, collation);
      return isDescending ? -order : order;
    },
  };
}

/**
 * @param {[string, ...number[]]} call @returns {((text: string) => string) | null} null for an unknown function
 */
function functionOf([name, start, length = Infinity]) {
  // SQLite changes the case of ASCII letters only.
  if (name === "upper") return (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  if (name === "lower") return (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return name === "substr" ? (text) => [...text].slice(start - 1, start - 1 + length).join("") : null;
}
