// @ts-check
/** Rows that a patch moved out of view, and where in the list they are now. Pure. */

/** @typedef {import("../freshet.js").ChangeEvent} ChangeEvent */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {{first: number, last: number}} Range */
/**
 * `row`: its former values; `name`: its present name, null if not held; `offset`: its present offset; `distance`: in
 * rows, negative for upwards.
 *
 * @typedef {{row: Row, name: string | null, section: any, offset: number, distance: number}} Departure
 */

/**
 * @param {ChangeEvent} event @param {Range} range offsets that were in view
 * @returns {Departure[]}
 */
export function departuresOf({ patch, before, after }, { first, last }) {
  const departures = [];
  for (const [from, to, changes] of patch?.moved ?? []) {
    const old = before.offsetOf(from);
    const offset = after.offsetOf(to);
    if (old === null || offset === null || old < first || old >= last || (offset >= first && offset < last)) continue;
    const row = before.at(old);
    const name = changes?.name ?? after.at(offset)?.name ?? null;
    if (row) departures.push({ row, name, section: after.sections[to[0]]?.name ?? null, offset, distance: offset - old });
  }
  return departures;
}

const numbers = new Intl.NumberFormat("en-US");

/** @param {Departure} departure @param {boolean} hasSections */
export function departureSentence({ row, name, section, distance }, hasSections) {
  const rows = `${numbers.format(Math.abs(distance))} ${Math.abs(distance) === 1 ? "row" : "rows"} ${distance < 0 ? "up" : "down"}`;
  const what = name === null || name === row.name ? `“${row.name}” moved` : `“${row.name}” is now “${name}”,`;
  return hasSections && section !== null ? `${what} ${rows}, in ${section}` : `${what} ${rows}`;
}
