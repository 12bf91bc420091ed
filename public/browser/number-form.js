// @ts-check
/**
 * How the numbers of a column are written, so that they align and can be compared: with the same number of decimals,
 * and with grouped thousands if that helps. Pure.
 */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/**
 * @typedef {{decimals: number | null, isDeclared: boolean, isGrouped: boolean}} NumberForm `decimals`: null for as many
 * as each number needs; `isDeclared`: by the column's type
 */

/** Digits that are shown: further ones of computed numbers are often rounding errors. */
const digits = 6;
/** The limit of `Intl.NumberFormat`. */
const mostDecimals = 12;

/** Names of columns whose numbers identify something: grouped thousands would make them harder to read. */
const naming = /(^|_)(id|no|nr|num|number|code|zip|postcode|phone|port|pid|year|version|key|hash|isbn|ean)$|[a-z](Id|ID|No|Number|Code|Year|Key)$/i;

/**
 * @param {{name: string, type: string, key?: number}} column @param {SQLValue[]} values some of those that it holds
 * @param {boolean} [isReference] whether it refers to rows of another table
 * @returns {NumberForm}
 */
export function numberForm(column, values, isReference = false) {
  const declared = declaredDecimals(column.type);
  return { decimals: declared ?? neededDecimals(values), isDeclared: declared !== null, isGrouped: !isReference && !column.key && !naming.test(column.name) };
}

/** @param {string} type DECIMAL(10,2) has 2 @returns {number | null} null: it does not say */
function declaredDecimals(type) {
  const scale = /^\s*(?:DECIMAL|NUMERIC|NUMBER|DEC)\s*\(\s*\d+\s*,\s*(\d+)\s*\)/i.exec(type)?.[1];
  return scale === undefined ? null : Math.min(mostDecimals, Number(scale));
}

/**
 * @param {SQLValue[]} values
 * @returns {number | null} as many as give the largest number six digits, and no more than any number needs
 */
function neededDecimals(values) {
  const numbers = values.filter((value) => typeof value === "number" && Number.isFinite(value) && value !== 0);
  if (numbers.every((value) => Number.isInteger(value))) return null;
  const largest = Math.max(...numbers.map((value) => Math.abs(Number(value))));
  const needed = Math.max(...numbers.map((value) => decimalsOf(Number(Number(value).toPrecision(digits)))));
  return Math.max(0, Math.min(needed, digits - digitsBeforePoint(largest), mostDecimals));
}

/** @param {number} value */
function digitsBeforePoint(value) {
  return Math.max(1, Math.floor(Math.log10(value)) + 1);
}

/** @param {number} value */
function decimalsOf(value) {
  const [mantissa, exponent = "0"] = String(value).split("e");
  return Math.max(0, (mantissa.split(".")[1]?.length ?? 0) - Number(exponent));
}

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/** @param {Intl.NumberFormatOptions} options */
function formatOf(options) {
  const name = JSON.stringify(options);
  let format = formats.get(name);
  // The reader's locale.
  if (!format) formats.set(name, format = new Intl.NumberFormat(undefined, options));
  return format;
}

/** @param {number | bigint} value @param {NumberForm} form */
export function numberText(value, { decimals: wanted, isDeclared, isGrouped }) {
  const useGrouping = isGrouped;
  if (typeof value === "bigint" || (Number.isInteger(value) && wanted === null)) {
    return Math.abs(Number(value)) < 1e21 ? formatOf({ useGrouping, maximumFractionDigits: 0 }).format(value) : String(value);
  }
  const size = Math.abs(value);
  // A number larger than those that the form was made for gets fewer decimals.
  const decimals = wanted === null || isDeclared || size < 1 ? wanted : Math.max(0, Math.min(wanted, digits - digitsBeforePoint(size)));
  const isTiny = value !== 0 && decimals !== null && size < 0.5 * 10 ** -decimals;
  if (!Number.isFinite(value) || size >= 1e15 || (size < 1e-6 && value !== 0)) return String(Number(value.toPrecision(digits)));
  if (decimals === null || isTiny) return formatOf({ useGrouping, maximumSignificantDigits: digits }).format(value);
  return formatOf({ useGrouping, minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);
}
