// @ts-check
/**
 * What a typed text becomes in a column, and whether it fits there: by the declared type, which SQLite does not enforce, and by the values that
 * the column holds. `false`, `12,50` and `yesterday` in columns of booleans, decimals and dates would look right on the screen and fail in the
 * programs that read them. Pure.
 */

import { affinityOf, isBoolean, typedText, valueOf } from "./affinity.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {{value: SQLValue, warning: string | null}} Fitted `warning`: a sentence that says why it does not fit */

/**
 * A column without a date type counts as one of dates if it has at least this many texts, and all of them are dates.
 */
const fewestDates = 3;

/**
 * @param {string} text @param {Column} column @param {SQLValue} old the former value
 * @param {readonly SQLValue[]} others values of the same column
 * @returns {Fitted}
 * @throws {Error} with a sentence, for a malformed BLOB
 */
export function fitted(text, column, old, others) {
  const held = [old, ...others].filter((value) => value !== null);
  const kind = kindOf(column, held);
  if (kind === "date" && text.trim() === "" && !column.notNull) return { value: null, warning: null };
  const value = valueOf(text, column, old);
  if (value === null || value instanceof Uint8Array || kind === "any") return { value, warning: null };
  return fits[kind](value, text.trim(), column, held);
}

/**
 * A value as a user would type it: `fitted` turns it back into the same value.
 *
 * @param {SQLValue | undefined} value @param {Column} column
 */
export function editedText(value, column) {
  const isTruth = isBoolean(column) && (value === 0 || value === 1);
  return isTruth ? String(value === 1) : typedText(value);
}

/**
 * The edited text, with its original line breaks outside of the edited part. (A field for several lines turns CR LF and
 * CR into LF.)
 *
 * @param {string} edited with LF alone @param {SQLValue} old
 */
export function withLineBreaks(edited, old) {
  if (typeof old !== "string" || !old.includes("\r")) return edited;
  const pieces = old.split(/(\r\n|\r|\n)/).flatMap((piece, index) => (index % 2 ? [piece] : [...piece]));
  const typed = [...edited];
  const isSame = (/** @type {string} */ piece, /** @type {string} */ character) => piece === character || (character === "\n" && /^\r/.test(piece));
  let start = 0;
  while (start < Math.min(pieces.length, typed.length) && isSame(pieces[start], typed[start])) start += 1;
  let end = 0;
  const most = Math.min(pieces.length, typed.length) - start;
  while (end < most && isSame(/** @type {string} */ (pieces.at(-1 - end)), /** @type {string} */ (typed.at(-1 - end)))) end += 1;
  const usual = /** @type {string} */ (pieces.find((piece) => /[\r\n]/.test(piece)));
  const middle = typed.slice(start, typed.length - end).map((character) => (character === "\n" ? usual : character));
  return [...pieces.slice(0, start), ...middle, ...pieces.slice(pieces.length - end)].join("");
}

/** @param {Column} column @param {SQLValue[]} held @returns {"boolean" | "date" | "number" | "any"} */
function kindOf(column, held) {
  const { type } = column;
  const affinity = affinityOf(type);
  if (isBoolean(column)) return "boolean";
  if (affinity === "NUMERIC" && /date|time/i.test(type)) return "date";
  if (affinity === "INTEGER" || affinity === "REAL" || (affinity === "NUMERIC" && /dec|num|money|currency/i.test(type))) return "number";
  const areDates = held.length >= fewestDates && held.every((value) => typeof value === "string" && isISODate(value));
  return areDates ? "date" : "any";
}

/** @type {Record<"boolean" | "date" | "number", (value: SQLValue, text: string, column: Column, held: SQLValue[]) => Fitted>} */
const fits = {
  boolean(value, text, column, held) {
    const texts = held.filter((other) => typeof other === "string");
    const hasNumbers = texts.length < held.length;
    // Some programs store words such as true and yes.
    if (texts.includes(text) && !hasNumbers) return { value: text, warning: null };
    const truth = truthIn(text);
    const words = [...new Set(texts)].slice(0, 3).map((word) => `“${word}”`).join(" and ");
    if (texts.length > 0 && !hasNumbers) return { value, warning: `The column holds ${words}, and not “${text}”.` };
    return truth === null ? { value, warning: `“${text}” is neither true nor false.` } : { value: truth, warning: null };
  },

  number(value, text, { type }, held) {
    const isWhole = typeof value === "bigint" || Number.isInteger(value);
    if (typeof value === "string") {
      if (isLike(text, held)) return { value, warning: null };
      const decimal = /^[+-]?\d+,\d+$/.test(text) ? ` Is ${text.replace(",", ".")} meant?` : "";
      return { value, warning: `“${text}” is no number, and the column is ${type}: it would be a text.${decimal}` };
    }
    const isOdd = affinityOf(type) === "INTEGER" && !isWhole && !held.some((other) => typeof other === "number" && !Number.isInteger(other));
    return { value, warning: isOdd ? `${text} is no whole number, and the column is ${type}.` : null };
  },

  date(value, text, { type }, held) {
    const texts = held.filter((other) => typeof other === "string");
    const example = texts[0] ?? held.find((other) => typeof other === "number" || typeof other === "bigint");
    const isNumber = typeof value !== "string";
    const isTime = /^\s*time\s*(\(|$)/i.test(type);
    const isKnown = isTime ? /^\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) : isISODate(text) && !(/^\s*date\s*$/i.test(type) && text.length > 10);
    const isFit = isNumber ? texts.length < held.length : (isKnown && (texts.length > 0 || held.length === 0)) || isLike(text, held);
    if (isFit) return { value, warning: null };
    const usual = isTime ? "09:30" : /^\s*date\s*$/i.test(type) ? "2026-01-31" : "2026-01-31 09:30:00";
    return { value, warning: `“${text}” is no ${isTime ? "time" : "date"} as ${example === undefined ? `programs write it: ${usual}` : `the column has them: ${example}`}.` };
  },
};

/** @param {string} text */
function truthIn(text) {
  if (/^(true|t|yes|y|on|1)$/i.test(text)) return 1;
  return /^(false|f|no|n|off|0)$/i.test(text) ? 0 : null;
}

/**
 * A date that exists, by ISO 8601 as SQLite and most libraries write it, with a time or without.
 *
 * @param {string} text
 */
export function isISODate(text) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?$/.exec(text);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1, 4).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/**
 * Whether another text has the same form: digits and letters in the same places.
 *
 * @param {string} text @param {SQLValue[]} held
 */
function isLike(text, held) {
  return /\d/.test(text) && held.some((other) => typeof other === "string" && shapeOf(other) === shapeOf(text));
}

/** @param {string} text */
const shapeOf = (text) => text.trim().replace(/\d+/g, "0").replace(/\p{L}+/gu, "a");
