// @ts-check
/** Columns that may identify the rows of a view, the likeliest first. The server checks whether they do. Pure. */

import { rowNumber } from "./table-query.js";

/** More pairs would only delay the last candidate, which always works. */
const mostPairs = 4;

/**
 * @param {{name: string, columns: {name: string}[]}} view
 * @returns {string[][]} the last one always works: rows are numbered
 */
export function keyCandidates({ name, columns }) {
  const names = columns.map((column) => column.name);
  const own = [name, name.replace(/s$/i, ""), name.replace(/ies$/i, "y"), name.split(/[_ ]/)[0]].map(plain);
  const rank = (/** @type {string} */ column) => {
    const text = plain(column);
    if (text === "id" || text === "rowid") return 0;
    if (own.some((word) => text === `${word}id`)) return 1;
    if (/id$/.test(text)) return 2;
    return /(key|uuid|guid|code|number|no)$/.test(text) ? 3 : 4;
  };
  const likely = names.filter((column) => rank(column) < 4)
    .sort((left, right) => rank(left) - rank(right) || names.indexOf(left) - names.indexOf(right));
  const singles = [...likely, ...names.slice(0, 1)].map((column) => [column]);
  const pairs = pairsOf([...likely, ...names.slice(0, 2)]).slice(0, mostPairs);
  return distinct([...singles, ...pairs, names, [rowNumber]]).filter((key) => key.length > 0);
}

/** @param {string} name */
const plain = (name) => name.toLowerCase().replace(/[_ ]/g, "");

/** @param {string[]} names */
function pairsOf(names) {
  const different = [...new Set(names)];
  return different.flatMap((left, index) => different.slice(index + 1).map((right) => [left, right]));
}

/** @param {string[][]} keys */
function distinct(keys) {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
}
