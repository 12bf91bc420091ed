// @ts-check
/**
 * The page SQL: one SELECT as a live list, with how the server follows it; other statements run in one transaction,
 * only after a click and never from an address alone.
 */

import { sortedBy } from "../browser/address.js";
import { quoted } from "../browser/identifiers.js";
import { keyCandidates } from "../browser/key-candidates.js";
import { KeyMenu } from "../browser/key-menu.js";
import { QueryList } from "../browser/query-list.js";
import { rowNumber } from "../browser/table-query.js";
import { explain } from "../demo/explanation.js";
import { element, part } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { formatSQLAddress, parseSQLAddress } from "./sql-address.js";
import { isReading, numbered, statementsIn } from "./sql-text.js";
import { statementResults } from "./statement-results.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").Query} Query */

export class SQLView {
  #address = parseSQLAddress("");
  /** @type {string | null} the address whose result is shown */
  #shown = null;
  /** @type {string[][]} keys that may identify the rows of the SELECT, if the server knows none */
  #candidates = [];
  #list;
  #text = element("textarea", { rows: 5, name: "sql", ariaLabel: "SQL", placeholder: "SELECT …", spellcheck: false, autocapitalize: "off" });
  #error = element("p", { className: "query-error", role: "alert", hidden: true });
  #count = element("span", { className: "count quiet", role: "status" });
  #key = new KeyMenu((key) => this.#go({ key }));
  #explain = element("button", { type: "button", ariaPressed: "false", hidden: true }, "Explain");
  #use = element("button", { type: "button", hidden: true }, "Use this list");
  #result = element("div", { className: "sql-result" }, element("p", { className: "quiet sql-hint" }, "A SELECT is shown as a list that changes as the file does. Other statements write."));
  #explanation = element("div", { className: "explanation", tabIndex: 0, role: "region", ariaLabel: "Explanation" });
  #explained = element("section", { className: "frame", hidden: true }, element("div", { className: "frame-head" }, element("h2", {}, "Explanation")), this.#explanation);

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.#list = new QueryList(client, "Result", {
      counted: (rows) => { this.#count.textContent = rows; }, refused: (error) => this.#refused(error),
      sort: (column, isAdded) => this.#go({ sort: sortedBy(this.#address.sort, column, isAdded) }),
      opened: (_, key) => this.#opened(key),
    });
    const run = element("button", { className: "primary", title: "Ctrl Enter" }, "Run");
    const form = element("form", { className: "frame query-form sql-form" }, this.#text, this.#error, element("div", { className: "toolbar" }, run, this.#explain, this.#use));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#run();
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#run();
    });
    this.#explain.addEventListener("click", () => this.#showExplanation(this.#explained.hidden));
    this.#use.addEventListener("click", async () => (await import("../browser/use-dialog.js")).openUseDialog(this.#query));
    this.#key.element.hidden = true;
    part("sql").replaceChildren(form, element("div", { className: "sql-parts" },
      element("section", { className: "frame" }, element("div", { className: "frame-head" }, element("h2", {}, "Result"), this.#count, this.#key.element), this.#result), this.#explained));
  }

  show() {
    this.navigated();
    // On a phone the focus brings the keyboard up, over the result and the navigation.
    if (!matchMedia("(hover: none)").matches && this.#text.value === "") this.#text.focus();
  }

  /** Called when the address has changed. A return to `#sql` shows what was there before. */
  navigated() {
    const asked = parseSQLAddress(location.hash);
    if (asked.sql === "") return void history.replaceState(null, "", formatSQLAddress(this.#address));
    if (formatSQLAddress(asked) === this.#shown) return undefined;
    this.#address = asked;
    this.#text.value = asked.sql;
    const statements = statementsIn(asked.sql);
    if (statements.length === 1 && isReading(statements[0])) this.#open();
    else this.#offer();
    return undefined;
  }

  /** @param {Partial<import("./sql-address.js").SQLAddress>} part @param {boolean} [isReplaced] */
  #go(part, isReplaced) {
    const address = formatSQLAddress({ ...this.#address, ...part });
    if (!isReplaced) location.hash = address;
    else history.replaceState(null, "", address);
  }

  #run() {
    const text = this.#text.value;
    const statements = statementsIn(text);
    if (statements.length === 0) return this.#text.focus();
    if (statements.length > 1 || !isReading(statements[0])) return void this.#write(text, statements);
    // Running the same statement again begins a new list.
    this.#shown = null;
    if (text === this.#address.sql) this.navigated();
    else this.#go({ sql: text, key: [], sort: [] });
    return undefined;
  }

  get #select() {
    return statementsIn(this.#address.sql)[0] ?? "";
  }

  /** @returns {Query} */
  get #query() {
    const { key, sort } = this.#address;
    const chosen = key.length > 0 ? key : this.#candidates[0] ?? [];
    return {
      sql: chosen[0] === rowNumber ? numbered(this.#select, rowNumber) : this.#select,
      ...(chosen.length > 0 && { key: chosen.map(quoted) }),
      ...(sort.length > 0 && { orderBy: sort.map(({ column, descending }) => quoted(column) + (descending ? " DESC" : "")) }),
    };
  }

  #open() {
    const shown = formatSQLAddress(this.#address);
    // Candidates for keys stay valid while only the order of the SELECT changes.
    if (this.#shown === null || parseSQLAddress(this.#shown).sql !== this.#address.sql) this.#candidates = [];
    this.#shown = shown;
    this.#refuse(null);
    this.#count.textContent = "counting…";
    if (this.#candidates.length === 0) this.#key.element.hidden = true;
    else this.#key.show(this.#address.key.length > 0 ? this.#address.key : this.#candidates[0]);
    this.#enable(true);
    this.#result.replaceChildren(this.#list.element);
    this.#list.open(this.#query, this.#address.sort);
    if (!this.#explained.hidden) this.#showExplanation(true);
  }

  /** @param {string[]} key in use */
  #opened(key) {
    if (this.#candidates.length === 0) return;
    this.#key.show(key);
    this.#key.element.hidden = false;
  }

  /** @param {any} error */
  async #refused(error) {
    const isDuplicate = error?.code === "duplicate_key";
    const isKeyless = error?.code === "bad_query" && /^key is needed/.test(error.message);
    const isGuessed = this.#address.key.length === 0;
    if ((isKeyless || isDuplicate) && this.#candidates.length === 0 && await this.#proposeKeys()) {
      if (isGuessed) return this.#open();
    } else if (isDuplicate && isGuessed && this.#candidates.length > 1) {
      this.#candidates = this.#candidates.slice(1);
      return this.#open();
    }
    return this.#refuse(isDuplicate ? `${error.message}: choose another key.` : reasonOf(error));
  }

  /**
   * Proposes keys from the columns of the SELECT; reads their names from a list of its numbered rows.
   *
   * @returns {Promise<boolean>} false if they are unknown
   */
  async #proposeKeys() {
    const shown = this.#shown;
    const look = this.client.subscribe({ sql: numbered(this.#select, rowNumber), key: [quoted(rowNumber)] }, { window: { offset: 0, limit: 1 } });
    /** @type {string[]} */
    const columns = await new Promise((resolve) => {
      look.addEventListener("change", () => resolve(look.state.columns.filter((name) => name !== rowNumber)), { once: true });
      look.addEventListener("error", () => resolve([]), { once: true });
    });
    look.close();
    if (shown !== this.#shown || columns.length === 0) return false;
    this.#candidates = keyCandidates({ name: "", columns: columns.map((name) => ({ name })) });
    this.#key.offer(this.#candidates, columns);
    this.#key.show(this.#address.key);
    this.#key.element.hidden = false;
    return true;
  }

  /** Shows statements of an address that write. They wait for the button. */
  #offer() {
    this.#close();
    this.#result.replaceChildren(element("p", { className: "quiet sql-hint" }, "These statements have not run. Run writes them, in one transaction."));
  }

  #close() {
    this.#shown = formatSQLAddress(this.#address);
    this.#candidates = [];
    this.#list.close();
    this.#refuse(null);
    this.#count.textContent = "";
    this.#key.element.hidden = true;
    this.#enable(false);
    this.#showExplanation(false);
  }

  /** @param {string} text @param {string[]} statements */
  async #write(text, statements) {
    this.#address = { sql: text, key: [], sort: [] };
    this.#go({}, true);
    this.#close();
    this.#result.replaceChildren(element("p", { className: "quiet sql-hint" }, "Writing…"));
    const shown = this.#shown;
    try {
      const committed = await this.client.transact(statements.map((statement) => ({ sql: statement })));
      if (shown === this.#shown) this.#result.replaceChildren(statementResults(statements, committed));
    } catch (error) {
      if (shown !== this.#shown) return;
      this.#result.replaceChildren(element("p", { className: "quiet sql-hint" }, "Nothing was written."));
      this.#refuse(reasonOf(error));
    }
  }

  /** @param {boolean} isList whether there is a list to explain and to use */
  #enable(isList) {
    [this.#explain.hidden, this.#use.hidden] = [!isList, !isList];
  }

  /** @param {boolean} isShown */
  #showExplanation(isShown) {
    this.#explained.hidden = !isShown;
    this.#explain.ariaPressed = String(isShown);
    if (isShown) explain(this.#query, this.#explanation);
  }

  /** @param {string | null} sentence */
  #refuse(sentence) {
    this.#error.hidden = sentence === null;
    this.#error.textContent = sentence;
    this.#text.setAttribute("aria-invalid", String(sentence !== null));
  }
}
