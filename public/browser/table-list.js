// @ts-check
/**
 * One table on the screen: a `<live-list>` with column headers. It manages columns, widths and the cell that keys act
 * on; its owner sets the query.
 */

import { element } from "../shell/dom.js";
import { CellCursor } from "./cell-cursor.js";
import { cellText, columnForm } from "./cell-text.js";
import { moved, noLayout, orderedColumns, resized, shown, visibleColumns } from "./column-layout.js";
import { clamp, naturalWidth, spread } from "./column-widths.js";
import { HeaderRow, typeText } from "./header-row.js";
import { rowRenderer } from "./row-cells.js";
import { lengthOf } from "./table-query.js";
import { totalTemplates } from "./total-templates.js";

/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("./address.js").SortColumn} SortColumn */
/** @typedef {import("./catalogue.js").Reference} Reference */
/** @typedef {import("./column-layout.js").ColumnLayout} ColumnLayout */
/**
 * @typedef {object} Handlers
 * @property {(column: string, isAdded: boolean) => void} sort @property {(column: string, anchor: HTMLElement) => void} menu
 * @property {(layout: ColumnLayout) => void} arranged @property {(state: ListState) => void} updated
 * @property {(error: any) => void} failed
 * @property {(element: HTMLElement, row: import("../freshet.js").Row) => void} [drawn] called when a row was drawn
 */

/** Column widths are measured from this many rows. */
const measuredRows = 60;
/** Pixels to which columns can be dragged, beyond their natural width. */
const widestByHand = 1200;
/** Key columns stay in view if they leave this fraction of the width to the others. */
const fixedPart = 0.45;
const mostFixed = 3;

const canvas = document.createElement("canvas").getContext("2d");

export class TableList {
  element = /** @type {LiveListElement} */ (document.createElement("live-list"));
  /** @type {(Column & {form?: import("./cell-text.js").ColumnForm})[]} those that are shown, in their order */
  columns = [];
  /** The natural widths of columns, and the widths without cut values, known once there are rows. */
  #natural = new Map();
  #layout = noLayout;
  #isMeasured = false;

  /**
   * @param {{columns: (Column & {form?: import("./cell-text.js").ColumnForm})[], key: string[], references: Reference[], label: string, isEditable?: boolean}} table all its columns, those of the key
   *   among them
   * @param {Handlers} handlers
   */
  constructor(table, handlers) {
    this.table = table;
    this.handlers = handlers;
    const { element: list } = this;
    list.className = "table-list sideways";
    list.setAttribute("label", table.label);
    this.header = new HeaderRow({
      sort: handlers.sort, menu: handlers.menu, leave: () => list.focus(), move: (name, steps) => this.move(name, steps),
      moveBefore: (name, before) => this.#arrange(moved(this.#layout, this.#ordered, name, before)),
      resize: (name, width, isFinal) => this.#resize(name, width, isFinal), fit: (name) => this.fit(name),
    });
    list.header = this.header.element;
    this.cursor = new CellCursor(list, () => this.columns.map(({ name }) => name), this.header);
    list.addEventListener("update", (event) => this.#updated(/** @type {CustomEvent} */ (event).detail.after));
    list.addEventListener("error", ({ error }) => handlers.failed(error));
    list.addEventListener("answered", () => this.#measureAgain());
    // Scroll events do not bubble, so the listener captures them.
    list.addEventListener("scroll", ({ target }) => list.toggleAttribute("data-scrolled", /** @type {Element} */ (target).scrollLeft > 0), { capture: true, passive: true });
    this.#room = new ResizeObserver(() => this.#applyWidths());
    this.#room.observe(list);
  }

  #room;

  get #ordered() {
    return orderedColumns(this.#layout, this.table.columns.map(({ name }) => name), this.table.key);
  }

  get layout() {
    return this.#layout;
  }

  /** @param {ColumnLayout} layout as stored */
  show(layout) {
    this.#layout = layout;
    const { columns, key, references } = this.table;
    const byName = new Map(columns.map((column) => [column.name, column]));
    this.columns = visibleColumns(layout, [...byName.keys()], key).flatMap((name) => byName.get(name) ?? []);
    const notes = new Map(references.map((reference) => [reference.columns[0], reference.table]));
    this.header.show(this.columns, this.#fixed, notes);
    const render = rowRenderer(this.columns, this.#fixed, references);
    this.element.renderRow = (rowElement, row) => {
      render(rowElement, row);
      this.handlers.drawn?.(rowElement, row);
    };
    this.#describe();
    this.#applyWidths();
  }

  get #scroller() {
    return this.element.querySelector(".live-scroller");
  }

  /** The list has its grid once it is in the document. */
  #describe() {
    const grid = this.#scroller;
    // The grid is observed, because the section index makes it narrower than the list.
    if (grid) this.#room.observe(grid);
    grid?.setAttribute("aria-colcount", String(this.columns.length));
    grid?.setAttribute("aria-readonly", String(!this.table.isEditable));
  }

  get #fixed() {
    // A key with more columns than that would be most of the table, so it scrolls too.
    return this.table.key.length > mostFixed ? 0 : this.table.key.length;
  }

  /** @param {string} name @param {boolean} isShown */
  setShown(name, isShown) {
    this.#arrange(shown(this.#layout, name, isShown));
  }

  /** @param {string} name @param {number} steps to the right */
  move(name, steps) {
    const names = this.columns.map((column) => column.name);
    const at = names.indexOf(name) + steps;
    if (this.table.key.includes(name) || at < this.#fixed || at >= names.length) return;
    const before = steps < 0 ? names[at] : names[at + 1] ?? null;
    this.#arrange(moved(this.#layout, this.#ordered, name, before));
  }

  /**
   * Makes a column as wide as its values in view need.
   *
   * @param {string} name
   */
  fit(name) {
    const column = this.columns.find((each) => each.name === name);
    if (column) this.#arrange(resized(this.#layout, name, clamp(this.#measure(column).needs, widestByHand)));
  }

  /** @param {ColumnLayout} layout */
  #arrange(layout) {
    this.show(layout);
    this.#sorted(this.#sort);
    this.handlers.arranged(layout);
  }

  /** @type {SortColumn[]} */
  #sort = [];

  /** @param {SortColumn[]} sort */
  #sorted(sort) {
    this.#sort = sort;
    this.header.showSort(sort);
  }

