// @ts-check
/** The form in which a column writes its dates, so that a date field can keep it. Pure. */

import { isISODate } from "./fitting.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/**
 * `separator` stands between the date and its time, and is empty where dates have no time; `decimals` are the digits
 * after its seconds' point, null if it has no seconds; `zone` ends the text.
 *
 * @typedef {{separator: string, decimals: number | null, zone: string}} DateForm
 */

/**
 * @param {Column} column @param {SQLValue} old the value that is to be edited
 * @param {readonly SQLValue[]} others values of the same column
 * @returns {DateForm | null} null: the values are edited as texts
 */
export function dateForm({ type }, old, others) {
  if (!/^\s*(date|datetime|timestamp)\b/i.test(type)) return null;
  const usual = /^\s*date\b/i.test(type) ? "2026-01-31" : "2026-01-31 09:30:00";
  const example = old ?? others.find((value) => value !== null) ?? usual;
  return typeof example === "string" ? formOf(example) : null;
}

/** @param {string} text @returns {DateForm | null} null: it is not a date that a field can hold */
function formOf(text) {
  const parts = /^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d(?:\.(\d{1,3}))?)?( ?(?:Z|[+-]\d\d:?\d\d))?)?$/.exec(text);
  if (!parts || !isISODate(text)) return null;
  const [, separator = "", seconds, decimals = "", zone = ""] = parts;
  return { separator, decimals: seconds ? decimals.length : null, zone };
}

/**
 * A date as `<input type="date">` and `<input type="datetime-local">` hold it.
 *
 * @param {string} text of this form @param {DateForm} form
 */
export function fieldText(text, { separator, zone }) {
  const local = zone === "" ? text : text.slice(0, -zone.length);
  return separator === "" ? local : local.replace(separator, "T");
}

/**
 * The date in a field, written in the form of the column. Fields leave out seconds that are 0.
 *
 * @param {string} held @param {DateForm} form
 */
export function writtenDate(held, { separator, decimals, zone }) {
  if (held === "" || separator === "") return held;
  const [date, time] = held.split("T");
  const [hours, minutes, seconds = "00"] = time.split(":");
  const [whole, part = ""] = seconds.split(".");
  const fraction = decimals ? `.${part.padEnd(decimals, "0").slice(0, decimals)}` : "";
  return `${date}${separator}${hours}:${minutes}${decimals === null ? "" : `:${whole}${fraction}`}${zone}`;
}
