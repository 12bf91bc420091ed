// @ts-check
/** Changes a thousand rows in one transaction, and measures what that takes. Pure. */

import { sql } from "../freshet.js";

export const burstSize = 1000;

/**
 * Gives each of a thousand wells the depth and status of the next one: each of them changes, but the set of values
 * stays the same, however often this is done.
 *
 * @param {number[]} inView ids that must be among them @param {number} from the id from which the others are taken
 */
export function burstStatement(inView, from) {
  const others = burstSize - inView.length;
  return sql`
    WITH chosen AS MATERIALIZED (
      SELECT id, depth, status FROM well WHERE id IN ${inView}
      UNION ALL SELECT * FROM (SELECT id, depth, status FROM well WHERE id NOT IN ${inView} AND id >= ${from} ORDER BY id LIMIT ${others})),
    shifted AS MATERIALIZED (
      SELECT id, lead(depth) OVER following AS depth, lead(status) OVER following AS status,
        first_value(depth) OVER following AS first_depth, first_value(status) OVER following AS first_status
      FROM chosen WINDOW following AS (ORDER BY id))
    UPDATE well SET depth = coalesce(shifted.depth, first_depth), status = coalesce(shifted.status, first_status)
    FROM shifted WHERE well.id = shifted.id`;
}

/** @typedef {{text: string, time: number}} Frame */

/**
 * The messages that brought a commit to the page: the first of each list that shows it.
 *
 * @param {Frame[]} frames @param {number} commit
 * @returns {{patches: number, snapshots: number, bytes: number, end: number} | null} null: none has come. `end`: when
 * the last one came
 */
export function arrivalOf(frames, commit) {
  const seen = new Set();
  const result = { patches: 0, snapshots: 0, bytes: 0, end: 0 };
  for (const { text, time } of frames) {
    if (!/^\{"type":"(patch|snapshot)"/.test(text)) continue;
    const message = JSON.parse(text);
    if (message.commit < commit || seen.has(message.id)) continue;
    seen.add(message.id);
    if (message.type === "patch") result.patches += 1;
    else result.snapshots += 1;
    result.bytes += new TextEncoder().encode(text).length;
    result.end = Math.max(result.end, time);
  }
  return seen.size > 0 ? result : null;
}

const numbers = new Intl.NumberFormat("en-US");
const counted = (/** @type {number} */ count, /** @type {string} */ one, many = `${one}s`) => `${numbers.format(count)} ${count === 1 ? one : many}`;

/**
 * "1,000 rows changed, 1 patch, 37 kB, 21 ms".
 *
 * @param {number} changes as the server counted them @param {NonNullable<ReturnType<typeof arrivalOf>>} arrival
 * @param {number} start when the transaction was sent
 */
export function burstSentence(changes, { patches, snapshots, bytes, end }, start) {
  const messages = [patches > 0 && counted(patches, "patch", "patches"), snapshots > 0 && counted(snapshots, "snapshot")].filter(Boolean);
  const size = bytes < 1000 ? counted(bytes, "byte") : `${numbers.format(Math.round(bytes / 1000))} kB`;
  return `${counted(changes, "row")} changed, ${messages.join(" and ")}, ${size}, ${numbers.format(Math.round(end - start))} ms`;
}
