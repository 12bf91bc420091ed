// @ts-check
/** A menu of columns that may identify the rows of a list without a key: the proposed ones, and any others. */

import { element, fillSelect } from "../shell/dom.js";
import { rowNumber } from "./table-query.js";

const others = "others";

export class KeyMenu {
  #select = element("select", { ariaLabel: "Key" });
  element = element("label", { className: "labelled" }, "Key", this.#select);
  /** @type {string[][]} */
  #keys = [];
  /** @type {string[]} */
  #columns = [];
  /** @type {string[]} */
  #current = [];

  /** @param {(key: string[]) => void} chosen */
  constructor(chosen) {
    this.#select.addEventListener("change", async () => {
      const isOther = this.#select.value === others;
      const key = isOther ? await askForKey(this.#columns, this.#current) : JSON.parse(this.#select.value);
      this.show(this.#current);
      this.#select.focus({ preventScroll: true });
      if (key) chosen(key);
    });
  }

  /** @param {string[][]} keys the likeliest first @param {string[]} columns all of them */
  offer(keys, columns) {
    [this.#keys, this.#columns] = [keys, columns];
    this.show(this.#current);
  }

  /** @param {string[]} key in use; empty: none */
  show(key) {
    this.#current = key;
    const isKnown = key.length === 0 || this.#keys.some((each) => each.join("\n") === key.join("\n"));
    const titles = (isKnown ? this.#keys : [...this.#keys, key]).map((each) => [JSON.stringify(each), keyTitle(each, this.#columns.length)]);
    fillSelect(this.#select, { ...Object.fromEntries(titles), [others]: "other columns…" }, JSON.stringify(key));
  }
}

/** @param {string[]} key @param {number} count of all columns */
function keyTitle(key, count) {
  if (key[0] === rowNumber) return "row numbers";
  return key.length > 1 && key.length === count ? "all columns" : key.join(", ");
}

/**
 * @param {string[]} columns @param {string[]} current
 * @returns {Promise<string[] | null>} null: none was chosen
 */
function askForKey(columns, current) {
  const boxes = columns.map((name) => element("input", { type: "checkbox", value: name, checked: current.includes(name) }));
  const follow = element("button", { className: "primary" }, "Use as key");
  const cancel = element("button", { type: "button" }, "Cancel");
  const title = "Which columns tell the rows apart?";
  const form = element("form", { method: "dialog" }, element("h2", {}, title),
    element("p", { className: "quiet" }, "No two rows may have the same values in all of them."),
    element("div", { className: "key-columns" }, ...boxes.map((box) => element("label", {}, box, box.value))),
    element("div", { className: "ask-buttons" }, cancel, follow));
  const dialog = element("dialog", { className: "ask-dialog", ariaLabel: title }, form);
  const chosen = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);
  const check = () => { follow.disabled = chosen().length === 0; };
  let isSent = false;
  form.addEventListener("change", check);
  form.addEventListener("submit", () => { isSent = true; });
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  check();
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isSent ? chosen() : null);
    });
  });
}
