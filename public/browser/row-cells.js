// @ts-check
/** The cells of a row: the functions that `<live-list>` calls to make and fill them. */

import { element } from "../shell/dom.js";
import { wholeTable, formatAddress } from "./address.js";
import { cellText } from "./cell-text.js";
import { namingColumn } from "./naming-column.js";
import { lengthOf } from "./table-query.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./catalogue.js").Reference} Reference */
/** @typedef {import("../shell/schema.js").Column & {form?: import("./cell-text.js").ColumnForm}} Column */

let cells = 0;

/**
 * @param {Column[]} columns in the order in which they are shown @param {number} fixed how many stay in view
 * @param {Reference[]} references the references of the table
 * @returns {(element: HTMLElement, row: Row) => void} a new function has the list make all rows again
 */
export function rowRenderer(columns, fixed, references) {
  const naming = namingColumn(columns) ?? columns[0]?.name;
  const following = new Map(columns.map(({ name }) => [name, references.find((reference) => reference.columns[0] === name)]));
  /** @type {WeakMap<Element, HTMLElement[]>} */
  const made = new WeakMap();
  return (rowElement, row) => {
    let all = made.get(rowElement);
    // When the function changes, the list empties the element, and new cells are made.
    if (!all || all[0]?.parentElement !== rowElement) {
      all = columns.map((column, index) => newCell(column, index, index < fixed, following.get(column.name), column.name === naming));
      rowElement.append(...all);
      made.set(rowElement, all);
    }
    all.forEach((cell, index) => fill(cell, row, columns[index], following.get(columns[index].name)));
  };
}

/**
 * @param {Column} column @param {number} index @param {boolean} isFixed @param {Reference | undefined} reference
 * @param {boolean} isNaming whether it says what the row is called
 */
function newCell({ name }, index, isFixed, reference, isNaming) {
  const cell = element("div", { className: isFixed ? "cell fixed" : "cell", id: `cell-${cells += 1}` }, element("span", { className: "value" }));
  cell.classList.toggle("naming", isNaming);
  // The list finds the cells of a column by this attribute, to highlight changed values.
  cell.dataset.text = name;
  cell.setAttribute("role", "gridcell");
  cell.ariaColIndex = String(index + 1);
  if (index === 0) cell.prepend(element("button", { type: "button", className: "open-row", tabIndex: -1, ariaHidden: "true", title: "Details (Space)" }, "⤢"));
  if (reference) cell.append(element("a", { className: "follow", href: "", textContent: "↗" }));
  return cell;
}

/** @param {HTMLElement} cell @param {Row} row @param {Column} column @param {Reference | undefined} reference */
function fill(cell, row, column, reference) {
  if (cell.dataset.editing) return;
  const { text, kind } = cellText(row[column.name], column, row[lengthOf(column.name)] ?? null);
  const value = /** @type {HTMLElement} */ (cell.querySelector(".value"));
  const link = /** @type {HTMLAnchorElement | null} */ (cell.querySelector(".follow"));
  if (value.textContent !== text) value.textContent = text;
  if (cell.dataset.kind !== kind) cell.dataset.kind = kind;
  if (reference && link) follow(link, row, reference);
}

/** @param {HTMLAnchorElement} link @param {Row} row @param {Reference} reference */
function follow(link, row, reference) {
  const { columns, table } = reference;
  const values = columns.map((name) => row[name]);
  link.hidden = values.some((value) => value === null || value === undefined);
  link.href = linkTo(reference, values);
  link.ariaLabel = `Open ${table} ${values.join(", ")}`;
  link.title = link.ariaLabel;
}

/**
 * The address of the row that some values refer to. A key is shown among all rows, other columns are a filter.
 *
 * @param {Reference} reference @param {any[]} values
 */
export function linkTo({ table, references, isKey }, values) {
  if (isKey) return formatAddress({ ...wholeTable(table), row: values });
  const filters = references.map((column, index) => ({ column, operator: /** @type {const} */ ("eq"), value: String(values[index]) }));
  return formatAddress({ ...wholeTable(table), filters });
}
