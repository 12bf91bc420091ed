// @ts-check
/** The server's report on itself, in words. Pure. */

/** @typedef {import("./metrics.js").Reading} Reading */

/**
 * A list of `/v1/server`: the result of one query, followed once for all its subscribers.
 *
 * @typedef {object} OpenList
 * @property {Record<string, any>} query @property {string} [name] of a published query
 * @property {number} subscriptions the number of its subscriptions; 0: it is kept for clients that may return
 * @property {number} rows @property {number} sections
 * @property {"incremental" | "refetch"} maintenance @property {string} reason @property {string[]} tables
 */
/** @typedef {{query: Record<string, any>, count: number, lastSeconds: number, longestSeconds: number}} SlowQuery */
/**
 * @typedef {object} Report
 * @property {string} server @property {number} startedAt @property {number} now seconds since 1970 @property {string} file
 * @property {OpenList[]} lists @property {number} listsLeftOut @property {SlowQuery[]} slowQueries
 */

const numbers = new Intl.NumberFormat("en-US");

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${numbers.format(count)} ${count === 1 ? one : many}`;
}

/** @param {unknown} fragments */
const listed = (fragments) => [fragments ?? []].flat().map((fragment) => textOf(fragment)).join(", ");

/** @param {any} fragment SQL, or an object that has it in `by` or `sql` */
const textOf = (fragment) => (typeof fragment === "object" && fragment !== null ? String(fragment.by ?? fragment.sql ?? "") : String(fragment));

/**
 * A query in words: "well where depth > :min, by county, ordered by name".
 *
 * @param {Record<string, any>} query @param {string} [name]
 */
export function queryInWords(query, name = query.name) {
  if (name) return `${name} (published)`;
  const parts = [
    query.groupBy?.length > 0 && `grouped by ${listed(query.groupBy)}`,
    query.sectionBy && `in sections by ${textOf(query.sectionBy)}`,
    query.orderBy?.length > 0 && `ordered by ${listed(query.orderBy)}`,
    query.limit !== null && query.limit !== undefined && `the first ${numbers.format(query.limit)}`,
  ];
  const where = query.where ? ` where ${listed(query.where)}` : "";
  return [`${listed(query.from)}${where}`, ...parts.filter(Boolean)].join(", ");
}

/** @param {OpenList} list */
export function sharedInWords({ subscriptions }) {
  if (subscriptions === 0) return "kept for clients that reconnect";
  return subscriptions === 1 ? "one client" : `shared by ${numbers.format(subscriptions)}`;
}

/** @param {OpenList} list */
export function maintenanceInWords({ maintenance }) {
  return maintenance === "incremental" ? "change by change" : "run again";
}

/** @param {OpenList} list */
export function sizeInWords({ rows, sections, query }) {
  return query.sectionBy ? `${counted(rows, "row")} in ${counted(sections, "section")}` : counted(rows, "row");
}

/** @param {number} seconds */
export function durationInWords(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return counted(minutes, "minute");
  return minutes < 48 * 60 ? counted(Math.floor(minutes / 60), "hour") : counted(Math.floor(minutes / 1440), "day");
}

/** @param {number} bytes */
export function bytesInWords(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/**
 * How long the median and the slowest of the last commits took, in one sentence; null before the first commit.
 *
 * @param {Reading} reading
 */
export function latencyInWords({ values }) {
  const quantile = (/** @type {string} */ which) => values.get(`freshet_tick_duration_seconds{quantile="${which}"}`);
  const [half, most] = [quantile("0.5"), quantile("0.99")];
  if (half === undefined || most === undefined || Number.isNaN(half)) return null;
  return `Half of the last commits took ${milliseconds(half)} or less, 99 in 100 took ${milliseconds(most)} or less.`;
}

/** @param {number} seconds */
export function milliseconds(seconds) {
  const value = seconds * 1000;
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

/** @param {Report | null} report @param {Reading} reading */
export function serverInWords(report, { values }) {
  const started = report?.startedAt ?? values.get("process_start_time_seconds");
  const now = report?.now ?? Date.now() / 1000;
  const running = started === undefined ? "" : `, running for ${durationInWords(Math.max(0, now - started))}`;
  return `${report ? `${report.file}, served by ${report.server.replace("/", " ")}` : "This server"}${running}.`;
}

/** @param {Reading} reading */
export function slowCount({ values }) {
  return totalOf(values, "freshet_slow_queries_total");
}

/**
 * The sum of a metric over all its labels.
 *
 * @param {Map<string, number>} values @param {string} name
 */
export function totalOf(values, name) {
  let sum = 0;
  for (const [key, value] of values) if (key === name || key.startsWith(`${name}{`)) sum += value;
  return sum;
}
