// @ts-check
/** A form for a new row. Untouched fields get their default, or NULL. */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { affinityOf, valueOf } from "./affinity.js";
import { typeText } from "./header-row.js";

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
      const values = Object.fromEntries(this.#fields.filter(({ isTouched }) => isTouched).map((field) => [field.column.name, field.value]));
      const row = await this.table.writer.insert(values);
      this.added(this.table.key.map((name) => row[name]));
    } catch (error) {
      this.#refuse(reasonOf(error));
    }
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
  #isNull = false;
  field;
  #null = element("button", { type: "button", className: "set-null" }, "NULL");
  #reason = element("span", { className: "query-error", role: "alert" });

  /** @param {Column} column @param {boolean} isAutomatic */
  constructor(column, isAutomatic) {
    this.column = column;
    this.isAutomatic = isAutomatic;
    const placeholder = isAutomatic ? "automatic" : column.default ?? (column.notNull ? "" : "NULL");
    const isText = affinityOf(column.type) === "TEXT";
    const properties = { name: column.name, placeholder, autocomplete: "off", spellcheck: false };
    this.field = isText ? element("textarea", { ...properties, rows: 1 }) : element("input", properties);
    this.field.addEventListener("input", () => {
      this.isTouched = this.field.value !== "" || isText;
      this.#isNull = false;
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

  get value() {
    return this.#isNull ? null : valueOf(this.field.value, this.column);
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
