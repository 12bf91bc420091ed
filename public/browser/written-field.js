// @ts-check
/** A field into which a value is typed: its text is the text of its control. */

export class WrittenField {
  isNull = false;
  problem = null;
  hasNullButton = true;

  /** @param {HTMLInputElement | HTMLTextAreaElement} field */
  constructor(field) {
    this.field = field;
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
  }

  clear() {
    this.field.value = "";
  }

  /** @param {string} title */
  hint(title) {
    this.field.placeholder = title;
  }

  select() {
    this.field.select();
  }
}
