// @ts-check
/** The meaning of keys in a list. Pure: no DOM. */

/** @typedef {import("./types.js").Section} Section */
/** @typedef {{key: string, ctrlKey: boolean, altKey: boolean, metaKey: boolean}} Key of a keyboard event */

/**
 * The position that movements start from.
 *
 * @typedef {object} Place
 * @property {number} offset of the active row, -1 for none @property {number} total
 * @property {number} page rows that are in view @property {readonly Section[]} sections
 */

/**
 * The offset that a key leads to.
 *
 * @param {Key} key @param {Place} place
 * @returns {number | null} an offset; null for keys that lead nowhere
 */
export function destinationOf({ key, ctrlKey, altKey, metaKey }, { offset, total, page, sections }) {
  if (altKey || metaKey || total === 0) return null;
  if (key === "[" || (ctrlKey && key === "ArrowUp")) return sectionBefore(sections, offset);
  if (key === "]" || (ctrlKey && key === "ArrowDown")) return sectionAfter(sections, offset);
  const step = Math.max(1, page - 1);
  /** @type {Record<string, number>} */
  const destinations = {
    ArrowUp: offset - 1, ArrowDown: offset + 1, PageUp: offset - step, PageDown: offset + step,
    Home: 0, End: total - 1,
  };
  if (!Object.hasOwn(destinations, key)) return null;
  return Math.min(total - 1, Math.max(0, destinations[key]));
}

/** @param {readonly Section[]} sections */
function starts(sections) {
  let start = 0;
  return sections.map(({ count }) => {
    start += count;
    return start - count;
  });
}

/**
 * The start of the current section, or of the one before when that is where the offset is.
 *
 * @param {readonly Section[]} sections @param {number} offset
 */
function sectionBefore(sections, offset) {
  return starts(sections).reverse().find((start) => start < offset) ?? 0;
}

/** @param {readonly Section[]} sections @param {number} offset */
function sectionAfter(sections, offset) {
  const all = starts(sections);
  return all.find((start) => start > offset) ?? all[all.length - 1];
}

/** Letters typed after a longer pause begin a new word. */
const pause = 800;

/**
 * Typed letters lead to the section whose name begins with them, or otherwise to the section whose index title is the
 * last letter.
 */
export class TypedLetters {
  #word = "";
  #last = -Infinity;

  /**
   * Whether a space belongs to what is being typed.
   *
   * @param {number} now in milliseconds
   */
  isTyping(now) {
    return now - this.#last < pause;
  }

  /**
   * @param {string} letter @param {number} now in milliseconds
   * @param {readonly Section[]} sections @param {number} current section
   * @returns {number} a section, -1: no section
   */
  type(letter, now, sections, current) {
    this.#word = this.isTyping(now) ? this.#word + letter.toLocaleLowerCase() : letter.toLocaleLowerCase();
    this.#last = now;
    const letters = new Set(this.#word);
    // The same letter, repeated, goes through the sections that begin with it.
    if (letters.size === 1) return next(sections, current, (section) => isTitled(section, letter));
    const named = sections.findIndex(({ name }) => String(name ?? "").toLocaleLowerCase().startsWith(this.#word));
    if (named >= 0) return named;
    this.#word = letter.toLocaleLowerCase();
    return next(sections, current, (section) => isTitled(section, letter));
  }
}

/** @param {Section} section @param {string} letter */
function isTitled({ indexTitle }, letter) {
  return indexTitle.toLocaleLowerCase() === letter.toLocaleLowerCase();
}

/**
 * The first after the current section, or else the first from the beginning.
 *
 * @param {readonly Section[]} sections @param {number} current @param {(section: Section) => boolean} isWanted
 */
function next(sections, current, isWanted) {
  const after = sections.findIndex((section, index) => index > current && isWanted(section));
  return after >= 0 ? after : sections.findIndex(isWanted);
}
