// @ts-check
/** A field for a date, with a time if the column has times. It writes dates in the column's form. */

import { element } from "../shell/dom.js";
import { fieldText, writtenDate } from "./date-form.js";

/** @typedef {import("../shell/schema.js").Column} Column */

export class DateField {
  isNull = false;
  hasNullButton = true;
  field;
  #form;

  /** @param {Column} column @param {import("./date-form.js").DateForm} form */
  constructor({ name }, form) {
    this.#form = form;
    const { separator, decimals } = form;
    // Years of more than four digits are not dates to SQLite.
    const kind = separator === "" ? { type: "date", max: "9999-12-31" } : { type: "datetime-local", max: "9999-12-31T23:59:59.999", step: String(decimals === null ? 60 : 10 ** -decimals) };
    this.field = element("input", { ...kind, name, ariaLabel: name, className: "date-field" });
  }

  get element() {
    return this.field;
  }

  get text() {
    return writtenDate(this.field.value, this.#form);
  }

  set text(text) {
    this.field.value = fieldText(text, this.#form);
  }

  get problem() {
    return this.field.validity.badInput ? "The date is not complete, or there is no such day." : null;
  }

  clear() {
    this.field.value = "";
  }

  hint() {}

  select() {}

  takes() {
    return false;
  }
}
