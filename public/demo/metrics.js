// @ts-check
/** Prometheus' text format. Pure. */

/**
 * @param {string} text @returns {Map<string, number>} values by name, with labels as they are written
 */
export function parseMetrics(text) {
  const values = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-z_][a-z0-9_]*(?:\{[^}]*\})?) (\S+)$/i.exec(line);
    if (match) values.set(match[1], Number(match[2]));
  }
  return values;
}

/**
 * The readings in an answer of `/metrics/history`.
 *
 * @param {{metrics: string[], samples: number[][]}} history @returns {Reading[]}
 */
export function readingsOf({ metrics, samples }) {
  return samples.map(([seconds, ...values]) => ({
    time: seconds * 1000, values: new Map(metrics.map((name, index) => [name, values[index]])),
  }));
}

/**
 * How much a counter rose per second; null unless there are two readings, and if the server restarted between them.
 *
 * @typedef {{values: Map<string, number>, time: number}} Reading `time` in milliseconds
 * @param {Reading | null} before @param {Reading} now @param {string} name
 */
export function perSecond(before, now, name) {
  const rise = riseOf(before, now, name);
  return rise === null || !before ? null : rise / ((now.time - before.time) / 1000);
}

/** @param {Reading | null} before @param {Reading} now @param {string} name */
function riseOf(before, now, name) {
  const [old, newest] = [before?.values.get(name), now.values.get(name)];
  return old === undefined || newest === undefined || newest < old ? null : newest - old;
}

/**
 * The mean of a summary between two readings; null when nothing was measured.
 *
 * @param {Reading | null} before @param {Reading} now @param {string} name
 */
export function meanOf(before, now, name) {
  const [sum, count] = [riseOf(before, now, `${name}_sum`), riseOf(before, now, `${name}_count`)];
  return sum === null || !count ? null : sum / count;
}
