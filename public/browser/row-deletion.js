// @ts-check
/** Deletes a row: says before what goes with it, asks where that is more than the row, and lets all of it be undone. */

import { plainTransaction } from "../client/sql.js";
import { encoded } from "../client/values.js";
import { ask } from "../shell/ask.js";
import { formatted } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { CommitWatch } from "./commit-watch.js";
import { cascadeOf, completed, consequencesIn, countingOf, readingsOf, restoring } from "./deletion-plan.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./deletion-plan.js").Consequences} Consequences */
/** @typedef {import("./deletion-plan.js").Count} Count */
/** @typedef {import("./table-writer.js").TableWriter} TableWriter */

/**
 * @param {TableWriter} writer @param {Row} row @param {() => void} restored called when it is back
 * @returns {Promise<boolean>} false: it is there still, and the user knows why
 */
export async function deleteRow(writer, row, restored) {
  const { catalogue, table } = writer;
  // What only forbids it is not counted before: a deletion that nothing goes with shows at once, and the database decides.
  const isAlone = !table.triggers && !catalogue.referencesTo(table).some(({ onDelete }) => onDelete);
  const { consequences, sentences, hasTriggers } = isAlone ? { consequences: null, sentences: [], hasTriggers: false } : await outlookOf(writer, row);
  const isRefused = (consequences?.refusing.length ?? 0) > 0;
  if (sentences.length > 0 && !isRefused && !await ask(`Delete ${writer.titleOf(row)}?`, sentences, "Delete")) return false;
  try {
    await writer.undo.waitFor(sentences.length > 0 ? deleteWithOthers(writer, row, consequences, hasTriggers, restored) : writer.delete(row, restored));
    return true;
  } catch (error) {
    const isForeignKey = /FOREIGN KEY/i.test(reasonOf(error));
    const { refusing } = (isForeignKey && await consequencesOf(writer, row).catch(() => null)) || { refusing: [] };
    writer.undo.say(`Not deleted: ${reasonOf(error)}${refusing.length > 0 ? `: ${counted(refusing)} refer to it` : ""}`);
    return false;
  }
}

/**
 * What is said before.
 *
 * @param {TableWriter} writer @param {Row} row
 * @returns {Promise<{consequences: Consequences | null, sentences: string[], hasTriggers: boolean}>} `consequences` is null where they cannot be counted
 */
async function outlookOf(writer, row) {
  const { catalogue, table } = writer;
  /** @type {Consequences | null} */
  let consequences = null;
  let unknown = "";
  try {
    consequences = await consequencesOf(writer, row);
  } catch (error) {
    unknown = `What goes with it cannot be counted: ${reasonOf(error)}`;
  }
  const triggering = cascadeOf(catalogue, table).filter(({ name, triggers }) => triggers && (name === table.name || isAmong(consequences, name)));
  const sentences = [...(consequences ? sentencesFor(consequences) : [unknown]), ...triggering.map(({ name }) => `Triggers of ${name} may change more.`)];
  return { consequences, sentences, hasTriggers: triggering.length > 0 };
}

/** @param {TableWriter} writer @param {Row} row */
async function consequencesOf(writer, row) {
  const { statement, tables } = countingOf(writer.catalogue, writer.table, writer.keyOf(row));
  const { results: [{ rows }] } = await writer.client.transact(statement);
  return consequencesIn(rows, tables);
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
 * @param {TableWriter} writer @param {Row} row @param {Consequences | null} consequences @param {boolean} hasTriggers @param {() => void} restored
 */
async function deleteWithOthers(writer, row, consequences, hasTriggers, restored) {
  const { catalogue, client, table } = writer;
  const others = consequences && !hasTriggers ? [...consequences.deleted, ...consequences.changed].map(({ table: name }) => name) : null;
  const watch = new CommitWatch(client, others ? [...new Set([table.name, ...others])] : undefined);
  try {
    const isWatched = await watch.begun();
    const readings = readingsOf(catalogue, table, writer.keyOf(row));
    const deletion = await writer.deleteUnsaid(row, readings.map(({ statement }) => statement));
    if (deletion === null) return;
    const { gone: own, read } = deletion;
    const key = writer.keyOf(own);
    const isIt = (/** @type {import("../freshet.js").RowChange[]} */ changes) => changes.some((change) => change.op === "delete" && change.table === table.name
      && Object.entries(key).every(([name, value]) => String((change.old ?? change.key ?? {})[name] ?? change.key?.[name]) === String(value)));
    const changes = isWatched ? await watch.commitWith(isIt) : null;
    // Its rowid, which the feed names only where it is the key.
    const whole = changes && completed(catalogue, changes, readings.map(({ table: each }, index) => ({ table: each, rows: read[index] })))
      .map((change) => (isIt([change]) ? { ...change, old: own } : change));
    const all = whole && within(client, restoring(catalogue, whole));
    const also = whole ? counted(countsOf(catalogue, table, whole.filter((change) => change.op === "delete" && !isIt([change])))) : "";
    writer.undo.push({
      title: `${writer.titleOf(row)} deleted${also && `, and ${also}`}.`, statements: all ?? writer.restoringOf(own), done: restored,
      ...(!all && { caution: "Undo brings back the row alone: what else has changed is not known, or too much for one message." }),
    });
  } finally {
    watch.close();
  }
}

/**
 * @param {import("../freshet.js").Client} client @param {import("../client/sql.js").SQLFragment[] | null} statements
 * @returns {import("../client/sql.js").SQLFragment[] | null} null: the server takes no message of that size
 */
function within(client, statements) {
  const most = client.hello?.limits?.messageBytes ?? Infinity;
  const size = new TextEncoder().encode(encoded(plainTransaction(statements ?? []))).length;
  // Around it come a type, an id and what names the write.
  return size + 200 < most ? statements : null;
}

/**
 * In the order in which the question had them; what triggers deleted comes last.
 *
 * @param {import("./catalogue.js").Catalogue} catalogue @param {import("./catalogue.js").Table} table @param {import("../freshet.js").RowChange[]} changes
 * @returns {Count[]}
 */
function countsOf(catalogue, table, changes) {
  const names = [...new Set([...cascadeOf(catalogue, table).map(({ name }) => name), ...changes.map(({ table: name }) => name)])].filter((name) => changes.some((change) => change.table === name));
  return names.map((name) => ({ table: name, rows: changes.filter((change) => change.table === name).length }));
}
