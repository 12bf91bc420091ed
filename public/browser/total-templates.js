// @ts-check
/** How totals of columns are shown: in the headers of sections, and in a line below the rows. */

import { element } from "../shell/dom.js";
import { calls, nameOf } from "./totals.js";

/** @typedef {import("./totals.js").Total} Total */

/**
 * Templates for the headers of sections, and for the line below the rows; null for the default.
 *
 * @param {Total[]} totals @param {string | null} chart address of the chart of all sections; null without sections
 */
export function totalTemplates(totals, chart) {
  if (totals.length === 0 && chart === null) return { section: null, line: null };
  const parts = () => totals.map((total) => element("span", { className: "total" },
    `${calls[total.call]} of ${total.column} `, shown("b", `totals.${nameOf(total)}`)));
  const name = shown("span", "name");
  const count = shown("span", "count");
  [name.className, count.className] = ["live-name", "live-count"];
  const link = chart === null ? [] : [element("a", { className: "to-chart", href: chart, title: "All sections as a chart" }, "Chart")];
  return { section: template(name, count, ...parts(), ...link), line: totals.length === 0 ? null : template(...parts()) };
}

/** @param {"b" | "span"} tag @param {string} column */
function shown(tag, column) {
  const result = element(tag, {});
  result.dataset.text = column;
  return result;
}

/** @param {...Node} children */
function template(...children) {
  const result = document.createElement("template");
  result.content.append(...children);
  return result;
}
