// @ts-check
/** The controls of a summary: columns to group by, totals, and the measure that the chart draws. */

import { element, fillSelect } from "../shell/dom.js";
import { isDate } from "./cell-text.js";
import { groupName, groupOf, mostGroups, periods } from "./groups.js";
import { drawnMeasure, measureNames } from "./summary-query.js";
import { calls, isNumeric, toggled } from "./totals.js";

/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {import("./groups.js").Group} Group */

const none = "";

export class SummaryBar {
  element = element("div", { className: "summary-bar", role: "group", ariaLabel: "Summary" });
  #groups = Array.from({ length: mostGroups }, (_, index) => ({
    column: element("select", { ariaLabel: index === 0 ? "Group by" : "And by" }), period: element("select", { ariaLabel: "Period" }),
  }));
  #drawn = element("select", { ariaLabel: "Show" });
  #added = element("select", { ariaLabel: "Add a total" });

  /** @param {Table} table @param {(part: Partial<Address>) => void} changed */
  constructor(table, changed) {
    this.table = table;
    this.changed = changed;
    for (const [index, { column, period }] of this.#groups.entries()) {
      fillSelect(column, { ...(index > 0 && { [none]: "nothing else" }), ...Object.fromEntries(table.columns.map(({ name }) => [` ${name}`, name])) });
      fillSelect(period, { [none]: "each value", ...Object.fromEntries(periods.map((each) => [each, `by ${each}`])) });
      column.addEventListener("change", () => this.#group(index, this.#chosen(column.value)));
      period.addEventListener("change", () => this.#group(index, { column: column.value.slice(1), period: /** @type {any} */ (period.value || null) }));
    }
    this.#drawn.addEventListener("change", () => changed({ chart: this.#drawn.value }));
    this.#added.append(new Option("Add a total…", none), ...table.columns.map((column) => optionsOf(column)));
    this.#added.addEventListener("change", () => this.#add());
    const [first, second] = this.#groups;
    this.element.append(
      element("label", { className: "labelled" }, "Group by", first.column), first.period,
      element("label", { className: "labelled" }, "and by", second.column), second.period,
      element("label", { className: "labelled summary-show" }, "Show", this.#drawn), this.#added);
  }

  /** @type {Address} */
  #address = /** @type {any} */ (null);

  /** @param {Address} address */
  show(address) {
    this.#address = address;
    for (const [index, { column, period }] of this.#groups.entries()) {
      const group = address.groups[index];
      column.value = group ? ` ${group.column}` : none;
      period.value = group?.period ?? none;
      period.hidden = !group;
    }
    fillSelect(this.#drawn, measureNames(this.table, address), drawnMeasure(this.table, address));
  }

  /** @param {string} value of the field @returns {Group | null} */
  #chosen(value) {
    const column = this.table.columns.find(({ name }) => ` ${name}` === value);
    return column ? groupOf(column, isDate) : null;
  }

  /** @param {number} index @param {Group | null} group null: no second group */
  #group(index, group) {
    const groups = [...this.#address.groups];
    groups.splice(index, 1, ...(group ? [group] : []));
    const names = groups.map(groupName);
    // A group that was chosen twice counts once.
    const distinct = groups.filter((each, place) => names.indexOf(groupName(each)) === place);
    this.changed({ groups: distinct, sort: [], chart: this.#address.chart });
  }

  #add() {
    const [call, ...rest] = this.#added.value.split(":");
    const column = rest.join(":");
    this.#added.value = none;
    const { totals } = this.#address;
    const isThere = totals.some((each) => each.column === column && each.call === call);
    const next = isThere ? totals : toggled(totals, column, /** @type {any} */ (call));
    this.changed({ totals: next, chart: `${call}(${column})`, sort: [] });
  }
}

/**
 * @param {import("../shell/schema.js").Column} column @returns {HTMLOptGroupElement} the totals that the column can
 * have
 */
function optionsOf(column) {
  const group = element("optgroup", { label: column.name });
  const possible = Object.entries(calls).filter(([call]) => isNumeric(column) || call === "min" || call === "max");
  group.append(...possible.map(([call, title]) => new Option(`${title} of ${column.name}`, `${call}:${column.name}`)));
  return group;
}
