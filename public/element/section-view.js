// @ts-check
/** A shown section. Its element is as tall as all its rows, so that the browser itself keeps the header in view. */

import { cellsOf, totalTexts } from "./recipe.js";

/** @typedef {import("./types.js").Section} Section */
/** @typedef {import("./recipe.js").SectionRecipe} SectionRecipe */

let headers = 0;

export class SectionView {
  #shown = "";
  /**
   * The texts of the totals that are shown.
   *
   * @type {Record<string, string>}
   */
  #totals = {};
  #rowIndex = -1;
  #box = "";
  /** @type {((section: Section, isOpenEnded: boolean) => void) | undefined} */
  #update;
  /** @type {SectionRecipe | undefined} */
  #recipe;
  /** Where its element begins in the whole list. If the section begins far above the view, the element begins later. */
  start = 0;

  constructor() {
    this.element = document.createElement("div");
    this.element.className = "live-section";
    this.header = document.createElement("div");
    this.header.className = "live-header";
    this.header.setAttribute("role", "row");
    this.title = document.createElement("div");
    this.title.className = "live-title";
    this.title.id = `live-list-header-${headers += 1}`;
    this.title.setAttribute("role", "rowheader");
    this.header.append(this.title);
    this.element.append(this.header);
  }

  /**
   * @param {number} top on the canvas @param {number} height
   * @param {number} start see `this.start`
   */
  placeAt(top, height, start) {
    this.start = start;
    const box = `${top} ${height}`;
    if (box === this.#box) return;
    this.#box = box;
    this.element.style.top = `${top}px`;
    this.element.style.height = `${height}px`;
  }

  /**
   * @param {Section} section @param {number} rowIndex counted from 1
   * @param {boolean} hasHeader false in a list without sections, which has only one
   * @param {SectionRecipe} recipe @param {boolean} isOpenEnded there are more rows than counted
   * @returns {Element[]} elements whose count or total has changed; totals that are shown for the first time do not
   * count
   */
  show(section, rowIndex, hasHeader, recipe, isOpenEnded) {
    this.header.hidden = !hasHeader;
    this.element.setAttribute("role", hasHeader ? "rowgroup" : "presentation");
    if (!hasHeader) return [];
    if (rowIndex !== this.#rowIndex) {
      this.#rowIndex = rowIndex;
      this.header.setAttribute("aria-rowindex", String(rowIndex));
      this.element.setAttribute("aria-labelledby", this.title.id);
    }
    const shown = `${section.count} ${isOpenEnded} ${section.indexTitle}`;
    const totals = totalTexts(section.totals);
    const changed = Object.keys({ ...totals, ...this.#totals }).filter((name) => totals[name] !== this.#totals[name]);
    if (recipe === this.#recipe && shown === this.#shown && changed.length === 0) return [];
    const wasShown = recipe === this.#recipe;
    if (!wasShown) {
      this.title.replaceChildren();
      this.#recipe = recipe;
      this.#update = recipe.make(this.title);
    }
    const others = changed.filter((name) => name in this.#totals);
    if (shown !== this.#shown) others.push("count");
    this.#shown = shown;
    this.#totals = totals;
    this.#update?.(section, isOpenEnded);
    return wasShown ? others.flatMap((name) => cellsOf(this.title, name)) : [];
  }
}
