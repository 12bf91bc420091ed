// @ts-check
/** A form for a new row. Untouched fields get their default, or NULL; what does not fit a column is written when it is sent a second time. */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { affinityOf } from "./affinity.js";
import { fitted } from "./fitting.js";
import { typeText } from "./header-row.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("./open-table.js").OpenTable} OpenTable */

export class RowForm {
  /** @type {HTMLFormElement} */
  element;
  #fields;
  #refusal = element("p", { className: "query-error", role: "alert", hidden: true });

  /** @param {OpenTable} table @param {(key: any[]) => void} added */
  constructor(table, added) {
    this.table = table;
    this.added = added;
    this.#fields = table.columns.filter(({ generated }) => !generated).map((column) => new FormField(column, isAutomatic(column, table.table.columns)));
    const save = element("button", { className: "primary" }, "Add row");
    this.element = element("form", { className: "row-form", noValidate: true }, ...this.#fields.map((field) => field.element), this.#refusal, save);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
  }

  focus() {
    (this.#fields.find(({ isAutomatic: isGiven }) => !isGiven) ?? this.#fields[0])?.field.focus();
  }

  async #save() {
    this.#refuse(null);
    try {
      const touched = this.#fields.filter(({ isTouched }) => isTouched);
      const doubtful = touched.filter((field) => !field.check(this.table.list?.valuesOf(field.column.name) ?? []));
      if (doubtful.length > 0) return doubtful[0].field.focus();
      const values = Object.fromEntries(touched.map((field) => [field.column.name, field.value]));
      const row = await this.table.writer.insert(values);
      this.added(this.table.key.map((name) => row[name]));
    } catch (error) {
      this.#refuse(reasonOf(error));
    }
    return undefined;
  }

  /**
   * At the field that the reason names, where it names one.
   *
   * @param {string | null} reason
   */
  #refuse(reason) {
    const named = reason === null ? undefined : this.#fields.find(({ column }) => reason.endsWith(`.${column.name}`));
    for (const field of this.#fields) field.refuse(field === named ? reason : null);
    this.#refusal.hidden = reason === null || named !== undefined;
    this.#refusal.textContent = reason;
    named?.field.focus();
  }
}

let formFields = 0;

class FormField {
  isTouched = false;
  /** @type {SQLValue} */
  value = null;
  #isNull = false;
  /**
   * The text that was doubted last.
   *
   * @type {string | null}
   */
  #doubted = null;
  field;
  #null = element("button", { type: "button", className: "set-null" }, "NULL");
  #reason = element("span", { className: "query-error", role: "alert" });

  /** @param {Column} column @param {boolean} isAutomatic */
  constructor(column, isAutomatic) {
    this.column = column;
    this.isAutomatic = isAutomatic;
    const placeholder = isAutomatic ? "automatic" : column.default ?? (column.notNull ? "" : "NULL");
    // Columns without a type, too: a field of one line drops line breaks that are pasted.
    const isText = ["TEXT", "BLOB"].includes(affinityOf(column.type));
    const properties = { name: column.name, placeholder, autocomplete: "off", spellcheck: false };
    this.field = isText ? element("textarea", { ...properties, rows: 1 }) : element("input", properties);
    this.field.addEventListener("input", () => {
      this.isTouched = this.field.value !== "" || affinityOf(column.type) === "TEXT";
      this.#isNull = false;
      this.#doubted = null;
    });
    this.#null.addEventListener("click", () => {
      this.field.value = "";
      this.field.placeholder = "NULL";
      [this.isTouched, this.#isNull] = [true, true];
    });
    this.#null.ariaLabel = `Set ${column.name} to NULL`;
    const label = element("label", {}, element("b", {}, column.name), element("span", { className: "quiet" }, typeText(column) + (column.notNull ? ", not null" : "")));
    label.htmlFor = this.field.id = `form-field-${formFields += 1}`;
    this.element = element("div", { className: "form-field" }, label, element("div", { className: "form-value" }, this.field, ...(column.notNull || isAutomatic ? [] : [this.#null])), this.#reason);
  }

  /**
   * Whether the value fits, or was doubted before; else its field says why. Makes `value`.
   *
   * @param {SQLValue[]} others of the same column
   */
  check(others) {
    const text = this.field.value;
    const { value, warning } = this.#isNull ? { value: null, warning: null } : fitted(text, this.column, null, others);
    this.value = value;
    if (warning === null || this.#doubted === text) return true;
    this.#doubted = text;
    this.refuse(`${warning} Add it again to write it all the same.`);
    return false;
  }

  /** @param {string | null} reason */
  refuse(reason) {
    this.#reason.textContent = reason;
    this.field.setAttribute("aria-invalid", String(reason !== null));
  }
}

/**
 * SQLite numbers the rows of such a key itself.
 *
 * @param {Column} column @param {Column[]} all
 */
function isAutomatic({ type, key }, all) {
  return key > 0 && /^integer$/i.test(type) && all.filter((column) => column.key > 0).length === 1;
}
