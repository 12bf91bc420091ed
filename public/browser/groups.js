// @ts-check
/** The groups of a summary: columns, dates with a period. Pure. */

/** @typedef {"day" | "week" | "month" | "year"} Period */
/** @typedef {{column: string, period: Period | null}} Group null: each value is a group */

/** @type {Period[]} */
export const periods = ["day", "week", "month", "year"];

/** One group goes along the axis, one is shown by colors. */
export const mostGroups = 2;

/** @param {Group} group @returns {string} the name of its column in the summary */
export function groupName({ column, period }) {
  return period === null ? column : `${period} of ${column}`;
}

/**
 * The group of a new summary: the section column if there is one, otherwise months of a date, otherwise a text.
 *
 * @param {import("./catalogue.js").Table} table @param {string | null} section
 * @param {(column: import("../shell/schema.js").Column) => boolean} isDate @returns {Group}
 */
export function firstGroup({ columns }, section, isDate) {
  const chosen = columns.find(({ name }) => name === section) ?? columns.find(isDate)
    ?? columns.find(({ type, key }) => key === 0 && /char|text|clob/i.test(type)) ?? columns[0];
  return groupOf(chosen, isDate);
}

/**
 * A group by a column. Dates are grouped by months, because single days are rarely of interest.
 *
 * @param {import("../shell/schema.js").Column} column
 * @param {(column: import("../shell/schema.js").Column) => boolean} isDate @returns {Group}
 */
export function groupOf(column, isDate) {
  return { column: column.name, period: isDate(column) ? "month" : null };
}
