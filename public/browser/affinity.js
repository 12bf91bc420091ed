// @ts-check
/** SQLite's affinity of a column's declared type, and the value of a text typed into it. Pure. */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {"INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC"} Affinity */

/**
 * SQLite's own rules, in their order (https://sqlite.org/datatype3.html, 3.1).
 *
 * @param {string} [type] as declared @returns {Affinity}
 */
export function affinityOf(type = "") {
  if (/INT/i.test(type)) return "INTEGER";
  if (/CHAR|CLOB|TEXT/i.test(type)) return "TEXT";
  if (/BLOB/i.test(type) || type.trim() === "") return "BLOB";
  return /REAL|FLOA|DOUB/i.test(type) ? "REAL" : "NUMERIC";
}

/** @param {{type: string}} column @returns {boolean} whether it is declared as a boolean */
export function isBoolean({ type }) {
  return /^\s*bool/i.test(type);
}

/**
 * The number that a text is, as SQLite reads decimal literals.
 *
 * @param {string} text @returns {number | bigint | null}
 */
export function numberIn(text) {
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) {
    const integer = BigInt(trimmed.replace(/^\+/, ""));
    if (Number.isSafeInteger(Number(integer))) return Number(integer);
    return BigInt.asIntN(64, integer) === integer ? integer : Number(integer);
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(Number(trimmed)) ? Number(trimmed) : null;
}

/**
 * The value that a typed text stands for. A text column takes the text, a numeric column takes a number if the text is
 * one; a column without an affinity keeps the kind of value that it had.
 *
 * @param {string} text @param {Column} column @param {SQLValue} [old] the former value
 * @returns {SQLValue}
 * @throws {Error} with a sentence, for a malformed BLOB
 */
export function valueOf(text, column, old = null) {
  if (old instanceof Uint8Array || /^\s*x'[0-9a-f\s]*'\s*$/i.test(text) && affinityOf(column.type) === "BLOB") return bytesIn(text);
  const number = numberIn(text);
  switch (affinityOf(column.type)) {
    case "TEXT": return text;
    case "BLOB": return typeof old === "string" || number === null ? text : number;
    // An empty field in a numeric column means NULL, not an empty text.
    default: return text.trim() === "" ? null : number ?? text;
  }
}

/**
 * A value as a user would type it: `valueOf` turns it back into the same value.
 *
 * @param {SQLValue | undefined} value
 */
export function typedText(value) {
  if (value === null || value === undefined) return "";
  return value instanceof Uint8Array ? `x'${hexOf(value)}'` : String(value);
}

/** @param {Uint8Array} bytes */
export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} text as SQL writes a BLOB: x'0aff' */
function bytesIn(text) {
  const digits = /^\s*x'([0-9a-f\s]*)'\s*$/i.exec(text)?.[1].replace(/\s/g, "");
  if (digits === undefined || digits.length % 2 > 0) throw new Error("Bytes are written in hexadecimal: x'0aff'");
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) => parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}
