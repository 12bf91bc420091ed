// @ts-check
/** The address of the activity page: `#activity?table=orders&key=[7]`. Pure. */

import { formatKey, parseKey } from "../browser/address.js";

/** @typedef {{table: string | null, key: any[] | null}} ActivityAddress null: all tables, all rows */

/** @param {string} hash as in `location.hash` @returns {ActivityAddress} */
export function parseActivity(hash) {
  const parameters = new URLSearchParams(hash.split("?").slice(1).join("?"));
  const table = parameters.get("table");
  return { table, key: table === null ? null : parseKey(parameters.get("key")) };
}

/** @param {ActivityAddress} address */
export function formatActivity({ table, key }) {
  const parameters = new URLSearchParams();
  if (table !== null) parameters.set("table", table);
  if (key !== null) parameters.set("key", formatKey(key));
  const text = String(parameters);
  return `#activity${text && `?${text}`}`;
}
