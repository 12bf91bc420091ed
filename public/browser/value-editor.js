// @ts-check
/**
 * A field for one value, in a cell or in the panel of a row. Enter writes, Escape gives up, Tab writes and goes on. NULL is chosen by
 * its button or by Ctrl and Backspace; whatever is typed afterwards is no NULL. What was refused stays, with the reason below it.
 */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { typedText, valueOf } from "./affinity.js";
import { placeBelow } from "./menu.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {-1 | 0 | 1} Step what comes after writing: the field before, none, or the next one */

export class ValueEditor {
  /** @type {HTMLInputElement | HTMLTextAreaElement} */
  field;
  #null;
  #reason = element("p", { className: "refusal", role: "alert", popover: "manual" });
  #isNull;
  #isWriting = false;
  #isDone = false;

  /**
   * @param {Column} column @param {SQLValue} old
   * @param {object} handlers
   * @param {(value: SQLValue) => Promise<void>} handlers.write rejected with the reason when it is refused
   * @param {(step: Step) => void} handlers.done after writing or giving up; the element is to be taken away
   * @param {(typed: SQLValue, reason: string) => void} [handlers.refused] called after `done`, where the value shows before it is
   *   written; without it, the editor stays until the value is written
   * @param {boolean} [isTall] room for several lines
   */
  constructor(column, old, handlers, isTall = false) {
    this.column = column;
    this.old = old;
    this.handlers = handlers;
    this.#isNull = old === null;
    const properties = { value: typedText(old), ariaLabel: column.name, autocomplete: "off", spellcheck: false, placeholder: old === null ? "NULL" : "" };
    this.field = isTall ? element("textarea", { ...properties, rows: 4 }) : element("input", properties);
    this.#null = element("button", { type: "button", className: "set-null", tabIndex: -1, title: "Set to NULL (Ctrl Backspace)" }, "NULL");
    this.element = element("div", { className: isTall ? "value-editor tall" : "value-editor" }, this.field, ...(column.notNull ? [] : [this.#null]), this.#reason);
    this.#null.addEventListener("mousedown", (event) => event.preventDefault());
    this.#null.addEventListener("click", () => this.#setNull());
    this.field.addEventListener("input", () => this.#typed());
    this.element.addEventListener("keydown", (event) => this.#keyDown(/** @type {KeyboardEvent} */ (event)));
    this.element.addEventListener("click", (event) => event.stopPropagation());
    this.element.addEventListener("dblclick", (event) => event.stopPropagation());
    this.field.addEventListener("blur", () => this.#left());
    this.#showNull();
  }

  focus() {
    this.field.focus({ preventScroll: true });
    this.field.select();
  }

  /**
   * Begins with what was refused before.
   *
   * @param {SQLValue} typed @param {string} reason
   */
  resume(typed, reason) {
    this.field.value = typedText(typed);
    this.#isNull = typed === null;
    this.#showNull();
    this.focus();
    this.#refuse(reason);
  }

  #typed() {
    this.#isNull = false;
    this.#showNull();
    this.#refuse(null);
  }

  #setNull() {
    if (this.column.notNull) return;
    this.field.value = "";
    this.field.placeholder = "NULL";
    this.#isNull = true;
    this.#showNull();
  }

  #showNull() {
    this.#null.ariaPressed = String(this.#isNull);
    if (!this.#isNull) this.field.placeholder = "";
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    // The list has its own use for most keys.
    event.stopPropagation();
    const isTall = this.field.localName === "textarea";
    if (event.isComposing) return;
    if (event.key === "Escape") this.#finish(0);
    else if (event.key === "Enter" && !(isTall && event.shiftKey)) this.#write(0);
    else if (event.key === "Tab") this.#write(event.shiftKey ? -1 : 1);
    else if (event.key === "Backspace" && event.ctrlKey) this.#setNull();
    else return;
    event.preventDefault();
  }

  /** Going elsewhere writes as well; what was refused waits to be mended or given up. */
  #left() {
    if (!this.#isDone && !this.#isWriting && this.field.isConnected && this.#reason.textContent === "") this.#write(0);
  }

  /** @param {Step} step */
  async #write(step) {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      const value = this.#isNull ? null : valueOf(this.field.value, this.column, this.old);
      const { write, refused } = this.handlers;
      const isWritten = isSame(value, this.old) ? Promise.resolve() : write(value);
      if (refused) isWritten.catch((error) => refused(value, reasonOf(error)));
      else await isWritten;
      this.#finish(step);
    } catch (error) {
      this.#refuse(reasonOf(error));
    }
    this.#isWriting = false;
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
    this.#keepPlaced();
  }

  /** The row may move, the list may be scrolled: the reason stays below its cell. */
  #keepPlaced() {
    if (!this.#reason.isConnected || !this.#reason.matches(":popover-open")) return;
    placeBelow(this.#reason, this.field);
    requestAnimationFrame(() => this.#keepPlaced());
  }

  /** @param {Step} step */
  #finish(step) {
    this.#isDone = true;
    this.element.remove();
    this.handlers.done(step);
  }
}

/** @param {SQLValue} left @param {SQLValue} right */
function isSame(left, right) {
  return left === right || (left instanceof Uint8Array && right instanceof Uint8Array && typedText(left) === typedText(right));
}
