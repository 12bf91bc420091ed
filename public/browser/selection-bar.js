// @ts-check
/** A bar for the selected rows of a table: their number, and the actions on them. */

import { copyText } from "../shell/clipboard.js";
import { element, formatted } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { openMenu } from "./menu.js";
import { deleteRows } from "./row-deletion.js";
import { RowSelection } from "./row-selection.js";
import { rowTexts } from "./row-texts.js";
import { rowsOnce } from "./rows-once.js";
import { wholeRowsQuery } from "./whole-rows.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./row-texts.js").Format} Format */
/** @typedef {import("./open-table.js").OpenTable} OpenTable */

const formats = /** @type {[Format, string][]} */ ([["csv", "CSV"], ["json", "JSON"], ["markdown", "Markdown table"], ["tsv", "Cells for a spreadsheet"]]);

export class SelectionBar {
  #count = element("span", { role: "status" });
  element = element("div", { className: "selection-bar", role: "toolbar", ariaLabel: "Selected rows", hidden: true });

  /** @param {OpenTable} table its `list` and `writer` exist already */
  constructor(table) {
    this.table = table;
    this.selection = new RowSelection(/** @type {import("./table-list.js").TableList} */ (table.list), table.key, {
      changed: () => this.#show(), copy: () => this.#copyAtCursor(), delete: () => this.#delete(),
    });
    const copy = element("button", { type: "button", ariaHasPopup: "menu" }, "Copy");
    const remove = element("button", { type: "button", className: "danger" }, "Delete");
    const clear = element("button", { type: "button", className: "plain", ariaLabel: "Select nothing", title: "Escape" }, "✕");
    copy.addEventListener("click", () => openMenu(copy, "Copy as", formats.map(([format, title]) => ({ title, does: () => { this.#copy(format); } }))));
    remove.addEventListener("click", () => this.#delete());
    clear.addEventListener("click", () => this.#leave());
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.#leave();
    });
    this.element.append(this.#count, copy, ...(table.isEditable ? [remove] : []), clear);
  }

  #show() {
    const { size } = this.selection;
    this.#count.textContent = size === 0 ? "" : `${formatted(size)} ${size === 1 ? "row" : "rows"} selected`;
    this.element.hidden = size === 0;
  }

  #leave() {
    this.selection.clear();
    this.table.focus();
  }

  /** Ctrl C: the selected rows, or the value of the cell. */
  async #copyAtCursor() {
    if (this.selection.size > 0) return this.#copy("tsv");
    const { list } = this.table;
    const found = list?.element.rowAt(list.cursor.row);
    const name = list?.cursor.cell?.dataset.text;
    return found && name !== undefined ? this.#copyRows("tsv", [found.row], [name], `${name} copied.`) : undefined;
  }

  /** @param {Format} format */
  async #copy(format) {
    const { rows } = this.selection;
    const columns = this.table.list?.columns.map(({ name }) => name) ?? [];
    await this.#copyRows(format, rows, columns);
  }

  /** @param {Format} format @param {Row[]} rows @param {string[]} columns @param {string} [sentence] */
  async #copyRows(format, rows, columns, sentence) {
    const { context: { client, undo }, table, key } = this.table;
    try {
      const found = await rowsOnce(client, wholeRowsQuery(table, key, [...new Set([...key, ...columns])], rows));
      const nameOf = (/** @type {Row} */ row) => JSON.stringify(key.map((name) => String(row[name])));
      const whole = new Map(found.map((row) => [nameOf(row), row]));
      const there = rows.flatMap((row) => whole.get(nameOf(row)) ?? []);
      // A single cell's text is copied unchanged.
      const text = sentence && there.length === 1 && typeof there[0][columns[0]] === "string" ? String(there[0][columns[0]]) : rowTexts[format](columns, there);
      const isCopied = await copyText(text);
      undo.say(isCopied ? sentence ?? `${formatted(there.length)} ${there.length === 1 ? "row" : "rows"} copied.` : "Not copied: the browser keeps pages from the clipboard.");
    } catch (error) {
      undo.say(`Not copied: ${reasonOf(error)}`);
    }
  }

  async #delete() {
    const { table } = this;
    const { rows } = this.selection;
    if (!table.isEditable || rows.length === 0) return;
    const key = table.key.map((name) => rows[0][name]);
    if (await deleteRows(table.writer, rows, () => table.reveal(key))) this.#leave();
  }
}
