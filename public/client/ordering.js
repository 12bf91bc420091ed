// @ts-check
/** The order of a query's rows and sections, as far as it can be known here. Pure. */

import { collationNamed, compareValues } from "./collation.js";
import { columnNames, expressionOf } from "./expression.js";
import { plainQuery } from "./sql.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("./collation.js").Collation} Collation */
/** @typedef {Record<string, string>} Collations by column */
/** @typedef {Pick<import("../freshet.js").ListOptions, "collations" | "sources">} Hints what the query does not say */
/**
 * @typedef {object} Term
 * @property {(row: Row) => SQLValue | undefined} evaluate undefined: it cannot be
 * @property {(left: SQLValue, right: SQLValue) => number} compare
 */
/**
 * How rows are cut into sections: `by` is null where what they are sorted by cannot be compared with their names.
 *
 * @typedef {{name: Term | null, by: Term | null}} Sectioning
 */

/**
 * One that is evaluated nowhere.
 *
 * @type {Query}
 */
const unknown = { orderBy: ["?"], sectionBy: "?" };

export class Ordering {
  /** @type {Sectioning | null} null: the rows are one section */
  sectioning = null;
  /** @type {Term[] | null} null: the order is the server's to know */
  #terms = null;

  /**
   * @param {Query} query @param {readonly string[]} columns @param {readonly string[]} key
   * @param {Hints} [hints]
   */
  constructor(query, columns, key, hints = {}) {
    const { collations = {}, sources = {} } = hints;
    // A published query may be sorted by anything.
    const { orderBy = [], sectionBy, select, from } = /** @type {any} */ (query.name === undefined ? plainQuery(query) : unknown);
    const resolve = resolver(columns, select ?? null, String(from ?? ""), sources);
    const term = (/** @type {string} */ text) => termOf(text, resolve, collations);
    if (sectionBy) this.sectioning = sectioningOf(sectionBy, term);
    const terms = orderBy.map(term);
    const known = /** @type {Term[]} */ (terms.filter(Boolean));
    if (known.length === terms.length) this.#terms = [...known, ...key.map((name) => columnTerm(name, collations))];
  }

  /**
   * Of two rows in one section; undefined where that is not known.
   *
   * @param {Row} left @param {Row} right
   */
  compare(left, right) {
    if (!this.#terms) return undefined;
    for (const { evaluate, compare } of this.#terms) {
      const [one, other] = [evaluate(left), evaluate(right)];
      if (one === undefined || other === undefined) return undefined;
      const order = compare(one, other);
      if (order !== 0) return order;
    }
    return 0;
  }

  /**
   * Whether a row that changes stays between the same rows of the same section; undefined where that is not known.
   *
   * @param {Row} before @param {Row} after
   */
  isSamePlace(before, after) {
    const order = this.compare(before, after);
    const { name, by } = this.sectioning ?? {};
    if (order === undefined || (this.sectioning && !name)) return undefined;
    return order === 0 && [name, by].every((term) => !term || isEqual(term, before, after));
  }
}

/** @param {Term} term @param {Row} before @param {Row} after */
function isEqual({ evaluate, compare }, before, after) {
  const [one, other] = [evaluate(before), evaluate(after)];
  return one !== undefined && other !== undefined && compare(one, other) === 0;
}

/** @param {any} sectionBy @param {(text: string) => Term | null} term @returns {Sectioning} */
function sectioningOf(sectionBy, term) {
  const { by, order = "ASC", name = null } = typeof sectionBy === "string" ? { by: sectionBy } : sectionBy;
  const sorted = term(`${by} ${order}`);
  return name === null ? { name: sorted, by: sorted } : { name: term(name), by: null };
}

/** @param {string} text @param {(names: string[]) => string | null} resolve @param {Collations} collations @returns {Term | null} */
function termOf(text, resolve, collations) {
  const [, head, nulls] = /^([^]*?)(?:\s+NULLS\s+(FIRST|LAST))?\s*$/i.exec(text) ?? ["", text];
  const [, sorted, direction] = /^([^]*?)(?:\s+(ASC|DESC))?\s*$/i.exec(head) ?? ["", head];
  const [, part, named] = /^([^]*?)(?:\s+COLLATE\s+["`[]?(\w+)["`\]]?)?\s*$/i.exec(sorted) ?? ["", sorted];
  const expression = expressionOf(part, resolve);
  const collation = collationNamed(named ?? collations[expression?.column ?? ""] ?? "BINARY");
  if (!expression || !collation) return null;
  const isDescending = direction?.toUpperCase() === "DESC";
  const areNullsFirst = nulls ? nulls.toUpperCase() === "FIRST" : !isDescending;
  return { evaluate: expression.evaluate, compare: comparison(collation, isDescending, areNullsFirst) };
}

/** @param {string} column @param {Collations} collations @returns {Term} */
function columnTerm(column, collations) {
  const collation = collationNamed(collations[column] ?? "BINARY") ?? "BINARY";
  return { evaluate: (row) => row[column] ?? null, compare: comparison(collation, false, true) };
}

/** @param {Collation} collation @param {boolean} isDescending @param {boolean} areNullsFirst @returns {Term["compare"]} */
function comparison(collation, isDescending, areNullsFirst) {
  return (left, right) => {
    if ((left === null) !== (right === null)) return (left === null) === areNullsFirst ? -1 : 1;
    const order = compareValues(left, right, collation);
    return isDescending ? -order : order;
  };
}

/**
 * What finds the column of the rows that a name in the SQL stands for: one that is selected as it is, under its own name or another.
 *
 * @param {readonly string[]} columns @param {string[] | null} select @param {string} from
 * @param {Record<string, string>} sources what columns are made of, where they are made of one column
 * @returns {(names: string[]) => string | null}
 */
function resolver(columns, select, from, sources) {
  const same = (/** @type {string} */ left, /** @type {string} */ right) => left.toLowerCase() === right.toLowerCase();
  const column = (/** @type {string} */ name) => columns.find((each) => same(each, name)) ?? null;
  // Of joined tables the first one, whose columns are selected where nothing else is.
  const table = columnNames(/^\s*([^\s,]+)\s*(?:$|,|(?:NATURAL|LEFT|INNER|CROSS|JOIN)\b)/i.exec(from)?.[1] ?? "")?.at(-1);
  const isOfTable = (/** @type {string[]} */ names) => names.length === 1 || (table !== undefined && same(names[0], table));
  const made = Object.entries(sources).map(([output, source]) => ({ names: columnNames(source), output }));
  const selected = (select ?? []).map((item) => {
    const [, text, alias] = /^([^]*?)\s+AS\s+(\S+|"[^"]*")\s*$/i.exec(item) ?? ["", item, undefined];
    const names = columnNames(String(text));
    return { names, output: (alias === undefined ? names : columnNames(alias))?.at(-1) ?? "" };
  });
  return (names) => {
    const last = names[names.length - 1];
    const hint = made.find(({ names: written }) => written?.length === names.length && written.every((name, index) => same(name, names[index])));
    if (hint) return column(hint.output);
    if (!select) return isOfTable(names) ? column(last) : null;
    const found = selected.find(({ names: written, output }) => written && (names.length === 1
      ? same(output, last) || (written.length === 1 && same(written[0], last))
      : written.length === 2 ? written.every((name, index) => same(name, names[index])) : isOfTable(names) && same(written[0], last)));
    if (found) return column(found.output);
    // The key's columns are there also where nobody selected them.
    return isOfTable(names) && !selected.some(({ output }) => same(output, last)) ? column(last) : null;
  };
}
