// @ts-check

/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

/**
 * Highlights a row that the user asked for, once it is drawn.
 *
 * @param {LiveListElement} list @param {number} offset @param {number} [tries] frames to wait for it
 */
export function markRow(list, offset, tries = 30) {
  const row = [...list.querySelectorAll(".live-row:not(.live-leaving)")].find((each) => list.rowAt(each)?.offset === offset);
  const colour = { backgroundColor: "var(--inserted)" };
  if (row) row.animate([colour, { ...colour, offset: 0.4 }, {}], { duration: 2600, easing: "ease-in" });
  else if (tries > 0) requestAnimationFrame(() => markRow(list, offset, tries - 1));
}