  /** @param {SortColumn[]} sort */
  showSort(sort) {
    this.#sorted(sort);
  }

  /** @param {import("./totals.js").Total[]} totals @param {string | null} chart address of the chart of the sections */
  showTotals(totals, chart) {
    const { section, line } = totalTemplates(totals, chart);
    this.element.sectionTemplate = section;
    this.element.querySelector(":scope > template[slot=totals]")?.remove();
    if (!line) return;
    line.slot = "totals";
    this.element.append(line);
  }

  /** @param {string} name @param {number} width @param {boolean} isFinal */
  #resize(name, width, isFinal) {
    this.#layout = resized(this.#layout, name, clamp(width, widestByHand));
    this.#applyWidths();
    if (isFinal) this.handlers.arranged(this.#layout);
  }

  /** @param {ListState} state */
  #updated(state) {
    if (!this.#isMeasured && state.heldCount > 0) {
      this.#isMeasured = true;
      this.#settleForms();
      for (const column of this.table.columns) this.#natural.set(column.name, this.#measure(column));
      this.#applyWidths();
      this.#describe();
    }
    this.handlers.updated(state);
  }

  /** Called when other rows are in view: columns with cut values grow, and no column gets narrower. */
  #measureAgain() {
    if (!this.#isMeasured || this.#sample.length === 0) return;
    for (const column of this.table.columns) {
      const { width = 0, needs = 0 } = this.#natural.get(column.name) ?? {};
      const now = this.#measure(column);
      this.#natural.set(column.name, { width: Math.max(width, now.width), needs: Math.max(needs, now.needs) });
    }
    this.#applyWidths();
  }

  /** Chooses one form for all numbers of a column, and for all its dates, from the first rows. */
  #settleForms() {
    const { columns, references } = this.table;
    const referring = new Set(references.flatMap((reference) => reference.columns));
    this.table = { ...this.table, columns: columns.map((column) => ({ ...column, form: columnForm(column, this.valuesOf(column.name), referring.has(column.name)) })) };
    this.show(this.#layout);
    this.#sorted(this.#sort);
  }

  /** Rows from the first one in view on. */
  get #sample() {
    const { first = 0 } = this.element.visibleRange;
    const { list } = this.element;
    return Array.from({ length: measuredRows }, (_, index) => list?.at(first + index)).filter((row) => row !== undefined);
  }

  /**
   * Some of the values that a column holds.
   *
   * @param {string} name @returns {SQLValue[]}
   */
  valuesOf(name) {
    return this.#sample.map((row) => row?.[name] ?? null);
  }

  /** @param {Column} column */
  #measure(column) {
    const { name } = column;
    const rows = this.#sample;
    const texts = rows.map((row) => cellText(row?.[name], column, row?.[lengthOf(name)] ?? null).text);
    // The shorthand `font` is empty if it cannot express all properties, such as the kind of digits.
    const { fontSize, fontFamily } = getComputedStyle(this.element);
    const measure = (/** @type {string} */ text) => {
      if (canvas) canvas.font = `${fontSize} ${fontFamily}`;
      return canvas?.measureText(text).width ?? text.length * 8;
    };
    // The first cell has a button before its value, and a cell with a reference has one after it.
    const extra = (name === this.columns[0]?.name ? 20 : 0) + (this.table.references.some(({ columns: [first] }) => first === name) ? 22 : 0);
    const width = extra + naturalWidth([name, typeText(column, this.table.references.find(({ columns: [first] }) => first === name)?.table)], texts, measure);
    return { width, needs: Math.max(width, ...texts.map((text) => Math.ceil(measure(text)) + 26 + extra)) };
  }

  #applyWidths() {
    const natural = this.columns.map(({ name }) => this.#natural.get(name) ?? { width: 130, needs: 130 });
    const widths = this.columns.map(({ name }, index) => this.#layout.widths[name] ?? natural[index].width);
    const spreadable = widths.map((width, index) => {
      const isSet = this.columns[index].name in this.#layout.widths;
      return { width, needs: isSet ? width : Math.min(600, natural[index].needs), grows: this.#isMeasured && !isSet && index >= this.#fixed };
    });
    const room = (this.#scroller?.clientWidth ?? this.element.clientWidth) - 1;
    const final = spread(spreadable, room);
    const { style } = this.element;
    style.setProperty("--columns", final.map((width) => `${width}px`).join(" "));
    style.setProperty("--table-width", `${final.reduce((sum, width) => sum + width, 0)}px`);
    this.#fix(final, room);
  }

  /**
   * Keeps the key in view if there is enough room for the other columns.
   *
   * @param {number[]} widths @param {number} room
   */
  #fix(widths, room) {
    let left = 0;
    for (let index = 0; index < this.#fixed; index += 1) {
      const isFixed = left + widths[index] <= room * fixedPart;
      this.element.style.setProperty(`--left-${index + 1}`, isFixed ? `${left}px` : "auto");
      left += widths[index];
    }
    this.element.style.setProperty("--fixed-width", `${Math.min(left, room * fixedPart)}px`);
  }

  close() {
    this.#room.disconnect();
    this.cursor.stop();
    this.element.remove();
  }
}
