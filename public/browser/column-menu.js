// @ts-check
/** The menu of a column header, and the list of columns to show and to hide. */

import { element } from "../shell/dom.js";
import { orderedColumns } from "./column-layout.js";
import { openMenu, placeBelow } from "./menu.js";
import { calls, isNumeric, toggled } from "./totals.js";

/** @typedef {import("./open-table.js").OpenTable} OpenTable */
/** @typedef {import("./table-list.js").TableList} TableList */

/** @param {HTMLElement} anchor the header @param {string} column @param {OpenTable} table */
export function columnMenu(anchor, column, table) {
  const { list, address } = table;
  if (!list) return;
  const isKey = table.key.includes(column);
  const sorted = address.sort.find((each) => each.column === column);
  const sort = (/** @type {boolean} */ descending) => table.change({ sort: [{ column, descending }] });
  openMenu(anchor, `Column ${column}`, [
    { title: "Sort ascending", isChecked: sorted?.descending === false, does: () => sort(false) },
    { title: "Sort descending", isChecked: sorted?.descending === true, does: () => sort(true) },
    null,
    { title: "Filter by this column", does: () => table.filterBar.add(column) },
    address.section === column
      ? { title: "No sections", does: () => table.change({ section: null }) }
      : { title: "Sections by this column", does: () => table.change({ section: column }) },
    null,
    ...totalItems(column, table),
    null,
    { title: "Move left", isOff: isKey, does: () => list.move(column, -1) },
    { title: "Move right", isOff: isKey, does: () => list.move(column, 1) },
    { title: "Fit width", does: () => list.fit(column) },
    { title: "Hide", isOff: isKey, does: () => list.setShown(column, false) },
  ]);
}

/** @param {string} name @param {OpenTable} table */
function totalItems(name, table) {
  const { totals } = table.address;
  const isSummed = isNumeric(table.columns.find((column) => column.name === name) ?? { type: "" });
  return Object.entries(calls).map(([call, title]) => ({
    title, isChecked: totals.some((each) => each.column === name && each.call === call),
    isOff: !isSummed && (call === "sum" || call === "avg"),
    does: () => table.change({ totals: toggled(totals, name, /** @type {import("./totals.js").Call} */ (call)) }),
  }));
}

/** @param {HTMLElement} anchor @param {TableList} list */
export function columnsPopover(anchor, list) {
  const { columns, key } = list.table;
  const names = orderedColumns(list.layout, columns.map(({ name }) => name), key);
  const popover = element("div", { className: "menu columns-popover", popover: "auto", role: "dialog", ariaLabel: "Columns" });
  const boxes = names.map((name) => {
    const box = element("input", { type: "checkbox", checked: !list.layout.hidden.includes(name), disabled: key.includes(name) });
    box.addEventListener("change", () => list.setShown(name, box.checked));
    return { box, label: element("label", {}, box, name) };
  });
  const all = element("button", { type: "button", className: "plain" }, "Show all");
  all.addEventListener("click", () => boxes.filter(({ box }) => !box.checked).forEach(({ box }) => box.click()));
  popover.append(all, ...boxes.map(({ label }) => label));
  document.body.append(popover);
  popover.addEventListener("toggle", (event) => {
    if (/** @type {any} */ (event).newState === "closed") popover.remove();
  });
  /** @type {any} */ (popover).showPopover();
  placeBelow(popover, anchor);
  boxes.find(({ box }) => !box.disabled)?.box.focus();
}
