// @ts-check
/**
 * Deletes rows: shows which rows would be deleted with them, asks if there is more than one row, and makes all of it
 * undoable.
 */

import { ask } from "../shell/ask.js";
import { formatted } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { CommitWatch } from "./commit-watch.js";
import { cascadeOf, completed, consequencesIn, countingOf, readingsOf, restoring } from "./deletion-plan.js";
import { within } from "./table-writer.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./deletion-plan.js").Consequences} Consequences */
/** @typedef {import("./deletion-plan.js").Count} Count */
/** @typedef {import("./table-writer.js").TableWriter} TableWriter */

/**
 * @param {TableWriter} writer @param {Row[]} rows at least one @param {() => void} restored called when the rows are
 * back
 * @returns {Promise<boolean>} false: nothing was deleted, and the user knows why
 */
export async function deleteRows(writer, rows, restored) {
  const { catalogue, table } = writer;
  // Rows that would only forbid the deletion are not counted first: a deletion that affects no other rows shows at
  // once, and the database decides.
  const isAlone = !table.triggers && !catalogue.referencesTo(table).some(({ onDelete }) => onDelete);
  const { consequences, sentences, hasTriggers } = isAlone ? { consequences: null, sentences: [], hasTriggers: false } : await outlookOf(writer, rows);
  const isRefused = (consequences?.refusing.length ?? 0) > 0;
  const isAsked = (sentences.length > 0 || rows.length > 1) && !isRefused;
  if (isAsked && !await ask(`Delete ${writer.titleOf(...rows)}?`, sentences, "Delete")) return false;
  try {
    await writer.undo.waitFor(sentences.length > 0 ? deleteWithOthers(writer, rows, consequences, hasTriggers, restored) : writer.delete(rows, restored));
    return true;
  } catch (error) {
    const isForeignKey = /FOREIGN KEY/i.test(reasonOf(error));
    const { refusing } = (isForeignKey && await consequencesOf(writer, rows).catch(() => null)) || { refusing: [] };
    const refers = refusing.length > 0 ? `: ${counted(refusing)} refer to ${rows.length === 1 ? "it" : "them"}` : "";
    writer.undo.say(`Not deleted: ${reasonOf(error)}${refers}`);
    return false;
  }
}

/**
 * The text of the question before a deletion.
 *
 * @param {TableWriter} writer @param {Row[]} rows
 * @returns {Promise<{consequences: Consequences | null, sentences: string[], hasTriggers: boolean}>} `consequences` is
 * null if they cannot be counted
 */
async function outlookOf(writer, rows) {
  const { catalogue, table } = writer;
  /** @type {Consequences | null} */
  let consequences = null;
  let unknown = "";
  try {
    consequences = await consequencesOf(writer, rows);
  } catch (error) {
    unknown = `What goes with it cannot be counted: ${reasonOf(error)}`;
  }
  const triggering = cascadeOf(catalogue, table).filter(({ name, triggers }) => triggers && (name === table.name || isAmong(consequences, name)));
  const sentences = [...(consequences ? sentencesFor(consequences) : [unknown]), ...triggering.map(({ name }) => `Triggers of ${name} may change more.`)];
  return { consequences, sentences, hasTriggers: triggering.length > 0 };
}

/** @param {TableWriter} writer @param {Row[]} rows */
async function consequencesOf(writer, rows) {
  const { statement, tables } = countingOf(writer.catalogue, writer.table, rows.map((row) => writer.keyOf(row)));
  const { results: [{ rows: counts }] } = await writer.client.transact(statement);
  return consequencesIn(counts, tables, rows.length);
}

/** @param {Consequences | null} consequences @param {string} name */
function isAmong(consequences, name) {
  return consequences === null || consequences.deleted.some(({ table }) => table === name);
}

/** @param {Consequences} consequences */
function sentencesFor({ deleted, changed }) {
  return [
    ...(deleted.length > 0 ? [`This also deletes ${counted(deleted)}.`] : []),
    ...(changed.length > 0 ? [`It clears the references of ${counted(changed)}.`] : []),
  ];
}

/** @param {Count[]} counts */
function counted(counts) {
  return counts.map(({ table, rows }) => `${formatted(rows)} ${table}`).join(", ");
}

/**
 * @param {TableWriter} writer @param {Row[]} rows @param {Consequences | null} consequences
 * @param {boolean} hasTriggers @param {() => void} restored
 */
async function deleteWithOthers(writer, rows, consequences, hasTriggers, restored) {
  const { catalogue, client, table } = writer;
  const others = consequences && !hasTriggers ? [...consequences.deleted, ...consequences.changed].map(({ table: name }) => name) : null;
  const watch = new CommitWatch(client, others ? [...new Set([table.name, ...others])] : undefined);
  try {
    const isWatched = await watch.begun();
    const readings = readingsOf(catalogue, table, rows.map((row) => writer.keyOf(row)));
    const deletion = await writer.deleteUnsaid(rows, readings.map(({ statement }) => statement));
    if (deletion === null) return;
    const { gone, read } = deletion;
    const nameOf = (/** @type {Record<string, any>} */ values) => JSON.stringify(writer.key.map((name) => String(values[name])));
    const own = new Map(gone.map((row) => [nameOf(row), row]));
    const ownOf = (/** @type {import("../freshet.js").RowChange} */ { op, table: name, old, key }) =>
      (op === "delete" && name === table.name ? own.get(nameOf({ ...key, ...old })) : undefined);
    const changes = isWatched ? await watch.commitWith((all) => all.some(ownOf)) : null;
    // The rows' own former states have the rowids, which the feed names only if they are the key.
    const whole = changes && completed(catalogue, changes, readings.map(({ table: each }, index) => ({ table: each, rows: read[index] })))
      .map((change) => ({ ...change, ...(ownOf(change) && { old: ownOf(change) }) }));
    const all = whole && within(client, restoring(catalogue, whole));
    const also = whole ? counted(countsOf(catalogue, table, whole.filter((change) => change.op === "delete" && !ownOf(change)))) : "";
    const statements = all ?? within(client, writer.restoringOf(gone));
    const title = `${writer.titleOf(...gone)} deleted${also && `, and ${also}`}.`;
    if (!statements) return writer.undo.say(`${title} They are too much for one message: Undo cannot bring them back.`);
    writer.undo.push({
      title, statements, done: restored,
      ...(!all && { caution: `Undo brings back the ${gone.length === 1 ? "row" : "rows"} alone: what else has changed is not known, or too much for one message.` }),
    });
  } finally {
    watch.close();
  }
}

/**
 * The numbers of deleted rows, in the order of the question; rows that triggers deleted come last.
 *
 * @param {import("./catalogue.js").Catalogue} catalogue @param {import("./catalogue.js").Table} table @param {import("../freshet.js").RowChange[]} changes
 * @returns {Count[]}
 */
function countsOf(catalogue, table, changes) {
  const names = [...new Set([...cascadeOf(catalogue, table).map(({ name }) => name), ...changes.map(({ table: name }) => name)])].filter((name) => changes.some((change) => change.table === name));
  return names.map((name) => ({ table: name, rows: changes.filter((change) => change.table === name).length }));
}
