// @ts-check
/** The tables of the Server page: open lists, slow queries. */

import { element } from "../shell/dom.js";
import {
  counted, durationInWords, maintenanceInWords, queryInWords, sharedInWords, sizeInWords,
} from "./server-report.js";

/** @typedef {import("./server-report.js").Report} Report */

/** @param {Report} report @returns {HTMLElement[]} */
export function openLists({ lists, listsLeftOut }) {
  if (lists.length === 0) return [element("p", { className: "quiet" }, "No list is open.")];
  const rows = lists.map((list) => row([
    element("strong", {}, queryInWords(list.query, list.name)),
    sharedInWords(list), sizeInWords(list),
    element("div", {}, element("span", { className: `badge ${list.maintenance}` }, maintenanceInWords(list)),
      element("p", { className: "quiet" }, list.reason)),
  ]));
  const left = listsLeftOut > 0 ? [element("p", { className: "quiet" }, `and ${counted(listsLeftOut, "more list", "more lists")}`)] : [];
  return [table(["List", "Clients", "Size", "After a commit"], rows), ...left];
}

/** @param {Report} report @returns {HTMLElement[]} */
export function slowQueries({ slowQueries: queries }) {
  if (queries.length === 0) return [element("p", { className: "quiet" }, "None since the server started.")];
  return [table(["Query", "How often", "Last", "Longest"], queries.map(({ query, count, lastSeconds, longestSeconds }) =>
    row([element("strong", {}, queryInWords(query)), counted(count, "time"), durationInWords(lastSeconds), durationInWords(longestSeconds)])))];
}

/** @param {string[]} titles @param {HTMLElement[]} rows */
function table(titles, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)))),
    element("tbody", {}, ...rows));
}

/** @param {(string | Node)[]} cells */
function row(cells) {
  return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
}
