// @ts-check
/**
 * The table that is open: connects its list, its toolbar and filters, and the address that determines what is shown.
 */

import { encoded } from "../client/values.js";
import { element } from "../shell/dom.js";
import { markRow } from "../shell/mark-row.js";
import { say } from "../shell/toast.js";
import { formatAddress, sortedBy } from "./address.js";
import { columnMenu, columnsPopover } from "./column-menu.js";
import { FilterBar } from "./filter-bar.js";
import { keyCandidates } from "./key-candidates.js";
import { CellEditing } from "./cell-editing.js";
import { cellText, isDate } from "./cell-text.js";
import { firstGroup } from "./groups.js";
import { criteriaSentence } from "./schema-changes.js";
import { SelectionBar } from "./selection-bar.js";
import { StagedQuery } from "./staged-query.js";
import { TableList } from "./table-list.js";
import { firstRowsOf, lengthOf, queryOf, queryToShare, rowNumber } from "./table-query.js";
import { TableWriter } from "./table-writer.js";
import { Toolbar } from "./toolbar.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {import("./catalogue.js").Catalogue} Catalogue */
/** @typedef {import("../shell/schema.js").Column} Column */
/**
 * @typedef {object} Context
 * @property {Client} client @property {Catalogue} catalogue @property {import("./column-layout.js").LayoutStore} layouts
 * @property {boolean} canWrite @property {(address: Address, isReplaced?: boolean) => void} go to another address
 * @property {() => void} showTables @property {(table: {sharedQuery: any}) => void} use @property {(table: OpenTable) => void} add
 * @property {(name: string, count: number) => void} counted @property {(name: string) => number | undefined} rowCount
 * the last known count
 * @property {() => void} ready rows are on the screen
 * @property {import("../shell/undo.js").Undo} undo @property {(table: OpenTable, row: Row, column?: string) => void} openRow
 * @property {() => boolean} isRowOpen whether a row's details are shown @property {() => void} closeRow
 * @property {() => void} schemaChanged the table's schema has changed
 */

/** A table with fewer rows than this is loaded in one stage. */
const largeTable = 20_000;

export class OpenTable {
  element = element("div", { className: "open-table" });
  /** The list, and the details of a row next to it. */
  body = element("div", { className: "table-body" });
  /** @type {TableList | null} */
  list = null;
  /** @type {string[]} that identify a row */
  key = [];
  /** @type {TableWriter} made together with the list */
  writer = /** @type {any} */ (null);
  /** @type {SelectionBar | null} made together with the list */
  #selected = null;
  #keys;
  #keyIndex = 0;
  /** @type {StagedQuery} made together with the list */
  #query = /** @type {any} */ (null);
  /** @type {string | null} the last query, as JSON */
  #asked = null;
  /** @type {string} the totals of the last query */
  #totaled = "";

  /** @param {Table} table @param {Address} address @param {Context} context */
  constructor(table, address, context) {
    this.table = table;
    this.address = address;
    this.context = context;
    const { catalogue, canWrite } = context;
    this.search = catalogue.searchOf(table);
    const declared = catalogue.keyOf(table);
    this.candidates = declared ? null : keyCandidates(table);
    this.#keys = declared ? [declared] : this.candidates ?? [];
    this.isEditable = canWrite && table.kind === "table";
    this.filterBar = new FilterBar(table.columns.map(({ name }) => name), (filters, where) => this.change({ filters, where }, true));
    this.toolbar = new Toolbar(table, { hasSearch: this.search !== null, isEditable: this.isEditable, keys: this.candidates }, {
      search: (search) => this.change({ search }, true), section: (section) => this.change({ section }), key: (key) => this.change({ key }),
      filter: () => this.#toggleFilter(), columns: (anchor) => this.list && columnsPopover(anchor, this.list),
      use: () => context.use(this), add: () => context.add(this), tables: context.showTables,
      summary: () => this.change({ groups: [firstGroup(table, this.address.section, isDate)], sort: [], row: null }),
    });
    this.element.append(this.toolbar.element, this.filterBar.element, this.body);
    this.#open();
  }

  /**
   * All columns. The key's are among them, even if it is the hidden rowid.
   *
   * @returns {Column[]}
   */
  get columns() {
    const { columns } = this.table;
    const own = this.key.filter((name) => !columns.some((column) => column.name === name));
    return [...own.map((name) => ({ name, type: "INTEGER", notNull: true, key: 1, generated: true })), ...columns];
  }

  /** The query of this list, as other programs would send it. */
  get sharedQuery() {
    // As JSON has it: integers beyond 2^53 and BLOBs are objects there.
    return JSON.parse(encoded(queryToShare(this.table, this.address, this.search, this.key)));
  }

