// @ts-check
/** The length of the bar for a depth: full for the deepest well. */

import { request } from "../shell/session.js";

const query = { from: "well", select: ["depth"], orderBy: ["depth DESC"], limit: 1 };
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export class DepthScale extends EventTarget {
  #deepest = 0;

  /** Requested once, after the rows, which must not wait for it. A deeper well that comes later stretches the scale. */
  async load() {
    try {
      const answer = await request(`v1/snapshot?query=${encodeURIComponent(JSON.stringify(query))}&limit=1`);
      const [row] = (await answer.json()).rows;
      this.#reach(row?.depth);
    } catch {
      // Without an answer, the visible rows determine the scale.
    }
  }

  /** @param {number} depth in feet */
  partOf(depth) {
    this.#reach(depth);
    return this.#deepest > 0 ? Math.max(0, depth / this.#deepest) || 0 : 0;
  }

  /** @param {unknown} depth */
  #reach(depth) {
    if (typeof depth !== "number" || depth <= this.#deepest) return;
    this.#deepest = depth;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Shows a row's depth.
 *
 * @param {HTMLElement} element the row's @param {any} depth @param {DepthScale} scale
 */
export function showDepth(element, depth, scale) {
  const [bar, feet] = /** @type {any} */ (element.querySelector(".depth")?.children);
  bar.dataset.depth = depth;
  bar.style.transform = `scaleX(${scale.partOf(depth)})`;
  feet.textContent = typeof depth === "number" ? tenths.format(depth) : String(depth);
}

/**
 * Draws the bars of a list again.
 *
 * @param {HTMLElement} list @param {DepthScale} scale
 */
export function rescale(list, scale) {
  for (const bar of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".depth-bar[data-depth]"))) {
    bar.style.transform = `scaleX(${scale.partOf(Number(bar.dataset.depth))})`;
  }
}
