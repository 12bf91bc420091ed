// @ts-check
/** The parts around the rows: the section index, the message when there are no rows, and the announcements. */

import { Announcer } from "./announcer.js";
import { hasHeaders } from "./list-view.js";
import { formatted } from "./recipe.js";
import { SectionIndex } from "./section-index.js";
import { StaleLine } from "./stale-line.js";
import { staleTexts } from "./staleness.js";
import { TotalsBar } from "./totals-bar.js";

/** @typedef {import("./types.js").ListState} ListState */
/** @typedef {import("./types.js").Status} Status */
/** @typedef {import("./parts.js").Parts} Parts */

/** The element's texts. */
export const texts = {
  loading: "Loading",
  stale: staleTexts,
  empty: "No rows",
  sections: "Sections",
  totals: "Totals",
  /** @param {number} count */
  rows: (count) => (count === 1 ? "1 row" : `${formatted(count)} rows`),
  /** @param {number} count of a list that has more rows */
  firstRows: (count) => `The first ${formatted(count)} rows`,
  awaited: "Other rows are on their way",
};

/**
 * @typedef {{rowsAbove: number, isPartial: boolean, isOutdated: boolean, isAsking: boolean}} Extent `rowsAbove`: the
 * page's own rows
 */

export class Surroundings {
  #said = "";
  #shown = "";

  /**
   * @param {HTMLElement} host @param {Parts} parts
   * @param {(section: number) => void} jump
   * @param {() => HTMLTemplateElement | null} emptyTemplate
   * @param {() => import("./staleness.js").Situation} situation
   * @param {() => HTMLTemplateElement | null} totalsTemplate @param {(element: Element) => void} changed called with
   *   totals that changed
   */
  constructor(host, parts, jump, emptyTemplate, situation, totalsTemplate, changed) {
    this.host = host;
    this.parts = parts;
    this.emptyTemplate = emptyTemplate;
    this.line = new StaleLine(host, parts.stale, situation);
    this.index = new SectionIndex(parts.index, jump);
    this.announcer = new Announcer(parts.status);
    this.totals = new TotalsBar(host, parts.totals, totalsTemplate, changed);
    parts.totals.setAttribute("aria-label", texts.totals);
    parts.index.setAttribute("aria-label", texts.sections);
  }

  /**
   * @param {ListState | null} state @param {Status} status
   * @param {string | null} failure why no rows are shown @param {Extent} extent
   */
  show(state, status, failure, { rowsAbove, isPartial, isOutdated, isAsking }) {
    const { scroller } = this.parts;
    if (this.host.dataset.status !== status) this.host.dataset.status = status;
    const isBusy = String(isAsking || status === "connecting" || status === "loading");
    if (scroller.getAttribute("aria-busy") !== isBusy) scroller.setAttribute("aria-busy", isBusy);
    this.host.toggleAttribute("data-outdated", isOutdated);
    const isEmpty = !isOutdated && state !== null && status === "live" && state.isComplete && state.total === 0;
    this.#showMessage(failure ? `failure ${failure}` : isEmpty ? "empty" : "", failure);
    this.#say(state, isAsking ? "loading" : status, failure, failure === null ? this.line.show() : null, isPartial);
    this.totals.show(state);
    if (!state) return;
    const rowCount = String(isPartial ? -1 : rowsAbove + state.total + (hasHeaders(state) ? state.sections.length : 0));
    if (scroller.getAttribute("aria-rowcount") !== rowCount) scroller.setAttribute("aria-rowcount", rowCount);
    const isIndexed = this.index.show(state.sections, !this.host.hasAttribute("noindex"));
    if (isIndexed !== this.host.hasAttribute("data-indexed")) this.host.toggleAttribute("data-indexed", isIndexed);
  }

  /**
   * Shows a message in place of rows.
   *
   * @param {string} kind @param {string | null} failure
   */
  #showMessage(kind, failure) {
    if (kind === this.#shown) return;
    this.#shown = kind;
    const { message } = this.parts;
    message.hidden = kind === "";
    const template = kind === "empty" ? this.emptyTemplate() : null;
    message.replaceChildren(template ? document.importNode(template.content, true) : failure ?? texts.empty);
  }

  /**
   * Announces the state. The number of rows is announced when they have loaded, not after each insertion or deletion.
   *
   * @param {ListState | null} state @param {Status} status @param {string | null} failure
   * @param {{topic: string, sentence: string} | null} stale @param {boolean} isPartial
   */
  #say(state, status, failure, stale, isPartial) {
    const isBusy = status === "connecting" || status === "loading";
    const topic = failure ?? stale?.topic ?? (isBusy ? "loading" : status === "live" && state?.total === 0 ? "empty" : isPartial ? "partial" : status);
    if (topic === this.#said) return;
    this.#said = topic;
    if (failure !== null) this.announcer.say(failure);
    // The seconds are left out, because each of them would be read out.
    else if (stale) this.announcer.say(stale.topic === "reconnecting" ? staleTexts.reconnecting : stale.sentence);
    else if (isBusy) this.announcer.say(texts.loading);
    else if (status === "live" && state) this.announcer.say(state.total === 0 ? texts.empty : (isPartial ? texts.firstRows : texts.rows)(state.total));
  }

  /** Announces that a key leads to rows that have not come. */
  sayAwaited() {
    this.announcer.say(texts.awaited);
  }

  stop() {
    this.announcer.stop();
    this.line.stop();
    this.#said = "";
  }
}
