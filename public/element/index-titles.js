// @ts-check
/** The titles of a section index, and the sections that they lead to. Pure. */

/** @typedef {{title: string, section: number}} IndexEntry the first section of a title */

/**
 * Each title once, with its first section.
 *
 * @param {readonly {indexTitle: string}[]} sections @returns {IndexEntry[]}
 */
export function indexEntries(sections) {
  const first = new Map();
  sections.forEach(({ indexTitle }, section) => {
    if (!first.has(indexTitle)) first.set(indexTitle, section);
  });
  return [...first].map(([title, section]) => ({ title, section }));
}

/**
 * As many entries as fit, evenly spaced, including the first and the last.
 *
 * @template Entry
 * @param {Entry[]} entries @param {number} room how many can be shown
 */
export function thinned(entries, room) {
  if (entries.length <= room) return entries;
  const count = Math.max(2, Math.floor(room));
  const step = (entries.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => entries[Math.round(index * step)]);
}

/**
 * The entry at a fraction of the index's height. All entries can be reached, including those that are not shown.
 *
 * @param {number} count of all entries @param {number} part 0 is the top, 1 the bottom
 */
export function entryAt(count, part) {
  return Math.min(count - 1, Math.max(0, Math.floor(part * count)));
}

/**
 * The entry that a section belongs to, -1 without any. Sections with the same title need not be adjacent.
 *
 * @param {IndexEntry[]} entries @param {string | undefined} title
 */
export function entryOf(entries, title) {
  return entries.findIndex((entry) => entry.title === title);
}
