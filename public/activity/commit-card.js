// @ts-check
/** One commit: its rows by table, each with its columns before and after the commit. */

import { formatAddress, wholeTable } from "../browser/address.js";
import { cellText } from "../browser/cell-text.js";
import { namingColumn } from "../browser/naming-column.js";
import { element, formatted } from "../shell/dom.js";
import { formatActivity } from "./activity-address.js";
import { canPutBack } from "./put-back.js";

/** @typedef {import("../browser/catalogue.js").Catalogue} Catalogue */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/** @typedef {import("./activity-log.js").Entry} Entry */
/**
 * @typedef {{catalogue: Catalogue, canWrite: boolean, isOneRow: boolean, putBack: (changes: RowChange[]) => void}}
 * CardContext
 */

/** How many rows, and how many columns of a row, are shown at first. */
const firstRows = 8;
const firstColumns = 8;

const operations = { insert: "added", update: "changed", delete: "deleted", schema: "another schema" };

/** @param {Entry} entry @param {CardContext} context @returns {HTMLElement} */
export function commitCard(entry, context) {
  if (entry.gap !== null) return element("li", { className: "gap-card" }, `What happened before is not known: ${entry.gap}.`);
  const { commit, commits, changes, time } = entry;
  const tables = [...new Set(changes.map(({ table }) => table))];
  const title = element("h2", {}, commits > 1 ? `Commits up to ${formatted(Number(commit))}` : `Commit ${formatted(Number(commit))}`);
  const about = `${changes.length === 1 ? "1 row" : `${formatted(changes.length)} rows`}${commits > 1 ? `, ${formatted(commits)} commits together` : ""}`;
  const when = time ? element("time", { dateTime: time.toISOString() }, time.toLocaleTimeString()) : element("span", {}, "before this page was opened");
  const restorable = changes.filter(canPutBack);
  const all = context.canWrite && restorable.length > 1 ? [button("Put all back", () => context.putBack(restorable))] : [];
  return element("li", { className: "commit-card frame" },
    element("div", { className: "frame-head" }, title, element("span", { className: "quiet" }, about, ", ", when), ...all),
    ...tables.map((table) => tablePart(table, changes.filter((change) => change.table === table), context)));
}

/** @param {string} name @param {RowChange[]} changes @param {CardContext} context */
function tablePart(name, changes, context) {
  const part = element("section", { className: "commit-table" }, element("h3", {}, name));
  part.append(...changes.slice(0, firstRows).map((change) => rowPart(change, context)));
  let shown = firstRows;
  const more = button("", () => {
    more.before(...changes.slice(shown, shown + 25 * firstRows).map((change) => rowPart(change, context)));
    shown += 25 * firstRows;
    count();
  });
  const count = () => {
    more.textContent = `Show more of ${formatted(changes.length)} rows`;
    if (shown >= changes.length) more.remove();
  };
  part.append(more);
  count();
  return part;
}

/** @param {RowChange} change @param {CardContext} context */
function rowPart(change, context) {
  const { op, key = {}, table: name } = change;
  const table = context.catalogue.find(name);
  const label = op === "schema" ? name : Object.values(key).map(String).join(", ");
  const badge = element("span", { className: `op op-${op}` }, operations[op]);
  if (op === "schema") return element("div", { className: "row-change" }, element("div", { className: "row-change-head" }, badge));
  const keys = (table && context.catalogue.keyOf(table))?.map((column) => key[column] ?? null) ?? null;
  const where = table && keys && op !== "delete" ? element("a", { href: formatAddress({ ...wholeTable(table.name), row: keys }) }, label) : element("b", {}, label);
  const history = keys && !context.isOneRow ? [element("a", { className: "quiet", href: formatActivity({ table: name, key: keys }) }, "Its changes")] : [];
  const back = table && context.canWrite && canPutBack(change) ? [button("Put back", () => context.putBack([change]))] : [];
  return element("div", { className: "row-change" },
    element("div", { className: "row-change-head" }, badge, where, nameOf(change, table), ...history, ...back), ...values(change, table));
}

/**
 * The text that names the row; empty without one.
 *
 * @param {RowChange} change @param {import("../browser/catalogue.js").Table | undefined} table
 */
function nameOf({ new: now, old, key = {} }, table) {
  const row = now ?? old ?? {};
  const columns = table?.columns.filter(({ name }) => !(name in key)) ?? [];
  const name = namingColumn(columns);
  const value = name === null ? null : row[name];
  return element("span", { className: "row-name" }, typeof value === "string" ? value.slice(0, 80) : "");
}

/**
 * @param {RowChange} change @param {import("../browser/catalogue.js").Table | undefined} table @returns {HTMLElement[]}
 */
function values({ op, old, new: now, key = {} }, table) {
  if (op === "update" && !old) return [element("p", { className: "quiet" }, "What it was is not known.")];
  if (op === "delete" && !old) return [element("p", { className: "quiet" }, "What was in it is not known.")];
  const names = op === "update" ? Object.keys(old ?? {}) : Object.keys((op === "insert" ? now : old) ?? {}).filter((name) => !(name in key));
  if (names.length === 0) return [];
  const body = element("tbody");
  const line = (/** @type {string} */ name) => {
    const column = table?.columns.find((each) => each.name === name) ?? { name, type: "", notNull: false, key: 0 };
    return element("tr", {}, element("th", { scope: "row" }, name), cell(op !== "insert", old?.[name], column, "was"), cell(op !== "delete", now?.[name], column, "is"));
  };
  body.append(...names.slice(0, firstColumns).map(line));
  const head = element("thead", {}, element("tr", {}, ...["Column", "Before", "After"].map((title) => element("th", { scope: "col" }, title))));
  const rest = names.slice(firstColumns);
  const more = rest.length === 0 ? [] : [button(`${rest.length} more columns`, () => {
    body.append(...rest.map(line));
    more[0].remove();
  })];
  return [element("div", { className: "sides" }, element("table", {}, element("colgroup", {}, element("col"), element("col"), element("col")), head, body)), ...more];
}

/**
 * @param {boolean} isThere @param {any} value @param {import("../shell/schema.js").Column} column
 * @param {"was" | "is"} side
 */
function cell(isThere, value, column, side) {
  if (!isThere) return element("td", { className: side });
  const { text, kind } = cellText(value, column);
  // Numbers are not shortened, because two may differ only in their last digit.
  const result = element("td", { className: side }, kind === "number" ? String(value) : text);
  result.dataset.kind = kind;
  return result;
}

/** @param {string} title @param {() => void} action */
function button(title, action) {
  const result = element("button", { type: "button", className: "small" }, title);
  result.addEventListener("click", action);
  return result;
}
