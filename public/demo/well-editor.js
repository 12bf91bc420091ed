// @ts-check
/** A form for changing a well in its row. It lies over the row and moves with it. */

import { sql } from "../freshet.js";
import { fillSelect, fromTemplate } from "../shell/dom.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLFragment} SQLFragment */
/** @typedef {import("./wells-pane.js").WellsPane} WellsPane */

const statuses = ["Producing", "Shut-in", "Plugged", "Completed", "Injecting", "Drilling", "Permitted"];

export class WellEditor {
  /** @type {HTMLElement | null} */
  #form = null;

  /**
   * @param {object} handlers each resolves to whether the change was written
   * @param {(statement: SQLFragment, pane: WellsPane, row: Row, name: string) => Promise<boolean>} handlers.save `row`:
   * its former values; `name`: its new name
   * @param {(row: Row, pane: WellsPane) => Promise<boolean>} handlers.remove
   */
  constructor(handlers) {
    this.handlers = handlers;
  }

  /** @param {Row} row @param {HTMLElement | undefined} element the row's @param {WellsPane} pane */
  open(row, element, pane) {
    if (!element || element.contains(this.#form)) return;
    this.#form?.remove();
    const form = /** @type {HTMLFormElement} */ (fromTemplate("well-editor-template"));
    this.#form = form;
    const field = (/** @type {string} */ name) => /** @type {any} */ (form.elements.namedItem(name));
    fillSelect(field("status"), [...new Set([...statuses, row.status])], row.status);
    field("name").value = row.name;
    field("depth").value = String(row.depth);
    const close = () => {
      form.remove();
      element.focus({ preventScroll: true });
    };
    const done = async (/** @type {Promise<boolean>} */ writing) => {
      if (await writing) close();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      done(this.handlers.save(sql`UPDATE well SET name = ${field("name").value}, status = ${field("status").value},
        depth = ${Number(field("depth").value)} WHERE id = ${row.id}`, pane, row, field("name").value));
    });
    form.addEventListener("click", (event) => {
      event.stopPropagation();
      const { value } = /** @type {HTMLButtonElement} */ (event.target);
      if (value === "cancel") close();
      if (value === "delete") done(this.handlers.remove(row, pane));
    });
    // Otherwise the list would handle most keys too.
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") close();
    });
    element.append(form);
    field("name").select();
    field("name").focus({ preventScroll: true });
  }
}