  /**
   * @param {Partial<Address>} part @param {boolean} [isReplaced] whether it replaces the history's last step, as while
   * typing
   */
  change(part, isReplaced) {
    this.context.go({ ...this.address, ...part }, isReplaced);
  }

  /**
   * Shows the same table as another address says.
   *
   * @param {Address} address
   */
  apply(address) {
    const isOtherKey = address.key.join() !== this.address.key.join();
    this.address = address;
    if (isOtherKey) this.#open();
    else this.#ask();
  }

  #open() {
    const chosen = this.address.key;
    if (chosen.length > 0) this.key = chosen;
    else this.key = this.#keys[this.#keyIndex] ?? [];
    this.#query?.close();
    this.list?.close();
    const { catalogue, layouts } = this.context;
    const { name } = this.table;
    /** @type {TableList} */
    const list = new TableList({ columns: this.columns, key: this.key, references: catalogue.referencesFrom(this.table), label: name, isEditable: this.isEditable }, {
      sort: (column, isAdded) => this.change({ sort: sortedBy(this.address.sort, column, isAdded) }), menu: (column, anchor) => columnMenu(anchor, column, this),
      arranged: (layout) => layouts.write(name, layout), updated: (state) => this.#updated(list, state), failed: (error) => list === this.list && this.#query.refused(error),
      drawn: (element, row) => list === this.list && this.#selected?.selection.draw(element, row),
    });
    this.list = list;
    this.#query = new StagedQuery(list.element, { advanced: () => this.#advanced(list), failed: (error) => this.#failed(list, error) });
    this.writer = new TableWriter(this.context.client, catalogue, this.table, this.key, this.context.undo, () => list.element.list);
    // The selection is made first, so that it gets keys and clicks first.
    this.#selected?.element.remove();
    this.#selected = new SelectionBar(this);
    if (this.isEditable) {
      this.editing = new CellEditing(list, this.writer, (row, column) => !this.#isCut(row, column) && !/[\r\n]/.test(String(row[column])), (row, column) => this.context.openRow(this, row, column));
    }
    this.#listenForRows(list);
    list.show(layouts.read(name));
    list.element.client = this.context.client;
    list.element.listOptions = { sources: Object.fromEntries(this.table.columns.map((column) => [column.name, `${name}.${column.name}`])) };
    this.#asked = null;
    this.#ask();
    this.body.prepend(list.element);
    this.body.append(this.#selected.element);
  }

  #ask() {
    const { list, address, table } = this;
    if (!list) return;
    this.toolbar.show(address, this.key);
    this.filterBar.show(address);
    list.showSort(address.sort);
    const asked = JSON.stringify([address.where, address.filters, address.sort, address.section, address.search]);
    const totaled = JSON.stringify(address.totals);
    if (asked === this.#asked && totaled === this.#totaled) return;
    const isFirst = this.#asked === null;
    const isRefined = asked === this.#asked;
    this.#asked = asked;
    this.#totaled = totaled;
    this.filterBar.showError(null);
    if (!isRefined) this.#selected?.selection.clear();
    try {
      const query = queryOf(table, address, this.search, this.key);
      list.showTotals(address.totals, summaryOf(table, address));
      // The criteria are the same, so the rows stay in view.
      if (isRefined) return this.#query.refine(query);
      const isLarge = isFirst || (this.context.rowCount(table.name) ?? Infinity) >= largeTable;
      const isStaged = isLarge && table.kind === "table" && this.key[0] !== rowNumber;
      this.toolbar.showLoading(() => this.#query.progress);
      this.#query.ask(query, isStaged ? firstRowsOf(query, table, this.key) : null);
    } catch (error) {
      this.#failed(list, error);
    }
  }

  /** @param {TableList} list @param {ListState} state */
  #updated(list, state) {
    if (list !== this.list || !state.isComplete) return;
    this.#query.updated();
    if (this.#query.isCounted) this.#showCount(state);
  }

  /** @param {TableList} list more of its rows are there */
  #advanced(list) {
    if (list !== this.list || !list.element.list) return;
    if (this.#query.isCounted) this.#showCount(list.element.list.state);
    this.context.ready();
    const key = this.#query.shown === "whole" ? this.#toReveal : null;
    if (!key) return;
    this.#toReveal = null;
    requestAnimationFrame(() => this.reveal(key));
  }

  /** @param {ListState} state */
  #showCount({ total, sections }) {
    this.toolbar.showCount(total, this.address.section === null ? null : sections.length);
    const { where, filters, search } = this.address;
    if (!where && !search && filters.length === 0) this.context.counted(this.table.name, total);
  }

  /** @param {TableList} list @param {any} error */
  #failed(list, error) {
    if (list !== this.list) return;
    const isGuessed = this.candidates && this.address.key.length === 0;
    if (error?.code === "duplicate_key" && isGuessed && this.#keyIndex + 1 < this.#keys.length) {
      this.#keyIndex += 1;
      this.#open();
    } else if (error?.code === "schema_changed") {
      // The list itself shows the error, below its rows.
      this.toolbar.showFailure();
      this.context.schemaChanged();
    } else {
      this.toolbar.showFailure();
      this.filterBar.showError(error?.code === "duplicate_key" ? `${error.message}: choose another key.` : criteriaSentence(error?.message ?? String(error)));
      this.context.ready();
    }
  }

