// @ts-check
/**
 * The natural widths of columns: as wide as the first rows need, so that few cells are cut and no column takes all the
 * room. Pure.
 */

const narrowest = 64;
const widest = 340;
/** Horizontal padding of a cell, and the extra width of a header for its sort mark and menu. */
const padding = 24;
const headerExtra = 44;
/** The largest factor by which columns grow: in wider ones, the values of a row would be too far apart. */
const mostGrowth = 2;
/** The fraction of rows whose values should fit uncut. */
const whole = 0.9;

/**
 * @param {string[]} titles of the column: its name, its type @param {string[]} texts of its first rows
 * @param {(text: string) => number} measure pixels
 */
export function naturalWidth(titles, texts, measure) {
  const widths = texts.map(measure).sort((left, right) => left - right);
  const usual = widths[Math.min(widths.length - 1, Math.ceil(widths.length * whole) - 1)] ?? 0;
  const title = Math.max(...titles.map(measure));
  return clamp(Math.ceil(Math.max(usual + padding, title + headerExtra)));
}

/** @param {number} width @param {number} [most] */
export function clamp(width, most = widest) {
  return Math.min(most, Math.max(narrowest, width));
}

/**
 * Distributes the room that is left. Columns with cut texts get it first; the rest goes to all columns that may grow,
 * in proportion to their widths.
 *
 * @param {{width: number, needs: number, grows?: boolean}[]} columns @param {number} room for all of them
 */
export function spread(columns, room) {
  const wanting = columns.map(({ width, needs }) => Math.max(0, needs - width));
  const wanted = wanting.reduce((sum, want) => sum + want, 0);
  const left = Math.max(0, room - columns.reduce((sum, { width }) => sum + width, 0));
  const share = wanted > 0 ? Math.min(1, left / wanted) : 0;
  const widths = columns.map(({ width }, index) => width + Math.floor(wanting[index] * share));
  const growing = widths.filter((_, index) => columns[index].grows).reduce((sum, width) => sum + width, 0);
  const rest = Math.max(0, room - widths.reduce((sum, width) => sum + width, 0));
  const factor = growing > 0 ? Math.min(mostGrowth, 1 + rest / growing) : 1;
  return widths.map((width, index) => (columns[index].grows ? Math.floor(width * factor) : width));
}
