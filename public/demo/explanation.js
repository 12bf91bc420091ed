// @ts-check
/** Shows what `/v1/explain` returns for a query. */

import { element } from "../shell/dom.js";
import { request } from "../shell/session.js";

/** @typedef {import("../freshet.js").Query} Query */

const words = /** @type {Record<string, string>} */ ({
  incremental: "Followed change by change", refetch: "Run again and differed",
});

/** How changed rows of a table are found: its `capture`. */
const captures = /** @type {Record<string, string>} */ ({
  rows: "row by row", pages: "by its pages, as it is large", reading: "not yet: it is being read",
  comparison: "by comparing the whole table: there is no WAL", everyCommit: "not at all: every commit counts",
});

/** @param {Query} query @param {HTMLElement} into */
export async function explain(query, into) {
  try {
    const answer = await request(`v1/explain?query=${encodeURIComponent(JSON.stringify(query))}`);
    const explanation = await answer.json();
    into.replaceChildren(...(answer.ok ? described(explanation) : [element("p", {}, explanation.detail ?? explanation.title)]));
  } catch {
    into.replaceChildren(element("p", {}, "The server cannot be reached."));
  }
}

/** @param {any} explanation */
function described({ maintenance, reason, tables, advice, sql, plan }) {
  const result = [
    element("p", { className: `badge ${maintenance}` }, words[maintenance] ?? maintenance),
    element("p", {}, reason ?? ""),
    ...(advice ?? []).map((/** @type {string} */ sentence) => element("p", { className: "advice" }, sentence)),
    element("table", {},
      element("thead", {}, row("th", ["Table", "Columns", "Followed by", "Changes found"])),
      element("tbody", {}, ...tables.map((/** @type {any} */ { name, columns, following, capture }) =>
        row("td", [name, columns.join(", "), following, captures[capture] ?? capture])))),
    element("h3", {}, "SQL"), element("pre", {}, element("code", {}, sql)),
  ];
  if (plan?.length) result.push(element("h3", {}, "SQLite’s plan"), element("pre", {}, element("code", {}, [plan].flat().join("\n"))));
  return result;
}

/** @param {"th" | "td"} tag @param {string[]} texts */
function row(tag, texts) {
  return element("tr", {}, ...texts.map((text) => element(tag, {}, text ?? "")));
}
