// @ts-check
/**
 * The panel at the right: a row with its whole values and the rows that it refers to or that refer to it; or a form for
 * a new row.
 */

import { formatActivity } from "../activity/activity-address.js";
import { element, part } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { RowForm } from "./row-form.js";
import { deleteRows } from "./row-deletion.js";
import { referenceSearch } from "./reference-search.js";
import { RowReferences } from "./row-references.js";
import { quoted } from "./identifiers.js";
import { isRow } from "./statements.js";
import { queryOf } from "./table-query.js";
import { typeText } from "./header-row.js";
import { ValueEditor } from "./value-editor.js";
import { valueView } from "./value-view.js";
import { wholeTable } from "./address.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("./open-table.js").OpenTable} OpenTable */

export class RowPanel {
  #panel = part("row-panel");
  /** @type {LiveList | null} */
  #list = null;
  /** @type {RowReferences | null} */
  #references = null;
  #shown = "";
  /** The button that deletes the row, disabled before the row has come and after it is gone. */
  #deletion = element("button");
  /**
   * The element that had the focus before.
   *
   * @type {Element | null}
   */
  #opener = null;

  /**
   * @param {HTMLElement} home the panel's parent while it is closed @param {() => void} closed called when the user
   * closes the details
   */
  constructor(home, closed) {
    this.home = home;
    this.closed = closed;
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      this.dismiss();
    });
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  /**
   * Shows a row, and follows it.
   *
   * @param {OpenTable} table @param {any[]} key @param {string} [editing] the column to be edited at once
   */
  show(table, key, editing) {
    const shown = JSON.stringify([table.table.name, table.key, key.map(String)]);
    if (shown === this.#shown && !editing) return;
    this.#reset();
    this.#shown = shown;
    const { name } = table.table;
    const fields = element("dl", { className: "row-fields" });
    const title = `${name} ${key.map(String).join(", ")}`;
    const history = table.table.kind === "table" ? [element("a", { className: "row-history", href: formatActivity({ table: name, key }) }, "What changed last")] : [];
    this.#open(table, title, [...history, fields], table.isEditable ? [this.#deleteButton(table)] : []);
    this.#references = new RowReferences(table.context.client, table.context.catalogue, table.table);
    fields.after(this.#references.element);
    this.#follow(table, key, fields, editing);
  }

  /** @param {OpenTable} table @param {any[]} key @param {HTMLElement} fields @param {string} [editing] */
  #follow(table, key, fields, editing) {
    const { columns } = table;
    const { from } = queryOf(table.table, wholeTable(table.table.name), null, table.key);
    const where = isRow(Object.fromEntries(table.key.map((column, index) => [column, key[index]])));
    const list = table.context.client.subscribe({ from, key: table.key.map(quoted), select: columns.map(({ name }) => quoted(name)), where });
    this.#list = list;
    const parts = new Map(columns.map((column) => [column.name, fieldFor(column)]));
    fields.append(...[...parts.values()].flatMap(({ term, value }) => [term, value]));
    /** @type {Row | undefined} */
    let row;
    list.addEventListener("change", () => {
      const last = row;
      row = list.at(0);
      this.#panel.classList.toggle("is-gone", !row);
      this.#deletion.disabled = !row;
      if (!row) return;
      for (const column of columns) if (!last || last[column.name] !== row[column.name]) this.#fill(table, column, parts, row, Boolean(last));
      this.#references?.show(row);
      this.row = row;
      if (editing) this.#edit(table, editing, parts, row);
      editing = undefined;
    });
    list.addEventListener("error", ({ error }) => fields.replaceChildren(element("p", { className: "query-error" }, error.message)));
  }

  /** @param {OpenTable} table @param {Column} column @param {Map<string, {value: HTMLElement}>} parts @param {Row} row @param {boolean} isChange */
  #fill(table, column, parts, row, isChange) {
    const value = /** @type {HTMLElement} */ (parts.get(column.name)?.value);
    if (value.querySelector(".value-editor")) return;
    value.replaceChildren(valueView(row[column.name], column), ...(this.#references?.linksFrom(column.name, row) ?? []));
    if (table.isEditable && !column.generated) {
      const edit = element("button", { type: "button", className: "plain edit-value", ariaLabel: `Edit ${column.name}` }, "Edit");
      edit.addEventListener("click", () => this.#edit(table, column.name, parts, /** @type {Row} */ (this.row)));
      value.append(edit);
      if (row[column.name] instanceof Uint8Array || /blob/i.test(column.type)) value.append(this.#fileField(table, column));
    }
    if (isChange) value.animate([{ backgroundColor: "var(--changed)" }, {}], { duration: 1400, easing: "ease-in" });
  }

  /** @type {Row | undefined} */
  row;

  /**
   * A field for a file that replaces a BLOB.
   *
   * @param {OpenTable} table @param {Column} column
   */
  #fileField({ writer }, column) {
    const input = element("input", { type: "file" });
    input.addEventListener("change", async () => {
      const [file] = input.files ?? [];
      const { row } = this;
      if (!file || !row) return;
      try {
        await writer.update(row, column.name, new Uint8Array(await file.arrayBuffer()), row[column.name]);
      } catch (error) {
        writer.undo.say(`Not written: ${reasonOf(error)}`);
      }
    });
    return element("label", { className: "replace-blob quiet" }, "Take from a file", input);
  }

  /** @param {OpenTable} table @param {string} name @param {Map<string, {value: HTMLElement}>} parts @param {Row} row */
  #edit(table, name, parts, row) {
    const column = table.columns.find((each) => each.name === name);
    const value = parts.get(name)?.value;
    if (!column || !value || value.querySelector(".value-editor")) return;
    const old = row[name];
    const isTall = typeof old === "string" && (old.length > 40 || /[\r\n]/.test(old));
    const editor = new ValueEditor(column, old, {
      write: (next, before) => table.writer.update(row, name, next, before),
      others: () => table.list?.valuesOf(name) ?? [],
      search: referenceSearch(table.writer, column),
      done: () => {
        this.#fill(table, column, parts, /** @type {Row} */ (this.row), false);
        /** @type {HTMLElement | null} */ (value.querySelector(".edit-value"))?.focus();
      },
    }, isTall);
    value.replaceChildren(editor.element);
    editor.focus();
  }

  /** @param {OpenTable} table */
  #deleteButton(table) {
    const button = element("button", { type: "button", className: "danger", disabled: true }, "Delete row");
    this.#deletion = button;
    button.addEventListener("click", async () => {
      const { row } = this;
      if (row && await deleteRows(table.writer, [row], () => table.reveal(table.key.map((name) => row[name])))) this.dismiss();
    });
    return button;
  }

  /**
   * A form for a new row.
   *
   * @param {OpenTable} table @param {(key: any[]) => void} added
   */
  showForm(table, added) {
    this.#reset();
    const form = new RowForm(table, (key) => {
      this.close();
      added(key);
    });
    this.#open(table, `New row in ${table.table.name}`, [form.element], []);
    form.focus();
  }

  /** @param {OpenTable} table @param {string} title @param {HTMLElement[]} contents @param {HTMLElement[]} actions */
  #open(table, title, contents, actions) {
    if (this.#panel.hidden) this.#opener = document.activeElement;
    // The panel is placed below the table's head, whose width therefore stays the same, so that the rows do not move.
    if (this.#panel.parentElement !== table.body) table.body.append(this.#panel);
    const close = element("button", { type: "button", className: "plain close", ariaLabel: "Close" }, "✕");
    close.addEventListener("click", () => this.dismiss());
    this.#panel.replaceChildren(
      element("div", { className: "frame-head" }, element("h2", {}, title), ...actions, close),
      element("div", { className: "panel-body" }, element("p", { className: "gone" }, "This row is not there any more."), ...contents));
    this.#panel.hidden = false;
    this.#panel.classList.remove("is-gone");
  }

  dismiss() {
    const isForm = this.#shown === "";
    this.close();
    if (!isForm) this.closed();
    else if (this.#opener instanceof HTMLElement && this.#opener.isConnected) this.#opener.focus({ preventScroll: true });
  }

  #reset() {
    this.#list?.close();
    this.#references?.close();
    this.#list = null;
    this.#references = null;
    this.row = undefined;
    this.#shown = "";
  }

  close() {
    this.#reset();
    this.#panel.hidden = true;
    this.#panel.replaceChildren();
    this.home.append(this.#panel);
  }
}

/** @param {Column} column */
function fieldFor(column) {
  const term = element("dt", {}, element("b", {}, column.name), element("span", { className: "quiet" }, typeText(column)));
  return { term, value: element("dd") };
}
