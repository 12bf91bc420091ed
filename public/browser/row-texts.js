// @ts-check
/** Rows as texts for other programs: CSV, JSON, Markdown, and cells for spreadsheets. Pure. */

import { encoded } from "../client/values.js";
import { typedText } from "./affinity.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {"csv" | "json" | "markdown" | "tsv"} Format */

/**
 * @type {Record<Format, (columns: string[], rows: Row[]) => string>} NULL is empty, except in JSON
 */
export const rowTexts = {
  csv: (columns, rows) => lines([columns, ...valuesIn(columns, rows)], ",", csvField, "\r\n"),
  json: (columns, rows) => JSON.stringify(rows.map((row) => JSON.parse(encoded(Object.fromEntries(columns.map((name) => [name, row[name]]))))), null, 2),
  markdown: (columns, rows) => [columns, columns.map(() => "---"), ...valuesIn(columns, rows)].map((line, index) => `| ${line.map((text) => (index === 1 ? text : markdownCell(text))).join(" | ")} |`).join("\n"),
  // No titles, because the cells are pasted among others.
  tsv: (columns, rows) => lines(valuesIn(columns, rows), "\t", tsvField, "\n"),
};

/** @param {string[]} columns @param {Row[]} rows @returns {string[][]} */
function valuesIn(columns, rows) {
  return rows.map((row) => columns.map((name) => typedText(row[name])));
}

/**
 * @param {string[][]} table @param {string} separator @param {(text: string) => string} field
 * @param {string} end of a line
 */
function lines(table, separator, field, end) {
  return table.map((line) => line.map(field).join(separator)).join(end);
}

/** @param {string} text */
const doubled = (text) => `"${text.replaceAll('"', '""')}"`;

/** @param {string} text */
const csvField = (text) => (/[",\r\n]/.test(text) ? doubled(text) : text);

/** @param {string} text */
const tsvField = (text) => (/[\t\r\n]|^"/.test(text) ? doubled(text) : text);

/** @param {string} text */
const markdownCell = (text) => text.replace(/[\\|]/g, "\\$&").replace(/\r\n|\r|\n/g, "<br>");
