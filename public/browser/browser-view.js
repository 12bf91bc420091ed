// @ts-check
/** The data browser: tables at the left, and one of them open, as the address says. */

import { pageTitle } from "../shell/database.js";
import { part } from "../shell/dom.js";
import { databaseAddress } from "../shell/place.js";
import { loadSchema, mayWrite } from "../shell/schema.js";
import { currentClaims } from "../shell/session.js";
import { keptStorage } from "../shell/storage.js";
import { Undo } from "../shell/undo.js";
import { formatAddress, parseAddress, wholeTable } from "./address.js";
import { Catalogue } from "./catalogue.js";
import { LayoutStore } from "./column-layout.js";
import { OpenTable } from "./open-table.js";
import { OpenSummary } from "./open-summary.js";
import { noTablePage, pageFor, showPage, successorPage } from "./pages.js";
import { PublishedList, publishedQueries } from "./published.js";
import { RowCounts } from "./row-counts.js";
import { RowPanel } from "./row-panel.js";
import { changeSentences, successorOf } from "./schema-changes.js";
import { Sidebar } from "./sidebar.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../shell/schema.js").Schema} Schema */
/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./published.js").PublishedQuery} PublishedQuery */

/** Milliseconds between two reads of the schema. */
const schemaPause = 4000;

export class BrowserView {
  #counts;
  #sidebar;
  #catalogue = new Catalogue([]);
  #panel = new RowPanel(part("browser"), () => this.#closeRow());
  #undo;
  #layouts = new LayoutStore(keptStorage(), databaseAddress);
  /** @type {OpenTable | OpenSummary | null} */
  #open = null;
  #canWrite = false;
  #pageTitle = document.title;
  #isShown = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #schemaText = "";

