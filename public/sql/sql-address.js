// @ts-check
/** The address of the SQL page: `#sql?sql=SELECT…&key=id&sort=-total`. Pure. */

import { formatColumns, formatSort, parseColumns, parseSort } from "../browser/address.js";

/** @typedef {import("../browser/address.js").SortColumn} SortColumn */
/** @typedef {{sql: string, key: string[], sort: SortColumn[]}} SQLAddress `key` is empty where none was chosen */

/** @param {string} hash as in `location.hash` @returns {SQLAddress} */
export function parseSQLAddress(hash) {
  const parameters = new URLSearchParams(hash.split("?").slice(1).join("?"));
  return { sql: parameters.get("sql") ?? "", key: parseColumns(parameters.get("key")), sort: parseSort(parameters.get("sort")) };
}

/** @param {SQLAddress} address */
export function formatSQLAddress({ sql, key, sort }) {
  const parameters = new URLSearchParams();
  if (sql !== "") parameters.set("sql", sql);
  if (key.length > 0) parameters.set("key", formatColumns(key));
  if (sort.length > 0) parameters.set("sort", formatSort(sort));
  const text = String(parameters);
  return `#sql${text && `?${text}`}`;
}
