// @ts-check
/** The dialog with the keys of the shown view, opened by `?`. docs/browser.md and docs/javascript.md list them too. */

import { element } from "./dom.js";

/** @typedef {[keys: string, does: string][]} Keys */

/** @type {Keys} */
const everywhere = [["?", "these keys"], ["Tab", "to the next control; first of all a link that skips to the rows"]];

/** @type {Keys} */
const ofLists = [
  ["↑ ↓ Page Up Page Down Home End", "from row to row"], ["[ ]", "from section to section"], ["letters", "to the section that begins so"],
];

/** @type {Record<string, Keys>} */
const ofViews = {
  tables: [
    ["↑ ↓ ← →", "from cell to cell; ↑ on the first row leads to the titles"], ...ofLists.slice(1),
    ["Space", "details of the row"], ["Escape", "closes the details"], ["Enter, F2", "edit the cell; the details where nothing can be written"],
    ["Enter, Tab, Escape", "while editing: write, write and go on, give up"], ["Ctrl Backspace", "while editing: NULL"],
    ["Shift ↑ ↓, Shift Space, Ctrl A", "select rows: from here on, this one, all; Escape selects none"], ["Ctrl C", "copy the selected rows, or the cell"],
    ["Shift Delete", "delete the row, or those selected"], ["Ctrl Z", "undo"],
    ["Enter, Shift Enter", "on a title: sort, sort by this column as well"], ["Alt ← →, Shift ← →", "on a title: move the column, resize it"], ["Alt ↓", "on a title: its menu"],
  ],
  wells: [...ofLists, ["Enter", "change the well; Escape gives up"], ["Ctrl Z", "undo"]],
  banks: ofLists,
  activity: [["↑ ↓ Page Up Page Down Home End", "scroll through the commits"], ["Ctrl Z", "undo"]],
  sql: [["Ctrl Enter", "run"], ...ofLists],
  console: [["Enter", "in a field: run the query"], ...ofLists],
  server: [],
};

/** @param {string} view */
export function openKeys(view) {
  const close = element("button", { type: "button", className: "plain close", ariaLabel: "Close" }, "✕");
  const rows = [...ofViews[view] ?? [], ...everywhere].map(([keys, does]) =>
    element("tr", {}, element("th", { scope: "row" }, ...keys.split(/(\s|, )/).map(keyCap)), element("td", {}, does)));
  const dialog = element("dialog", { className: "use-dialog keys-dialog", ariaLabel: "Keys" },
    element("div", { className: "frame-head" }, element("h2", {}, "Keys"), close), element("table", {}, element("tbody", {}, ...rows)));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  // A click outside closes it.
  dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {string} text */
function keyCap(text) {
  return /^(\s|, )$/.test(text) || text === "" ? text : element("kbd", {}, text);
}
