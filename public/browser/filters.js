// @ts-check
/** Conditions on one column each, as SQL with the values kept apart from it. Pure. */

import { sql } from "../client/sql.js";
import { affinityOf, numberIn } from "./affinity.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {"contains" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "null" | "notnull"} Operator */
/** @typedef {{column: string, operator: Operator, value: string}} Filter */

/**
 * Operators with their names.
 *
 * @type {Record<Operator, string>}
 */
export const operators = {
  contains: "contains", eq: "=", ne: "≠", lt: "<", gt: ">", le: "≤", ge: "≥", null: "is null", notnull: "is not null",
};

/** @type {Partial<Record<Operator, string>>} */
const comparisons = { eq: "=", ne: "IS NOT", lt: "<", gt: ">", le: "<=", ge: ">=" };

/** @param {Operator} operator */
export function takesValue(operator) {
  return operator !== "null" && operator !== "notnull";
}

/**
 * @param {Filter} filter @param {Column | undefined} column undefined if it is unknown @param {SQLFragment} name
 * @returns {SQLFragment}
 */
export function conditionOf({ operator, value }, column, name) {
  if (operator === "null") return sql`${name} IS NULL`;
  if (operator === "notnull") return sql`${name} IS NOT NULL`;
  if (operator === "contains") return sql`${name} LIKE ${`%${value.replace(/[\\%_]/g, "\\$&")}%`} ESCAPE ${"\\"}`;
  const sign = comparisons[operator];
  if (!sign) throw new Error(`There is no filter “${operator}”. There are ${Object.keys(operators).join(", ")}.`);
  const compare = (/** @type {any} */ operand) => sql.join([name, operand], ` ${sign} `);
  const number = numberIn(value);
  if (number === null || affinityOf(column?.type) !== "BLOB") return compare(number !== null && isNumeric(column) ? number : value);
  // Without an affinity a column may hold '7' as well as 7, which are not equal to SQLite.
  if (operator === "eq") return sql`(${compare(value)} OR ${compare(number)})`;
  if (operator === "ne") return sql`(${compare(value)} AND ${compare(number)})`;
  return compare(number);
}

/** @param {Column | undefined} column */
function isNumeric(column) {
  return ["INTEGER", "REAL", "NUMERIC"].includes(affinityOf(column?.type));
}
