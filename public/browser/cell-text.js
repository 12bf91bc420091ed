// @ts-check
/**
 * Values as people read them in a cell: short, on one line, and of a kind that says how to align and colour them. Pure.
 */

import { isBoolean } from "./affinity.js";
import { numberForm, numberText } from "./number-form.js";
import { longestText } from "./table-query.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {"null" | "empty" | "number" | "text" | "blob" | "date" | "boolean"} Kind */
/** @typedef {{text: string, kind: Kind, isCut: boolean}} CellText */
/**
 * The common form of a column's values, from those seen so far: one form for numbers, and whether all of its times are
 * 0:00.
 *
 * @typedef {{number: import("./number-form.js").NumberForm, isDateOnly: boolean}} ColumnForm
 */

/**
 * @param {{name: string, type: string, key?: number}} column @param {SQLValue[]} values some of those that it holds
 * @param {boolean} [isReference] whether it refers to rows of another table
 * @returns {ColumnForm}
 */
export function columnForm(column, values, isReference) {
  const texts = values.flatMap((value) => {
    if (typeof value === "string") return isoDate(value) ?? [];
    return isDate(column) && (typeof value === "number" || typeof value === "bigint") ? timeIn(value) ?? [] : [];
  });
  return { number: numberForm(column, values, isReference), isDateOnly: texts.every((text) => text.length <= 10 || midnight.test(text)) };
}

/**
 * @param {SQLValue | undefined} value
 * @param {{name: string, type: string, key?: number, form?: ColumnForm}} column without `form` the value is shown by
 * itself
 * @param {number | null} [length] of the whole BLOB, where `value` is only its beginning
 * @returns {CellText}
 */
export function cellText(value, column, length = null) {
  if (value === null || value === undefined) return shown("NULL", "null");
  if (value === "") return shown("empty", "empty");
  if (value instanceof Uint8Array) return shown(blobText(value, length ?? value.length), "blob", (length ?? 0) > value.length);
  const { form } = column;
  if (typeof value === "string") return textOf(value, form);
  if (isBoolean(column) && (value === 0 || value === 1)) return shown(value ? "true" : "false", "boolean");
  const date = isDate(column) ? timeIn(value) : null;
  return date ? shown(withoutMidnight(date, form), "date") : shown(numberText(value, (form ?? columnForm(column, [value])).number), "number");
}

/** The time 0:00, which dates without a time get. */
const midnight = / 00:00(:00)?$/;

/** @param {string} text @param {ColumnForm | undefined} form */
function withoutMidnight(text, form) {
  return form?.isDateOnly ? text.replace(midnight, "") : text;
}

/** @param {string} text @param {Kind} kind @param {boolean} [isCut] @returns {CellText} */
const shown = (text, kind, isCut = false) => ({ text, kind, isCut });

/** @param {string} value @param {ColumnForm | undefined} form @returns {CellText} */
function textOf(value, form) {
  const date = isoDate(value);
  if (date) return shown(withoutMidnight(date, form), "date");
  const isCut = value.length > longestText;
  return shown(value.slice(0, longestText).replace(/\s*[\r\n]+\s*/g, " ⏎ ") + (isCut ? "…" : ""), "text", isCut);
}

/**
 * An ISO date without the T and without fractions of a second.
 *
 * @param {string} text
 */
function isoDate(text) {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  if (!parts) return null;
  const [, date, minutes, seconds, zone] = parts;
  if (!minutes) return date;
  return `${date} ${minutes}${seconds ? `:${seconds}` : ""}${zone && zone !== "Z" ? ` ${zone}` : ""}`;
}

/** @param {{name: string, type: string}} column @returns {boolean} whether its declared type or its name says so */
export function isDate({ name, type }) {
  return /date|time/i.test(type) || /(^|_)(date|time|timestamp|at|on)$|[a-z](Date|Time|At)$|^(created|updated|modified|changed|deleted|expires)$/.test(name);
}

/**
 * The time that a number stands for: seconds or milliseconds since 1970, or SQLite's days since noon of a day in 4714
 * BC.
 *
 * @param {number | bigint} value
 */
function timeIn(value) {
  const number = Number(value);
  if (Number.isInteger(number) && number > 1e8 && number < 5e9) return written(number * 1000);
  if (Number.isInteger(number) && number > 1e11 && number < 5e12) return written(number);
  return !Number.isInteger(number) && number > 2.4e6 && number < 2.5e6 ? written((number - 2440587.5) * 86_400_000) : null;
}

/** @param {number} time in milliseconds since 1970 */
function written(time) {
  return new Date(Math.round(time / 1000) * 1000).toISOString().slice(0, 19).replace("T", " ");
}

/**
 * The first bytes of kinds of files that are found in databases.
 *
 * @type {[string, number[]][]}
 */
const signatures = [
  ["JPEG", [0xff, 0xd8, 0xff]], ["PNG", [0x89, 0x50, 0x4e, 0x47]], ["GIF", [0x47, 0x49, 0x46, 0x38]], ["PDF", [0x25, 0x50, 0x44, 0x46]],
  ["ZIP", [0x50, 0x4b, 3, 4]], ["gzip", [0x1f, 0x8b]], ["WebP", [0x52, 0x49, 0x46, 0x46]], ["BMP", [0x42, 0x4d]],
];

/** @param {Uint8Array} bytes the first ones @returns {string | null} */
export function fileKind(bytes) {
  return signatures.find(([, signature]) => signature.every((byte, index) => bytes[index] === byte))?.[0] ?? null;
}

/**
 * The media type of a picture that browsers can show.
 *
 * @param {Uint8Array} bytes @returns {string | null}
 */
export function pictureType(bytes) {
  const types = /** @type {Record<string, string>} */ ({ JPEG: "image/jpeg", PNG: "image/png", GIF: "image/gif", WebP: "image/webp", BMP: "image/bmp" });
  return types[fileKind(bytes) ?? ""] ?? null;
}

/** @param {Uint8Array} bytes the first ones @param {number} length of all */
function blobText(bytes, length) {
  return `${fileKind(bytes) ?? "BLOB"}, ${sizeText(length)}`;
}

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const [size, unit] = bytes < 1e6 ? [bytes / 1000, "kB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
