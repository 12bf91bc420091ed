// @ts-check
/** From values to pixels, and the round numbers to write at an axis. Pure. */

/**
 * @param {readonly (number | null)[]} values
 * @returns {[number, number]} the least and the greatest; the range includes zero, because lengths of bars and heights
 * of lines are compared
 */
export function domainOf(values) {
  let [least, most] = [0, 0];
  for (const value of values) {
    if (value === null) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most === least ? [0, 1] : [least, most];
}

/** @param {[number, number]} domain @param {[number, number]} range pixels @returns {(value: number) => number} */
export function linear([first, last], [start, end]) {
  const length = last - first || 1;
  return (value) => start + ((value - first) / length) * (end - start);
}

/**
 * @param {[number, number]} domain @param {number} count how many, approximately
 * @returns {number[]} multiples of 1, 2 or 5 times a power of ten within the domain
 */
export function ticks([least, most], count) {
  const rough = (most - least) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (/** @type {number} */ ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999)));
  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}
