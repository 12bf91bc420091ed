// @ts-check
/**
 * A form for a new row. Untouched fields get their default, or NULL; a value that does not fit its column is written
 * only when the form is sent a second time.
 */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { affinityOf, isBoolean } from "./affinity.js";
import { fitted } from "./fitting.js";
import { typeText } from "./header-row.js";
import { referenceSearch } from "./reference-search.js";
import { newValueField } from "./value-field.js";

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
    this.#fields = table.columns.filter(({ generated }) => !generated).map((column) => new FormField(column, isAutomatic(column, table.table.columns), table));
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
      const touched = this.#fields.filter(({ isTouched, isUnfinished }) => isTouched || isUnfinished);
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
   * Shows the reason at the field that it names, if it names one.
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
   * The text that the last warning was about.
   *
   * @type {string | null}
   */
  #doubted = null;
  #control;
  #null = element("button", { type: "button", className: "set-null" }, "NULL");
  #reason = element("span", { className: "query-error", role: "alert" });

  /** @param {Column} column @param {boolean} isAutomatic @param {OpenTable} table */
  constructor(column, isAutomatic, { list, writer }) {
    this.column = column;
    this.isAutomatic = isAutomatic;
    const { name, notNull } = column;
    const untouched = isAutomatic ? "automatic" : column.default ?? (notNull ? "" : "NULL");
    const literal = defaultAmong(column);
    this.#control = newValueField(column, null, {
      others: list?.valuesOf(name) ?? [], search: referenceSearch(writer, column), untouched: literal === null ? untouched : undefined,
      // Columns without a type get several lines too, because a field of one line drops pasted line breaks.
      isTall: ["TEXT", "BLOB"].includes(affinityOf(column.type)),
    });
    this.#begin(untouched);
    this.#null.addEventListener("click", () => {
      this.#control.clear();
      this.#control.hint("NULL");
      [this.isTouched, this.#isNull] = [true, true];
    });
    this.#null.ariaLabel = `Set ${name} to NULL`;
    // Date fields have no room for the default, so the label names it.
    const given = this.field.matches(".date-field") && column.default !== undefined ? `, default ${column.default}` : "";
    const label = element("label", {}, element("b", {}, name), element("span", { className: "quiet" }, typeText(column) + (notNull ? ", not null" : "") + given));
    label.htmlFor = this.field.id = `form-field-${formFields += 1}`;
    const hasButton = !notNull && !isAutomatic && this.#control.hasNullButton;
    this.element = element("div", { className: "form-field" }, label, element("div", { className: "form-value" }, this.#control.element, ...(hasButton ? [this.#null] : [])), this.#reason);
    this.element.addEventListener("input", () => this.#typed());
    this.element.addEventListener("keydown", (event) => {
      if (!this.#control.takes(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  get field() {
    return this.#control.field;
  }

  /** Whether the typed text is not a value yet. */
  get isUnfinished() {
    return this.#control.problem !== null;
  }

  /** @param {string} untouched the hint for its value while it is untouched */
  #begin(untouched) {
    const { field } = this;
    // The label names the field already.
    field.ariaLabel = null;
    if (field.localName === "textarea") /** @type {HTMLTextAreaElement} */ (field).rows = 1;
    this.#control.clear();
    this.#control.hint(untouched);
    const literal = defaultAmong(this.column);
    if (literal !== null) this.#control.text = literal;
    if (!isBoolean(this.column)) return;
    const known = /^\(*(0|1|true|false)\)*$/i.exec(this.column.default ?? "")?.[1];
    if (known) this.#control.text = String(/^(1|true)$/i.test(known));
    // A box that is not checked means false.
    else if (this.column.notNull && this.column.default === undefined) [this.#control.text, this.isTouched] = ["false", true];
  }

  #typed() {
    this.isTouched = this.#control.text !== "" || this.#control.isNull || affinityOf(this.column.type) === "TEXT" && this.field.localName !== "select";
    this.#isNull = this.#control.isNull;
    this.#doubted = null;
  }

  /**
   * Sets `value`, and returns whether it fits or its warning was shown before. Otherwise the field shows why it does
   * not fit.
   *
   * @param {SQLValue[]} others of the same column
   */
  check(others) {
    const { text, problem } = this.#control;
    if (problem !== null) {
      this.refuse(problem);
      return false;
    }
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
 * The default among the texts that a CHECK lists.
 *
 * @param {Column} column @returns {string | null} null: the default is not among them
 */
function defaultAmong({ default: given = "", values = [] }) {
  const literal = /^\(*'((?:[^']|'')*)'\)*$/.exec(given)?.[1].replaceAll("''", "'");
  return literal !== undefined && values.includes(literal) ? literal : null;
}

/**
 * Whether SQLite assigns the values of a key column itself.
 *
 * @param {Column} column @param {Column[]} all
 */
function isAutomatic({ type, key }, all) {
  return key > 0 && /^integer$/i.test(type) && all.filter((column) => column.key > 0).length === 1;
}
