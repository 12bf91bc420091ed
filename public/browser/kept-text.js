// @ts-check
/**
 * Text that was typed into a row that has disappeared. It is kept below the list, with the focus, until it is closed.
 */

import { copyText } from "../shell/clipboard.js";
import { element } from "../shell/dom.js";

export class KeptText {
  #sentence = element("p", {});
  #field = element("textarea", { ariaLabel: "What you typed", rows: 3, spellcheck: false });
  #element = element("section", { className: "kept-text", role: "alertdialog", ariaLabel: "Not written" });

  /** @param {HTMLElement} list the list next to which it is shown */
  constructor(list) {
    this.list = list;
    const copy = element("button", { type: "button" }, "Copy");
    const close = element("button", { type: "button" }, "Close");
    copy.addEventListener("click", () => this.#copy());
    close.addEventListener("click", () => this.#close());
    this.#element.append(this.#sentence, this.#field, element("div", { className: "kept-buttons" }, copy, close));
    this.#element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.#close();
    });
  }

  /** @param {string} sentence @param {string} text */
  show(sentence, text) {
    this.say(sentence);
    this.#field.value = text;
    this.list.after(this.#element);
    this.#field.focus({ preventScroll: true });
    this.#field.select();
  }

  /** @param {string} sentence */
  say(sentence) {
    this.#sentence.textContent = sentence;
  }

  async #copy() {
    this.#field.select();
    this.say(await copyText(this.#field.value) ? "Copied." : "Press Ctrl C to copy it.");
  }

  #close() {
    this.#element.remove();
    this.list.focus();
  }
}
