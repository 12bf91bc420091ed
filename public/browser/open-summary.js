// @ts-check
/** The summary of a table: a chart and a list of its groups, both live. */

import "../live-chart.js";
import { element } from "../shell/dom.js";
import { sortedBy } from "./address.js";
import { noLayout } from "./column-layout.js";
import { FilterBar } from "./filter-bar.js";
import { groupName } from "./groups.js";
import { openMenu } from "./menu.js";
import { criteriaSentence } from "./schema-changes.js";
import { SummaryBar } from "./summary-bar.js";
import { countName, drawnMeasure, measureNames, rowsOfGroup, summaryQuery, summaryToShare } from "./summary-query.js";
import { TableList } from "./table-list.js";
import { Toolbar } from "./toolbar.js";
import { nameOf } from "./totals.js";

/** @typedef {import("../live-chart.js").LiveChartElement} LiveChartElement */
/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {import("./open-table.js").Context} Context */

export class OpenSummary {
  element = element("div", { className: "open-table" });
  body = element("div", { className: "summary-body" });
  chart = /** @type {LiveChartElement} */ (document.createElement("live-chart"));
  /** @type {TableList | null} */
  list = null;
  #columns = "";

  /** @param {Table} table @param {Address} address @param {Context} context */
  constructor(table, address, context) {
    this.table = table;
    this.address = address;
    this.context = context;
    this.search = context.catalogue.searchOf(table);
    this.filterBar = new FilterBar(table.columns.map(({ name }) => name), (filters, where) => this.change({ filters, where }, true));
    this.toolbar = new Toolbar(table, { hasSearch: this.search !== null, isEditable: false, keys: null, isSummary: true }, {
      search: (search) => this.change({ search }, true), section: () => {}, key: () => {}, filter: () => this.#toggleFilter(), columns: () => {},
      use: () => context.use(this), add: () => {}, tables: context.showTables,
      summary: () => this.change({ groups: [], chart: null, sort: [] }),
    });
    this.bar = new SummaryBar(table, (part) => this.change(part));
    this.chart.client = context.client;
    this.chart.addEventListener("activate", (event) => this.#openGroup(/** @type {any} */ (event).detail.row));
    this.body.append(this.chart);
    this.element.append(this.toolbar.element, this.filterBar.element, this.bar.element, this.body);
    this.#ask();
  }

  /** The query of this list, as other programs would send it. */
  get sharedQuery() {
    return summaryToShare(this.table, this.address, this.search);
  }

  /**
   * @param {Partial<Address>} part @param {boolean} [isReplaced] whether it replaces the history's last step, as while
   * typing
   */
  change(part, isReplaced) {
    this.context.go({ ...this.address, ...part, row: null }, isReplaced);
  }

  /** @param {Address} address of the same table */
  apply(address) {
    this.address = address;
    this.#ask();
  }

  #ask() {
    const { address, table } = this;
    this.toolbar.show(address, []);
    this.filterBar.show(address);
    this.bar.show(address);
    this.filterBar.showError(null);
    try {
      const query = summaryQuery(table, address, this.search);
      this.#showTable(query);
      this.#showChart(query);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param {import("../freshet.js").Query} query */
  #showChart(query) {
    const { address, chart, table } = this;
    const [first, second] = address.groups;
    const drawn = drawnMeasure(table, address);
    const isAdded = drawn === countName(address) || drawn.startsWith("sum(");
    const attributes = {
      x: groupName(first), y: drawn, series: second ? groupName(second) : null, type: first.period === null ? null : "line", missing: isAdded ? "zero" : null,
      label: `${drawn} of ${table.name} by ${address.groups.map(groupName).join(" and ")}`,
    };
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) chart.removeAttribute(name);
      else chart.setAttribute(name, value);
    }
    chart.query = query;
  }

  /** @param {import("../freshet.js").Query} query */
  #showTable(query) {
    const { address, table } = this;
    const groups = address.groups.map(groupName);
    const names = [...groups, ...measureNames(table, address)];
    if (names.join("\n") !== this.#columns) {
      this.#columns = names.join("\n");
      this.list?.close();
      this.list = this.#newList(names.map((name) => ({ name, type: this.#typeOf(name), notNull: false, key: 0 })), groups);
      this.body.append(this.list.element);
    }
    const list = /** @type {TableList} */ (this.list);
    list.showSort(address.sort.filter(({ column }) => names.includes(column)));
    list.element.query = query;
  }

  /** @param {string} name @returns {string} the declared type of the column that a summary's column is computed from */
  #typeOf(name) {
    const { address, table } = this;
    const typed = (/** @type {string} */ column) => table.columns.find((each) => each.name === column)?.type ?? "";
    const group = address.groups.find((each) => groupName(each) === name);
    if (group) return group.period === null ? typed(group.column) : "text";
    const total = address.totals.find((each) => nameOf(each) === name);
    return !total ? "integer" : total.call === "avg" ? "real" : typed(total.column);
  }

  /** @param {import("../shell/schema.js").Column[]} columns @param {string[]} key */
  #newList(columns, key) {
    const list = new TableList({ columns, key, references: [], label: `${this.table.name}, summary` }, {
      sort: (column, isAdded) => this.change({ sort: sortedBy(this.address.sort, column, isAdded) }), menu: (column, anchor) => this.#menu(anchor, column),
      arranged: () => {}, updated: ({ total, isComplete }) => {
        if (!isComplete) return;
        this.toolbar.showGroups(total);
        this.context.ready();
      }, failed: (error) => this.#failed(error),
    });
    list.show(noLayout);
    list.element.client = this.context.client;
    list.element.addEventListener("activate", (event) => this.#openGroup(/** @type {any} */ (event).detail.row));
    return list;
  }

  /** @param {HTMLElement} anchor the header @param {string} column */
  #menu(anchor, column) {
    const { address } = this;
    const sorted = address.sort.find((each) => each.column === column);
    const total = address.totals.find((each) => nameOf(each) === column);
    const isMeasure = measureNames(this.table, address).includes(column);
    openMenu(anchor, `Column ${column}`, [
      { title: "Sort ascending", isChecked: sorted?.descending === false, does: () => this.change({ sort: [{ column, descending: false }] }) },
      { title: "Sort descending", isChecked: sorted?.descending === true, does: () => this.change({ sort: [{ column, descending: true }] }) },
      ...(isMeasure ? [null, { title: "Draw", isChecked: drawnMeasure(this.table, address) === column, does: () => this.change({ chart: column }) }] : []),
      ...(total ? [{ title: "Remove", does: () => this.change({ totals: address.totals.filter((each) => each !== total), chart: null, sort: [] }) }] : []),
    ]);
  }

  /** @param {import("../freshet.js").Row} row of the summary */
  #openGroup(row) {
    this.context.go(rowsOfGroup(this.table, this.address, row));
  }

  #toggleFilter() {
    const isOpen = !this.filterBar.isOpen;
    this.filterBar.open(isOpen);
    this.toolbar.setFilterOpen(isOpen);
    if (isOpen) this.filterBar.add(this.table.columns[0]?.name ?? "");
  }

  /** @param {any} error */
  #failed(error) {
    this.toolbar.showFailure();
    if (error?.code === "schema_changed") this.context.schemaChanged();
    else this.filterBar.showError(criteriaSentence(error?.message ?? String(error)));
    this.context.ready();
  }

  close() {
    this.list?.close();
    this.element.remove();
  }
}
