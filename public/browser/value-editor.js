// @ts-check
/**
 * An editor of one value, in a cell or in the panel of a row. Enter writes, Escape gives up, Tab writes and goes on. NULL is chosen by
 * its button or by Ctrl and Backspace; typing anything afterwards replaces NULL. A refused value stays, with the reason
 * below it. A value that does not fit the column is written by a second Enter, and an unchanged value is not written at
 * all.
 */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { typedText } from "./affinity.js";
import { editedText, fitted, withLineBreaks } from "./fitting.js";
import { keepBelow } from "./menu.js";
import { newValueField } from "./value-field.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {-1 | 0 | 1} Step where to go after writing: to the field before, nowhere, or to the next one */

export class ValueEditor {
  #control;
  #null;
  #reason = element("p", { className: "refusal", role: "alert", popover: "manual" });
  #isNull;
  #isTouched = false;
  /**
   * The text that the last warning was about.
   *
   * @type {string | null}
   */
  #doubted = null;
  #isWriting = false;
  #isDone = false;

  /**
   * @param {Column} column @param {SQLValue} old
   * @param {object} handlers
   * @param {(value: SQLValue, old: SQLValue) => Promise<void>} handlers.write rejected with the reason when it is refused; `current` of the error is the
   *   value that another program has written meanwhile
   * @param {(step: Step) => void} handlers.done called after writing or giving up, to remove the element
   * @param {(typed: SQLValue, error: any) => void} [handlers.refused] called after `done`, if the value shows before it
   *   is written; without this handler, the editor stays until the value is written
   * @param {() => SQLValue[]} [handlers.others] values of the same column
   * @param {import("./reference-search.js").ReferenceSearch | null} [handlers.search] of rows that it may refer to
   * @param {boolean} [isTall] room for several lines
   */
  constructor(column, old, handlers, isTall = false) {
    this.column = column;
    this.old = old;
    this.handlers = handlers;
    this.#isNull = old === null;
    this.#control = newValueField(column, old, { others: handlers.others?.() ?? [], search: handlers.search ?? null, isTall });
    if (old !== null) this.#control.text = editedText(old, column);
    else if (!column.notNull) this.#control.clear();
    this.#null = element("button", { type: "button", className: "set-null", tabIndex: -1, title: "Set to NULL (Ctrl Backspace)" }, "NULL");
    const hasButton = !column.notNull && this.#control.hasNullButton;
    this.element = element("div", { className: isTall ? "value-editor tall" : "value-editor" }, this.#control.element, ...(hasButton ? [this.#null] : []), this.#reason);
    this.#null.addEventListener("mousedown", (event) => event.preventDefault());
    this.#null.addEventListener("click", () => this.#setNull());
    this.element.addEventListener("input", () => this.#typed());
    this.element.addEventListener("focusout", () => this.#left());
    this.element.addEventListener("keydown", (event) => this.#keyDown(/** @type {KeyboardEvent} */ (event)));
    this.element.addEventListener("click", (event) => event.stopPropagation());
    this.element.addEventListener("dblclick", (event) => event.stopPropagation());
    this.#showNull();
  }

  get field() {
    return this.#control.field;
  }

  /** What was typed, with LF for line breaks. */
  get text() {
    return this.#control.text;
  }

  get isTouched() {
    return this.#isTouched;
  }

  focus() {
    this.field.focus({ preventScroll: true });
    this.#control.select();
  }

  /**
   * Begins with a refused value and the reason.
   *
   * @param {SQLValue} typed @param {any} error
   */
  resume(typed, error) {
    if (typed === null) this.#control.clear();
    else this.#control.text = editedText(typed, this.column);
    this.#isTouched = true;
    this.#isNull = typed === null;
    this.#showNull();
    this.focus();
    this.#failed(error);
  }

  #typed() {
    this.#isTouched = true;
    this.#doubted = null;
    this.#isNull = this.#control.isNull;
    this.#showNull();
    this.#refuse(null);
  }

  #setNull() {
    if (this.column.notNull) return;
    this.#control.clear();
    this.#isTouched = true;
    this.#isNull = true;
    this.#showNull();
  }

  #showNull() {
    this.#null.ariaPressed = String(this.#isNull);
    this.#control.hint(this.#isNull ? "NULL" : "");
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    // Otherwise the list would handle most keys too.
    event.stopPropagation();
    const isTall = this.field.localName === "textarea";
    if (event.isComposing) return;
    if (this.#control.takes(event)) event.preventDefault();
    else if (event.key === "Escape") this.#finish(0);
    else if (event.key === "Enter" && !(isTall && event.shiftKey)) this.#write(0);
    else if (event.key === "Tab") this.#write(event.shiftKey ? -1 : 1);
    else if (event.key === "Backspace" && event.ctrlKey) this.#setNull();
    else return;
    event.preventDefault();
  }

  /**
   * Called when the focus leaves. That writes the value too, except a refused one, which waits to be corrected or given
   * up. It does not count if the row was drawn elsewhere or is gone.
   */
  #left() {
    queueMicrotask(() => {
      const isHere = this.field.isConnected && !this.element.closest(".live-leaving") && document.activeElement !== this.field;
      if (isHere && !this.#isDone && !this.#isWriting && this.#reason.textContent === "") this.#write(0);
    });
  }

  /** @param {Step} step */
  async #write(step) {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      if (this.#control.problem !== null) throw new Error(this.#control.problem);
      const value = this.#isTouched ? this.#value() : this.old;
      const { write, refused } = this.handlers;
      const isWritten = isSame(value, this.old) ? Promise.resolve() : write(value, this.old);
      if (refused) isWritten.catch((error) => refused(value, error));
      else await isWritten;
      this.#finish(step);
    } catch (error) {
      this.#failed(error);
    }
    this.#isWriting = false;
  }

  /** @param {any} error with `current`, what another program has written is the old value of the next attempt */
  #failed(error) {
    const isConflict = "current" in error;
    if (isConflict) this.old = error.current;
    this.#refuse(reasonOf(error) + (isConflict ? " Enter overwrites that, Escape leaves it." : ""));
  }

  /**
   * @returns {SQLValue}
   * @throws {Error} with a sentence: the text is not a value, or does not fit and was not confirmed
   */
  #value() {
    if (this.#isNull) return null;
    const { text } = this;
    const { value, warning } = fitted(text, this.column, this.old, this.handlers.others?.() ?? []);
    if (warning && this.#doubted !== text) {
      this.#doubted = text;
      throw new Error(`${warning} Enter again writes it all the same.`);
    }
    return typeof value === "string" && this.field.localName === "textarea" ? withLineBreaks(value, this.old) : value;
  }

  /** @param {string | null} reason */
  #refuse(reason) {
    this.#reason.textContent = reason ?? "";
    this.field.setAttribute("aria-invalid", String(reason !== null));
    const popover = /** @type {import("./menu.js").Popover} */ (/** @type {any} */ (this.#reason));
    if (reason === null || !this.element.isConnected) {
      if (popover.matches(":popover-open")) popover.hidePopover();
      return;
    }
    popover.showPopover();
    keepBelow(this.#reason, () => this.field);
  }

  /** @param {Step} step */
  #finish(step) {
    this.#isDone = true;
    this.element.remove();
    this.handlers.done(step);
  }
}

/** @param {SQLValue} left @param {SQLValue} right */
export function isSame(left, right) {
  return left === right || (left instanceof Uint8Array && right instanceof Uint8Array && typedText(left) === typedText(right));
}
