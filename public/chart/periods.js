// @ts-check
/**
 * Dates as SQLite writes them: their places on an axis, and the years, months, weeks or days in which they follow each
 * other. Pure.
 */

/** @typedef {"year" | "month" | "week" | "day" | "time"} Unit */

const pattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/;
const day = 86_400_000;
/** How many missing periods are filled at most: a mistyped year must not make a million points. */
const mostFilled = 5_000;

/**
 * @param {unknown} value `2024`, `2024-03`, `2024-03-05`, `2024-03-05 12:30:00`, or a number, which is its own place
 * @returns {number | null} milliseconds since 1970; null: it is not a date
 */
export function placeOf(value) {
  if (typeof value === "number" || typeof value === "bigint") return Number(value);
  const parts = typeof value === "string" ? pattern.exec(value) : null;
  if (!parts) return null;
  const [, year, month = "01", date = "01", hour = "00", minute = "00", second = "00", fraction = "0", zone = "Z"] = parts;
  const time = Date.parse(`${year}-${month}-${date}T${hour}:${minute}:${second}.${fraction.padEnd(3, "0")}${zone}`);
  return Number.isNaN(time) ? null : time;
}

/**
 * @param {readonly unknown[]} values
 * @returns {boolean} whether all are dates written as text; NULLs do not count
 */
export function areDates(values) {
  const known = values.filter((value) => value !== null);
  return known.length > 0 && known.every((value) => typeof value === "string" && placeOf(value) !== null);
}

/**
 * @param {readonly string[]} texts dates
 * @returns {Unit} the unit in which they follow each other
 */
export function unitOf(texts) {
  const lengths = new Set(texts.map(({ length }) => length));
  const [length] = lengths;
  if (lengths.size !== 1 || length > 10) return "time";
  if (length < 10) return length === 4 ? "year" : "month";
  const days = [...new Set(texts.map((text) => /** @type {number} */ (placeOf(text)) / day))].sort((left, right) => left - right);
  const areWeeks = days.length > 1 && days.every((each) => (each - days[0]) % 7 === 0);
  return areWeeks ? "week" : "day";
}

/** @param {string} text @param {Unit} unit @returns {string} the period after it */
function after(text, unit) {
  const date = new Date(/** @type {number} */ (placeOf(text)));
  if (unit === "year") return String(Number(text) + 1).padStart(4, "0");
  if (unit === "month") date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCDate(date.getUTCDate() + (unit === "week" ? 7 : 1));
  return date.toISOString().slice(0, text.length);
}

/**
 * @param {readonly string[]} texts dates
 * @returns {string[]} in order, each once, including missing periods between the first and the last
 */
export function withoutGaps(texts) {
  const sorted = [...new Set(texts)].sort((left, right) => Number(placeOf(left)) - Number(placeOf(right)));
  const unit = unitOf(sorted);
  if (unit === "time" || sorted.length < 2) return sorted;
  const result = [sorted[0]];
  const last = sorted[sorted.length - 1];
  while (result[result.length - 1] !== last) {
    if (result.length > mostFilled) return sorted;
    result.push(after(result[result.length - 1], unit));
  }
  return result;
}
