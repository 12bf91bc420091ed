// @ts-check
/** The query of a list of wells, and its form in the address, so that it survives a reload and can be shared. Pure. */

import { sql } from "../client/sql.js";

/** @typedef {{sort: string, by: string, filter: string}} PaneSettings */

/** Orders by their names in the address. */
export const sorts = {
  name: { title: "Name", orderBy: ["name"] },
  deepest: { title: "Depth, deepest first", orderBy: ["depth DESC"] },
  newest: { title: "Spud date, newest first", orderBy: ["spud_date DESC"] },
  operator: { title: "Operator", orderBy: ["operator", "name"] },
};
/** @type {Record<string, {title: string, by: string | {by: string, order?: "DESC", indexTitle?: string} | null}>} */
export const sections = {
  county: { title: "County", by: "county" }, operator: { title: "Operator", by: "operator" }, status: { title: "Status", by: "status" },
  letter: { title: "First letter", by: "upper(substr(name, 1, 1))" },
  year: { title: "Year", by: { by: "substr(spud_date, 1, 4)", order: "DESC", indexTitle: "substr(spud_date, 3, 2)" } },
  none: { title: "None", by: null },
};

/**
 * Settings of the first pane and of the second: two orders, so that one change shows at two different positions. @type
 * {PaneSettings[]}
 */
export const defaults = [{ sort: "name", by: "county", filter: "" }, { sort: "deepest", by: "none", filter: "" }];

/** @param {PaneSettings} settings @returns {import("../freshet.js").Query} */
export function wellsQuery({ sort, by, filter }) {
  const text = filter.trim().replace(/[\\%_]/g, "\\$&");
  return {
    from: "well", select: ["name", "operator", "status", "depth", "spud_date"],
    ...(text && { where: sql`name LIKE ${`%${text}%`} ESCAPE ${"\\"}` }),
    sectionBy: sections[by].by,
    orderBy: sorts[/** @type {keyof typeof sorts} */ (sort)].orderBy,
  };
}

/**
 * @param {PaneSettings[]} panes
 * @returns {string} `#wells`, with the settings that differ from the defaults: `#wells?sort=deepest&by2=none`
 */
export function addressOf(panes) {
  const members = new URLSearchParams();
  if (panes.length > 1) members.set("panes", String(panes.length));
  panes.forEach((settings, index) => {
    for (const name of /** @type {const} */ (["sort", "by", "filter"])) {
      if (settings[name] !== defaults[index][name]) members.set(name + (index > 0 ? index + 1 : ""), settings[name]);
    }
  });
  const text = members.toString();
  return text ? `#wells?${text}` : "#wells";
}

/**
 * @param {string} hash
 * @returns {PaneSettings[]} missing or invalid settings have their defaults
 */
export function settingsOf(hash) {
  const members = new URLSearchParams(hash.split("?")[1] ?? "");
  const count = members.get("panes") === "2" ? 2 : 1;
  return defaults.slice(0, count).map((usual, index) => {
    const suffix = index > 0 ? index + 1 : "";
    const [sort, by] = [members.get(`sort${suffix}`) ?? "", members.get(`by${suffix}`) ?? ""];
    return {
      sort: Object.hasOwn(sorts, sort) ? sort : usual.sort, by: Object.hasOwn(sections, by) ? by : usual.by,
      filter: members.get(`filter${suffix}`) ?? usual.filter,
    };
  });
}
