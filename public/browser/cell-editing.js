// @ts-check
/**
 * Editing in the cells of a table: Enter, F2 or a double click begins; Tab goes on to the next cell; Shift Delete deletes the row. When the row goes
 * away meanwhile, what was typed is kept.
 */

import { reasonOf } from "../shell/reason.js";
import { editedText } from "./fitting.js";
import { KeptText } from "./kept-text.js";
import { referenceSearch } from "./reference-search.js";
import { deleteRows } from "./row-deletion.js";
import { GoneError } from "./table-writer.js";
import { ValueEditor } from "./value-editor.js";

/** @typedef {import("./open-table.js").OpenTable} OpenTable */
/** @typedef {import("./table-list.js").TableList} TableList */
/** @typedef {import("./table-writer.js").TableWriter} TableWriter */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../shell/schema.js").Column} Column */

/** @typedef {{editor: ValueEditor, rowElement: HTMLElement, row: Row, column: Column}} Editing */

export class CellEditing {
  /** @type {Editing | null} */
  #editing = null;
  #kept;

  /**
   * @param {TableList} list @param {TableWriter} writer
   * @param {(row: Row, column: string) => boolean} isWhole whether a cell has its whole value
   * @param {(row: Row, column: string) => void} openElsewhere edits values that are too large for a cell
   */
  constructor(list, writer, isWhole, openElsewhere) {
    this.list = list;
    this.writer = writer;
    this.isWhole = isWhole;
    this.openElsewhere = openElsewhere;
    const { element } = list;
    this.#kept = new KeptText(element);
    this.#observer.observe(element, { subtree: true, childList: true });
    element.addEventListener("keydown", (event) => this.#keyDown(event), { capture: true });
    element.addEventListener("dblclick", ({ target }) => {
      if (/** @type {Element} */ (target).closest(".cell") && !/** @type {Element} */ (target).closest("a, button")) this.edit();
    });
  }

  /** Checks, after the list has drawn, whether the edited row is still there. */
  #observer = new MutationObserver(() => {
    const { editor, rowElement, row, column } = this.#editing ?? {};
    if (!editor || !rowElement || (rowElement.isConnected && !rowElement.matches(".live-leaving"))) return;
    this.#editing = null;
    if (editor.isTouched) this.#keep(/** @type {Row} */ (row), /** @type {Column} */ (column), editor.text);
  });

  /**
   * Keeps what was typed into a row that is deleted or not in this list any more.
   *
   * @param {Row} row @param {Column} column @param {string} text
   */
  async #keep(row, column, text) {
    const title = `${column.name} of ${this.writer.titleOf(row)}`;
    // Shown at once, because the list gives the focus to the next row.
    this.#kept.show(`${title} was not written:`, text);
    const isThere = await this.writer.hasRow(row).catch(() => null);
    if (isThere !== null) this.#kept.say(isThere ? `${title} was not written, the row is out of view:` : `${title} was not written, somebody else has deleted the row:`);
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const target = /** @type {Element} */ (event.target);
    if (!target.matches(".live-row") || event.ctrlKey || event.altKey || event.metaKey) return;
    if ((event.key === "Enter" && !event.shiftKey) || event.key === "F2") this.edit();
    else if (event.key === "Delete" && event.shiftKey) this.delete();
    else return;
    event.preventDefault();
  }

  /**
   * The row that keys act on.
   *
   * @returns {Row | null}
   */
  get #row() {
    return this.list.element.rowAt(this.list.cursor.row)?.row ?? null;
  }

  /** Begins in the cell at the cursor. */
  edit() {
    const { cursor } = this.list;
    const cell = cursor.cell;
    const row = this.#row;
    const column = this.list.columns.find(({ name }) => name === (cell?.dataset.text ?? ""));
    if (!cell || !row || !column || column.generated || cell.dataset.editing) return;
    cursor.moveTo(column.name);
    if (!this.isWhole(row, column.name)) {
      this.openElsewhere(row, column.name);
      return;
    }
    const rowElement = /** @type {HTMLElement} */ (cursor.row);
    this.#open(rowElement, cell, row, column).focus();
  }

  /**
   * @param {HTMLElement} rowElement @param {HTMLElement} cell @param {Row} row @param {Column} column
   */
  #open(rowElement, cell, row, column) {
    const editor = new ValueEditor(column, row[column.name] ?? null, {
      write: (value, old) => this.writer.update(row, column.name, value, old),
      others: () => this.list.valuesOf(column.name),
      search: referenceSearch(this.writer, column),
      ...(this.writer.showsAtOnce(column.name) && {
        refused: (/** @type {any} */ typed, /** @type {any} */ error) => this.#refused(rowElement, row, column, typed, error),
      }),
      done: (step) => {
        if (this.#editing?.editor === editor) this.#editing = null;
        delete cell.dataset.editing;
        this.#refresh(rowElement, cell);
        if (step !== 0 && this.#goOn(step)) return;
        if (!document.activeElement || document.activeElement === document.body || rowElement.contains(document.activeElement)) rowElement.focus({ preventScroll: true });
      },
    });
    cell.dataset.editing = "true";
    cell.append(editor.element);
    this.#editing = { editor, rowElement, row, column };
    return editor;
  }

  /**
   * Opens the editor again after a refusal, with what was typed and the reason. If the row is gone, the text is kept
   * below the table.
   *
   * @param {HTMLElement} rowElement @param {Row} row @param {Column} column @param {any} typed @param {any} error
   */
  async #refused(rowElement, row, column, typed, error) {
    // Wait until the list has drawn its rows.
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const shown = this.list.element.rowAt(rowElement)?.row;
    const cell = /** @type {HTMLElement | null} */ (rowElement.querySelector(`.cell[data-text="${CSS.escape(column.name)}"]`));
    const isThere = shown && cell && !cell.dataset.editing && this.writer.key.every((name) => shown[name] === row[name]);
    if (isThere) this.#open(rowElement, cell, shown, column).resume(typed, error);
    else if (error instanceof GoneError) this.#keep(row, column, editedText(typed, column));
    else this.writer.undo.say(`Not written: ${reasonOf(error)}`);
  }

  /**
   * Draws the changes that came while the cell was being edited.
   *
   * @param {HTMLElement} rowElement @param {HTMLElement} cell
   */
  #refresh(rowElement, cell) {
    const current = this.list.element.rowAt(rowElement);
    if (current && cell.isConnected) this.list.element.renderRow?.(rowElement, current.row, { offset: current.offset, path: current.path ?? [0, 0] });
  }

  /**
   * The next cell that can be edited.
   *
   * @param {-1 | 1} step @returns {boolean}
   */
  #goOn(step) {
    const { cursor, columns } = this.list;
    let at = columns.findIndex(({ name }) => name === cursor.column) + step;
    while (columns[at]?.generated) at += step;
    if (!columns[at]) return false;
    cursor.moveTo(columns[at].name);
    this.edit();
    return true;
  }

  async delete() {
    const row = this.#row;
    if (!row) return;
    const { element } = this.list;
    await deleteRows(this.writer, [row], () => element.scrollToKey(this.writer.key.map((name) => row[name])));
  }
}
