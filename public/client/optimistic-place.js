// @ts-check
/** Where a row belongs among those of a list. Pure. */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("./ordering.js").Ordering} Ordering */
/** @typedef {import("./row-sequence.js").RowSequence} RowSequence */
/**
 * @typedef {object} Rest the rows that are there
 * @property {RowSequence} sequence @property {number[]} boundaries first offsets of the sections, and the total
 * @property {readonly Section[]} sections @property {{first: number, last: number}} held offsets of the rows with contents
 * @property {boolean} holdsNothing whether a row that is put in has no contents either
 */
/**
 * @typedef {object} Place
 * @property {number} section its index; between two for one that is not there
 * @property {SQLValue} [name] of that one
 * @property {number} at offset of the row that it comes before
 * @property {number} rank of rows at one offset: -1 before the rows that are held, 1 after them
 * @property {boolean} isHeld whether its contents are shown: not among rows whose contents are not known
 * @property {boolean} isExact whether it is known that it belongs here
 */

/** @param {Row} row @param {Rest} rest @param {Ordering} ordering @returns {Place} */
export function placeOf(row, rest, ordering) {
  const { section, name, isExact } = sectionFor(row, rest.sections, ordering);
  if (name !== undefined) {
    const at = rest.boundaries[Math.ceil(section)];
    return { section, name, at, rank: 0, isHeld: isBesideHeld(at, rest), isExact };
  }
  const [start, end] = [rest.boundaries[section], rest.boundaries[section + 1]];
  const first = Math.min(end, Math.max(start, rest.held.first));
  const last = Math.max(first, Math.min(end, rest.held.last));
  if (first === last && start < end) return { section, at: end, rank: end <= rest.held.first ? -1 : 1, isHeld: false, isExact: false };
  const at = isExact ? rankOf(row, rest.sequence, first, last, ordering) : undefined;
  const isKnown = at !== undefined;
  const offset = at ?? last;
  if (offset === first && first > start) return { section, at: offset, rank: -1, isHeld: false, isExact: false };
  if (offset === last && last < end) return { section, at: offset, rank: 1, isHeld: false, isExact: false };
  return { section, at: offset, rank: 0, isHeld: isBesideHeld(offset, rest), isExact: isKnown };
}

/** @param {number} at @param {Rest} rest */
function isBesideHeld(at, { held, holdsNothing }) {
  return !holdsNothing && at >= held.first && at <= held.last;
}

/**
 * The section that a row belongs to, or between which it makes one.
 *
 * @param {Row} row @param {readonly Section[]} sections @param {Ordering} ordering
 * @returns {{section: number, name?: SQLValue, isExact: boolean}}
 */
function sectionFor(row, sections, { section: term, isSectioned, sortsSections }) {
  if (isSectioned === false) return { section: 0, isExact: true };
  const last = sections.length - 1;
  const value = term?.value(row);
  if (!term || value === undefined) return last < 0 ? { section: -0.5, name: null, isExact: false } : { section: last, isExact: false };
  const equal = sections.findIndex(({ name }) => term.compare(name, value) === 0);
  if (equal >= 0) return { section: equal, isExact: true };
  const next = sortsSections ? sections.findIndex(({ name }) => term.compare(name, value) > 0) : -1;
  return { section: (next < 0 ? sections.length : next) - 0.5, name: value, isExact: sortsSections };
}

/**
 * Among rows that are held, the first one that it comes before; undefined where the order is not known.
 *
 * @param {Row} row @param {RowSequence} sequence @param {number} first @param {number} last @param {Ordering} ordering
 */
function rankOf(row, sequence, first, last, ordering) {
  let low = first;
  let high = last;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = ordering.compare(/** @type {Row} */ (sequence.at(middle)), row);
    if (order === undefined) return undefined;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  // Between no rows nothing was compared.
  return first === last && ordering.compare(row, row) === undefined ? undefined : low;
}