  #toggleFilter() {
    const isOpen = !this.filterBar.isOpen;
    this.filterBar.open(isOpen);
    this.toolbar.setFilterOpen(isOpen);
    if (isOpen) this.filterBar.add(this.table.columns[0]?.name ?? "");
  }

  /** @param {Row} row @param {string} name */
  #isCut(row, name) {
    const column = /** @type {Column} */ (this.columns.find((each) => each.name === name));
    return cellText(row[name], column, row[lengthOf(name)] ?? null).isCut;
  }

  /**
   * A click opens the panel of a row if nothing can be edited, or if the panel is open already. The row's button and
   * Space always open it.
   *
   * @param {TableList} list
   */
  #listenForRows({ element: list, cursor }) {
    list.addEventListener("awaited", () => say("That is done as soon as all rows are there.", { weight: 1, buttons: [] }));
    const open = (/** @type {Element | null} */ target) => {
      const found = list.rowAt(target);
      if (found) this.context.openRow(this, found.row);
    };
    list.addEventListener("activate", (event) => {
      const isTouch = matchMedia("(hover: none)").matches;
      if (!this.isEditable || isTouch || this.context.isRowOpen()) this.context.openRow(this, /** @type {CustomEvent} */ (event).detail.row);
    });
    list.addEventListener("click", ({ target }) => {
      if (/** @type {Element} */ (target).closest(".open-row")) open(/** @type {Element} */ (target));
    });
    list.addEventListener("keydown", (event) => {
      if (!/** @type {Element} */ (event.target).matches(".live-row")) return;
      if (event.key === " ") open(cursor.row);
      // Handled before the list, where Escape would leave the rows.
      else if (event.key === "Escape" && this.context.isRowOpen()) this.context.closeRow();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
  }

  /**
   * Brings a row into view, marked, and with the focus unless something else has it.
   *
   * @param {any[]} key @returns {Promise<boolean>} false: the filters hide it
   */
  async reveal(key) {
    const { list } = this;
    if (!list || this.#query.shown !== "whole" || list.element.status !== "live") {
      this.#toReveal = key;
      return true;
    }
    const offset = await this.#offsetOf(key);
    if (offset === null || list !== this.list) return false;
    const { first, last } = list.element.visibleRange;
    if (offset < first || offset >= last - 1) list.element.scrollToOffset(Math.max(0, offset - 3));
    if (document.activeElement === document.body || list.element.contains(document.activeElement)) list.element.focusRow(offset);
    markRow(list.element, offset);
    return true;
  }

  /**
   * Gives the focus to a row. The active row, which usually is that one, gets it at once.
   *
   * @param {any[]} key of a row; if it is not in the list, the active row keeps the focus
   */
  async focusRow(key) {
    this.focus();
    const offset = await this.#offsetOf(key);
    if (offset !== null && offset !== this.list?.element.activeRow?.offset) this.list?.element.focusRow(offset);
  }

  /** @param {any[]} key @returns {Promise<number | null>} null also when the table was left before the answer came */
  async #offsetOf(key) {
    try {
      return (await this.list?.element.list?.locate(key.length === 1 ? key[0] : key))?.offset ?? null;
    } catch (error) {
      if (/** @type {any} */ (error).code === "closed") return null;
      throw error;
    }
  }

  /** @type {any[] | null} */
  #toReveal = null;

  focus() {
    this.list?.element.focus();
  }

  close() {
    this.#query.close();
    this.list?.close();
    this.element.remove();
  }
}

/**
 * The address of a chart of the totals in the sections' headers.
 *
 * @param {Table} table @param {Address} address @returns {string | null} null: there are no sections
 */
function summaryOf(table, address) {
  if (address.section === null) return null;
  return formatAddress({ ...address, groups: [firstGroup(table, address.section, isDate)], sort: [], row: null });
}
