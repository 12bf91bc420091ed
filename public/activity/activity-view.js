// @ts-check
/** The page of changes: each commit of the file with its rows, whichever program wrote it. */

import { Catalogue } from "../browser/catalogue.js";
import { ask } from "../shell/ask.js";
import { element, fillSelect, formatted, part } from "../shell/dom.js";
import { loadSchema, mayWrite } from "../shell/schema.js";
import { request } from "../shell/session.js";
import { Undo } from "../shell/undo.js";
import { reasonOf } from "../shell/reason.js";
import { formatActivity, parseActivity } from "./activity-address.js";
import { ActivityLog, entriesOf } from "./activity-log.js";
import { commitCard } from "./commit-card.js";
import { inPutBackOrder, putBackOf, repeatOf } from "./put-back.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/** @typedef {import("../shell/schema.js").Schema} Schema */
/** @typedef {import("./activity-log.js").Entry} Entry */

/** How many commits are shown at first, and how many more each time. */
const pageSize = 100;
const everyTable = "";

export class ActivityView {
  #log;
  #undo;
  #catalogue = new Catalogue([]);
  #canWrite = false;
  #isShown = false;
  #address = parseActivity("");
  /**
   * Entries on the screen, newest first.
   *
   * @type {Entry[]}
   */
  #drawn = [];
  #limit = pageSize;
  #table = element("select", { ariaLabel: "Table" });
  #row = element("a", { className: "row-filter" });
  #held = element("button", { type: "button", className: "primary held-commits", hidden: true });
  #note = element("p", { className: "quiet", role: "status" });
  #list = element("ol", { className: "commits" });
  #more = element("button", { type: "button", hidden: true }, "Show earlier commits");
  #scroller = element("div", { className: "commit-scroller", tabIndex: 0, role: "region", ariaLabel: "Commits, newest first" });

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.#undo = new Undo(client, () => this.#isShown);
    this.#log = new ActivityLog(client, currentCommit);
    this.#log.addEventListener("change", () => this.#arrived());
    this.#table.addEventListener("change", () => { location.hash = formatActivity({ table: this.#table.value || null, key: null }); });
    this.#held.addEventListener("click", () => {
      this.#scroller.scrollTop = 0;
      this.#scroller.focus();
      this.#draw();
    });
    this.#more.addEventListener("click", () => {
      this.#limit += pageSize;
      this.#draw();
    });
    this.#scroller.append(this.#list, this.#more);
    part("activity").replaceChildren(
      element("div", { className: "toolbar" }, element("label", { className: "labelled" }, "Table", this.#table), this.#row, this.#note, this.#held), this.#scroller);
  }

  show() {
    this.#isShown = true;
    this.#begin();
    this.navigated();
  }

  hide() {
    this.#isShown = false;
  }

  navigated() {
    this.#address = parseActivity(location.hash);
    this.#limit = pageSize;
    this.#showAddress();
    this.#draw();
  }

  async #begin() {
    const schema = await loadSchema();
    this.#catalogue = new Catalogue(schema.tables);
    this.#canWrite = await mayWrite(schema);
    this.#log.begin();
    this.#showAddress();
    this.#draw();
  }

  #showAddress() {
    const { table, key } = this.#address;
    const names = this.#catalogue.tables.filter(({ kind }) => kind === "table").map(({ name }) => name);
    const known = table === null || names.includes(table) ? names : [table, ...names];
    fillSelect(this.#table, { [everyTable]: "all tables", ...Object.fromEntries(known.map((name) => [name, name])) }, table ?? everyTable);
    this.#row.hidden = key === null;
    this.#row.href = formatActivity({ table, key: null });
    this.#row.textContent = `row ${key?.map(String).join(", ")} ✕`;
    this.#row.ariaLabel = `Changes of all rows, not of row ${key?.map(String).join(", ")} alone`;
  }

  #arrived() {
    if (!this.#isShown) return;
    // New commits are held back while the user reads or types below, because they would move it.
    const isReading = this.#scroller.scrollTop > 10 || this.#list.contains(document.activeElement);
    if (isReading && this.#drawn.length > 0) this.#hold();
    else this.#draw();
  }

  get #wanted() {
    const table = this.#address.table === null ? undefined : this.#catalogue.find(this.#address.table);
    return entriesOf(this.#log.entries, this.#address, (table && this.#catalogue.keyOf(table)) ?? []);
  }

  #hold() {
    const last = this.#drawn[0].commit ?? -1;
    const count = this.#wanted.filter(({ commit }) => commit !== null && commit > last).length;
    this.#held.hidden = count === 0;
    this.#held.textContent = count === 1 ? "1 new commit" : `${formatted(count)} new commits`;
  }

  #draw() {
    const wanted = this.#wanted;
    const entries = wanted.slice(0, this.#limit);
    const context = {
      catalogue: this.#catalogue, canWrite: this.#canWrite, isOneRow: this.#address.key !== null, putBack: (/** @type {RowChange[]} */ changes) => { this.#putBack(changes); },
    };
    // Existing cards are kept, so that parts opened in them stay open.
    const address = JSON.stringify([formatActivity(this.#address), this.#canWrite]);
    const cards = entries.map((entry) => this.#cardOf(entry, address, context));
    for (const [name, card] of this.#cards) if (!cards.includes(card)) this.#cards.delete(name);
    this.#list.replaceChildren(...cards);
    this.#drawn = entries;
    this.#held.hidden = true;
    this.#more.hidden = wanted.length <= this.#limit;
    this.#showNote(wanted);
  }

  /** @type {Map<string, HTMLElement>} by the entry and settings that they show */
  #cards = new Map();
  #cardsOf = "";

  /** @param {Entry} entry @param {string} address @param {import("./commit-card.js").CardContext} context */
  #cardOf(entry, address, context) {
    if (this.#cardsOf !== address) this.#cards.clear();
    this.#cardsOf = address;
    const name = String(entry.commit ?? `gap ${entry.time?.getTime()}`);
    const card = this.#cards.get(name) ?? commitCard(entry, context);
    this.#cards.set(name, card);
    return card;
  }

  /** @param {Entry[]} wanted */
  #showNote(wanted) {
    const { error, isCut, isOpen } = this.#log;
    const ofWhat = this.#address.key !== null ? "This row has" : this.#address.table !== null ? "This table has" : "The file has";
    const commits = wanted.filter(({ commit }) => commit !== null).length;
    if (error) this.#note.textContent = `The server does not tell what changes: ${error.message}`;
    else if (!isOpen) this.#note.textContent = "Reading what the server remembers…";
    else if (commits === 0) this.#note.textContent = `${ofWhat} not changed since changes were first followed here. Whatever program writes to it, its next commit is shown.`;
    else this.#note.textContent = `${formatted(commits)} ${commits === 1 ? "commit" : "commits"}${isCut ? ", the newest ones" : ""}`;
  }

  /** @param {RowChange[]} changes */
  async #putBack(changes) {
    const ordered = inPutBackOrder(changes).flatMap((change) => {
      const table = this.#catalogue.find(change.table);
      return table ? [{ table, change }] : [];
    });
    const cascading = ordered.filter(({ table, change }) => change.op === "insert" && this.#catalogue.referencesTo(table).some(({ onDelete }) => onDelete));
    if (cascading.length > 0 && !await ask("Put back rows that were added?", ["They are deleted, and rows that refer to them may go with them."], "Put back")) return;
    try {
      await this.#undo.waitFor(this.#write(ordered));
    } catch (error) {
      this.#undo.say(`Not put back: ${reasonOf(error)}`);
    }
  }

  /** @param {{table: import("../shell/schema.js").Table, change: RowChange}[]} ordered */
  async #write(ordered) {
    const { results } = await this.client.transact(ordered.map(({ table, change }) => putBackOf(table, change)));
    const done = ordered.filter((_, index) => results[index].changes > 0);
    const left = ordered.length - done.length;
    const others = left === 0 ? "" : `${left === 1 ? "1 row has" : `${formatted(left)} rows have`} changed since, and ${left === 1 ? "stays" : "stay"} as ${left === 1 ? "it is" : "they are"}.`;
    if (done.length === 0) return this.#undo.say(`Not put back: ${others}`);
    const title = done.length === 1 ? "1 row put back." : `${formatted(done.length)} rows put back.`;
    this.#undo.push({ title, ...(others && { caution: others }), statements: [...done].reverse().map(({ table, change }) => repeatOf(table, change)) });
    return undefined;
  }
}

/** @returns {Promise<number>} the file's commit */
async function currentCommit() {
  // The random number makes each query new: an open list that reads no table may show an earlier commit.
  const one = Math.floor(Math.random() * 1e9);
  const answer = await request(`v1/snapshot?${new URLSearchParams({ from: `(SELECT ${one} AS one)`, key: "one" })}`);
  return (await answer.json()).commit;
}