  /** @param {Client} client @param {Schema} schema */
  constructor(client, schema) {
    this.client = client;
    this.schema = schema;
    this.#undo = new Undo(client, () => this.#isShown);
    this.#counts = new RowCounts(client);
    this.#sidebar = new Sidebar(part("sidebar"), this.#counts);
    part("sidebar").addEventListener("click", ({ target }) => {
      if (/** @type {Element} */ (target).closest("a")) this.#showTables(false);
    });
    // A press outside of the sheet closes it.
    document.addEventListener("pointerdown", ({ target }) => {
      if (!part("sidebar").contains(/** @type {Node} */ (target))) this.#showTables(false);
    });
    part("sidebar").addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#showTables(false);
    });
    document.addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      // If no element has the focus, `target` is the body.
      const isHere = this.#isShown && (target === document.body || part("tables").contains(target));
      const isElsewhere = !isHere || event.defaultPrevented || document.querySelector(":popover-open, dialog[open]") !== null
        || target.matches("input, select, textarea");
      if (event.key === "Escape" && !isElsewhere && this.#panel.isOpen) this.#panel.dismiss();
    });
    this.#take(schema);
  }

  show() {
    this.#isShown = true;
    this.#timer = setInterval(() => this.#reload(), schemaPause);
    if (this.#open) document.title = pageTitle(this.#open.table.name);
    this.#arrived();
  }

  hide() {
    this.#isShown = false;
    clearInterval(this.#timer);
    this.#counts.stop();
    document.title = this.#pageTitle;
  }

  /** Called when the address has changed. */
  navigated() {
    if (!this.#isShown) return;
    const asked = parseAddress(location.hash);
    if (this.#published.length > 0) {
      this.#openPublished(asked.table);
      return;
    }
    const table = this.#catalogue.find(asked.table) ?? (asked.table === "" ? this.#catalogue.first : null);
    if (!table) {
      this.#showPage(asked.table);
      return;
    }
    const address = { ...asked, table: table.name };
    if (asked.table !== table.name) history.replaceState(null, "", formatAddress(address));
    /** @type {HTMLAnchorElement} */ (part("tables-tab")).href = formatAddress(address);
    const isSummary = address.groups.length > 0;
    if (this.#open?.table.name === table.name && this.#open instanceof OpenSummary === isSummary) this.#open.apply(address);
    else this.#openTable(address);
    this.#showRow(address);
  }

  /** @param {Address} address */
  #showRow({ row }) {
    const open = this.#open;
    if (!row || !(open instanceof OpenTable)) {
      this.#panel.close();
      return;
    }
    this.#panel.show(open, row, this.#editing);
    this.#editing = undefined;
    if (!this.#isFromList) open.reveal(row);
    this.#isFromList = false;
  }

  /** Called when the details are closed: the focus returns to their row. */
  #closeRow() {
    const open = this.#open;
    const row = open?.address.row;
    if (!(open instanceof OpenTable) || !row) return;
    this.#go({ ...open.address, row: null });
    open.focusRow(row);
  }

  /**
   * The column that is to be edited in the panel.
   *
   * @type {string | undefined}
   */
  #editing;
  /** Whether the row was just clicked: it is in view already. */
  #isFromList = false;

  /** @param {OpenTable} open @param {import("../freshet.js").Row} row @param {string} [column] to edit */
  #openRow(open, row, column) {
    const key = open.key.map((name) => row[name]);
    if (column && this.#panel.isOpen) this.#panel.show(open, key, column);
    else this.#editing = column;
    const isOpen = this.#panel.isOpen;
    this.#isFromList = formatAddress({ ...open.address, row: key }) !== location.hash;
    // Opening the panel adds a step to the history; going from row to row does not.
    this.#go({ ...open.address, row: key }, isOpen);
  }

  /** @param {OpenTable} open @param {any[]} key */
  async #added(open, key) {
    // The list has the new row only once its commit has arrived.
    for (let tries = 0; tries < 20; tries += 1) {
      if (await open.reveal(key)) return;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
    this.#undo.say("The row was added, but the filters hide it.", () => this.#undo.undo());
  }

  /**
   * Shows a page that says why there is no table.
   *
   * @param {string} asked
   */
  #showPage(asked) {
    this.#open?.close();
    this.#open = null;
    this.#panel.close();
    const isOther = this.schema.status === "ok" && asked !== "" && this.schema.tables.length > 0;
    if (!isOther) return showPage(pageFor(this.schema, currentClaims()));
    const successor = this.#gone?.table.name === asked ? successorOf(this.#gone.table, this.#gone.known, this.schema.tables) : null;
    return showPage(successor ? successorPage(asked, { ...parseAddress(location.hash), table: successor.name, row: null }) : noTablePage(asked));
  }

  /**
   * An open table that disappeared, and the names of the tables that existed together with it.
   *
   * @type {{table: import("./catalogue.js").Table, known: Set<string>} | null}
   */
  #gone = null;

  /**
   * @param {string} asked name of a published query
   */
  #openPublished(asked) {
    const query = this.#published.find(({ name }) => name === asked) ?? this.#published[0];
    if (query === this.#publishedList?.query) return;
    this.#publishedList?.close();
    this.#publishedList = new PublishedList(this.client, query, () => this.#showTables(true));
    part("table-frame").replaceChildren(this.#publishedList.element);
    this.#sidebar.setCurrent(query.name);
  }

  /** @type {PublishedQuery[]} shown in place of tables if the server answers nothing else */
  #published = [];
  /** @type {PublishedList | null} */
  #publishedList = null;

  /** @param {Address} address */
  #openTable(address) {
    const table = /** @type {import("./catalogue.js").Table} */ (this.#catalogue.find(address.table));
    this.#open?.close();
    this.#sidebar.setCurrent(table.name);
    const Shown = address.groups.length > 0 ? OpenSummary : OpenTable;
    this.#open = new Shown(table, address, {
      client: this.client, catalogue: this.#catalogue, layouts: this.#layouts, canWrite: this.#canWrite,
      go: (next, isReplaced) => this.#go(next, isReplaced), showTables: () => this.#showTables(true),
      use: (open) => this.#use(open), add: (open) => this.#panel.showForm(open, (key) => this.#added(open, key)), undo: this.#undo,
      openRow: (open, row, column) => this.#openRow(open, row, column), isRowOpen: () => this.#panel.isOpen, closeRow: () => this.#panel.dismiss(), schemaChanged: () => this.#reload(),
      counted: (name, count) => this.#counts.take(name, count), rowCount: (name) => this.#counts.known.get(name), ready: () => this.#isShown && this.#counts.start(),
    });
    part("table-frame").replaceChildren(this.#open.element);
    document.title = pageTitle(table.name);
  }

  /** @param {Address} address @param {boolean} [isReplaced] */
  #go(address, isReplaced) {
    const hash = formatAddress(address);
    if (hash === location.hash) return;
    if (!isReplaced) {
      location.hash = hash;
      return;
    }
    history.replaceState(null, "", hash);
    this.navigated();
  }

  /**
   * Shows or hides the tables on narrow screens, where they are a sheet.
   *
   * @param {boolean} isOpen
   */
  #showTables(isOpen) {
    part("browser").toggleAttribute("data-tables-open", isOpen);
    if (isOpen) part("sidebar").querySelector("a")?.focus();
  }

  /** @param {{sharedQuery: any}} open */
  async #use(open) {
    const { openUseDialog } = await import("./use-dialog.js");
    openUseDialog(open.sharedQuery);
  }

  async #reload() {
    const { status } = this.schema;
    const schema = await loadSchema();
    // The page stays as it is while the server cannot be reached: lists themselves show that they are out of date.
    if (schema.status !== "ok" && status === "ok" && this.#open) return;
    if (this.#take(schema) && this.#isShown) await this.#arrived();
  }

  /** Called when the schema has changed. */
  async #arrived() {
    if (this.schema.status === "published") {
      this.#published = await publishedQueries();
      this.#sidebar.showPublished(this.#published);
    } else this.#published = [];
    this.#closeIfChanged();
    this.navigated();
  }

  /** Closes the open table if its schema has changed, so that it is opened again with the new schema. */
  #closeIfChanged() {
    if (!this.#open) return;
    const { table, context } = this.#open;
    const now = this.#catalogue.find(table.name);
    if (JSON.stringify(now) === JSON.stringify(table)) return;
    if (!now) this.#gone = { table, known: new Set(context.catalogue.tables.map(({ name }) => name)) };
    const sentences = now && changeSentences(table, now);
    if (sentences) this.#undo.say(sentences);
    this.#open.close();
    this.#open = null;
  }

  /** @param {Schema} schema */
  #take(schema) {
    const text = JSON.stringify(schema);
    if (text === this.#schemaText) return false;
    this.#schemaText = text;
    this.schema = schema;
    this.#catalogue = new Catalogue(schema.tables);
    this.#sidebar.show(this.#catalogue, parseAddress(location.hash).table);
    this.#canWrite = schema.writes === "any";
    if (schema.writes === undefined) this.#askWhetherWritable(schema);
    return true;
  }

  /** @param {Schema} schema */
  async #askWhetherWritable(schema) {
    this.#canWrite = await mayWrite(schema);
    if (!this.#canWrite || !this.#open) return;
    this.#open.close();
    this.#open = null;
    this.navigated();
  }
}
