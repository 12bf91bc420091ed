// @ts-check
/** Charts of all wells, next to their list. */

import "../live-chart.js";
import { part } from "../shell/dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../live-chart.js").LiveChartElement} LiveChartElement */

const year = "substr(spud_date, 1, 4)";
/** @type {Record<string, import("../freshet.js").Query>} by the chart's id */
const queries = {
  "status-chart": { from: "well", select: ["status", "count(*) AS wells"], groupBy: ["status"], orderBy: ["count(*) DESC"] },
  "year-chart": { from: "well", select: [`${year} AS year`, "count(*) AS wells"], where: "spud_date IS NOT NULL", groupBy: [year] },
};

/**
 * @param {Client} client
 * @param {(settings: {by: string, filter: string}) => void} show called with the rows of a bar or a point
 */
export function showCharts(client, show) {
  for (const [id, query] of Object.entries(queries)) {
    const chart = /** @type {LiveChartElement} */ (part(id));
    chart.client = client;
    chart.query = query;
    chart.addEventListener("activate", () => show({ by: id === "status-chart" ? "status" : "year", filter: "" }));
  }
}
