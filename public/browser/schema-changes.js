// @ts-check
/** What happened to a table between two reads of the schema, in sentences for users. Pure. */

/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("../shell/schema.js").Table} Table */

/**
 * The probable new name of a table that disappeared: a new table of the same kind with the same columns.
 *
 * @param {Table} gone @param {Set<string>} known names of the tables that were there together with it @param {Table[]} tables that are there now
 * @returns {Table | null} null also if several tables match
 */
export function successorOf(gone, known, tables) {
  const candidates = tables.filter((table) => !known.has(table.name) && table.kind === gone.kind && columnsText(table) === columnsText(gone));
  return candidates.length === 1 ? candidates[0] : null;
}

/**
 * @param {Table} before @param {Table} after @returns {string} sentences; empty where its columns are as they were
 */
export function changeSentences(before, after) {
  const names = (/** @type {Table} */ { columns }) => new Set(columns.map(({ name }) => name));
  const [old, now] = [names(before), names(after)];
  const gone = before.columns.filter(({ name }) => !now.has(name));
  const added = after.columns.filter(({ name }) => !old.has(name));
  const renamed = renamedColumn(before, after, gone, added);
  if (renamed) return `The column ${quoted(gone[0].name)} is now called ${quoted(renamed.name)}.`;
  const retyped = after.columns.filter((column) => old.has(column.name) && before.columns.find(({ name }) => name === column.name)?.type !== column.type);
  return [
    ...gone.map(({ name }) => `The column ${quoted(name)} is gone.`), ...added.map(({ name }) => `There is a new column ${quoted(name)}.`),
    ...retyped.map(({ name, type }) => `The type of ${quoted(name)} is now ${type || "any"}.`),
  ].join(" ");
}

/**
 * The column that was renamed: SQLite keeps its position.
 *
 * @param {Table} before @param {Table} after @param {Column[]} gone @param {Column[]} added @returns {Column | null}
 */
function renamedColumn(before, after, [old, ...othersGone], [now, ...othersAdded]) {
  if (!old || !now || othersGone.length > 0 || othersAdded.length > 0) return null;
  return before.columns.indexOf(old) === after.columns.indexOf(now) && old.type === now.type ? now : null;
}

/**
 * The error of criteria that name something missing, as a sentence.
 *
 * @param {string} message of the server: "orderBy[0]: no such column: task.due"
 */
export function criteriaSentence(message) {
  const [, fragment, name] = /(\w+)(?:\[\d+\])?: no such column: (?:.*\.)?(.*)$/.exec(message) ?? [];
  const use = /** @type {Record<string, string>} */ ({ orderBy: "the sort", sectionBy: "Sections", where: "a filter" })[fragment];
  return use ? `There is no column ${quoted(name)}, and ${use} names it.` : message;
}

/** @param {string} name */
function quoted(name) {
  return `\`${name}\``;
}

/** @param {Table} table */
function columnsText({ columns }) {
  return JSON.stringify(columns.map(({ name, type, key }) => [name, type, key]));
}
