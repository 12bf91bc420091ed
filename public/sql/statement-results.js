// @ts-check
/** The results of statements: how many rows each changed, and those that it returned. */

import { cellText } from "../browser/cell-text.js";
import { element, formatted } from "../shell/dom.js";

/** @typedef {import("../freshet.js").Committed} Committed */

/** How many rows of one statement are shown. */
const mostRows = 200;

/** @param {string[]} statements @param {Committed} committed */
export function statementResults(statements, { changes, results }) {
  const items = statements.map((statement, index) => resultItem(statement, results[index]));
  const total = element("p", { className: "statement-total" }, element("b", {}, changed(changes)));
  // The activity page can put back deletions and updates by any program.
  if (changes > 0) total.append(" ", element("a", { href: "#activity" }, "What changed"));
  return element("div", { className: "statement-results", tabIndex: 0, role: "region", ariaLabel: "Results of the statements" },
    total, element("ol", {}, ...items));
}

/** @param {string} statement @param {Committed["results"][number] | undefined} result */
function resultItem(statement, result) {
  const rows = result?.rows ?? [];
  const columns = rows.length > 0 ? Object.keys(rows[0]) : [];
  const returns = columns.length > 0 || (result?.columns?.length ?? 0) > 0;
  const sentence = [...(result?.changes || !returns ? [changed(result?.changes ?? 0)] : []), ...(returns ? [`${counted(rows.length)}${rows.length > mostRows ? `, the first ${mostRows}:` : ""}`] : [])].join(" ");
  return element("li", {}, element("code", {}, statement), element("p", { className: "quiet" }, sentence), ...(columns.length > 0 ? [tableOf(columns, rows)] : []));
}

/** @param {string[]} columns @param {any[]} rows */
function tableOf(columns, rows) {
  const cells = (/** @type {any} */ row) => columns.map((name) => {
    const { text, kind } = cellText(row[name], { name, type: "" });
    const cell = element("td", {}, text);
    cell.dataset.kind = kind;
    return cell;
  });
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.slice(0, mostRows).map((row) => element("tr", {}, ...cells(row)))));
}

/** @param {number} count */
const counted = (count) => `${formatted(count)} ${count === 1 ? "row" : "rows"}`;

/** @param {number} count */
const changed = (count) => `${counted(count)} changed.`;
