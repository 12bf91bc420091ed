// @ts-check
/**
 * A query whose rows come in two stages. A list of a million rows takes the server seconds to open, its first rows milliseconds: so a
 * list begins as its first rows alone (`firstRowsOf`), and continues as the whole one as soon as that is there. The rows in view stay
 * where they are when it does.
 *
 * The server answers the requests of one subscription in turn, so the whole list is opened by a subscription of its own: the list on
 * the screen joins it once it is open, which takes milliseconds, and until then is free for other criteria.
 *
 * Until the first stage is there, the list shows the rows of the query before, which the element dims.
 */

import { firstRows } from "./table-query.js";

/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

export class StagedQuery {
  /**
   * Which rows of the query asked last are on the screen: none of them, the first ones, or those of the whole list.
   *
   * @type {"none" | "first" | "whole"}
   */
  shown = "none";
  /** @type {Query | null} */
  #whole = null;
  /**
   * Which of them the list follows, or will as soon as it is answered.
   *
   * @type {Query | null}
   */
  #followed = null;
  #isFirstAsked = false;
  /**
   * Opens the whole list.
   *
   * @type {LiveList | null}
   */
  #opening = null;

  /**
   * @param {LiveListElement} element
   * @param {object} handlers
   * @param {() => void} handlers.advanced `shown` is another one
   * @param {(error: any) => void} handlers.failed the whole query was refused
   */
  constructor(element, handlers) {
    this.element = element;
    this.handlers = handlers;
    element.addEventListener("answered", () => this.#answered());
  }

  /** @param {Query} whole @param {Query | null} first null: the whole list is small enough to be asked for at once */
  ask(whole, first) {
    this.close();
    this.#whole = whole;
    this.#followed = first === null ? whole : null;
    this.#isFirstAsked = first !== null;
    this.shown = "none";
    this.element.query = first ?? whole;
  }

  /**
   * The rows stay the same, and other things about them are asked.
   *
   * @param {Query} whole
   */
  refine(whole) {
    this.close();
    this.#whole = whole;
    if (this.shown !== "none") this.#openWhole();
  }

  /**
   * Takes an error of the element. What is wrong with a query is said best of the whole one, so that is asked when the first rows are
   * refused.
   *
   * @param {any} error
   */
  refused(error) {
    if (this.#isFirstAsked && this.shown === "none" && this.#whole) this.ask(this.#whole, null);
    else this.handlers.failed(error);
  }

  /** Whether the number of rows is final: the first ones may be all rows. */
  get isCounted() {
    return this.shown === "whole" || (this.shown === "first" && (this.element.list?.total ?? 0) < firstRows);
  }

  /** Rows that have come so far, of how many where that is known. */
  get progress() {
    const { list } = this.element;
    const { loaded, total } = list?.progress ?? { loaded: 0, total: 0 };
    // A snapshot that comes in parts.
    if (loaded < total) return { rows: loaded, total };
    return { rows: this.shown === "none" ? 0 : list?.total ?? 0, total: null };
  }

  /** The list has another state: the whole list may be on the screen just before `requery` says so. */
  updated() {
    this.element.partial = this.shown === "first" && this.element.list?.total === firstRows;
  }

  #answered() {
    this.#advance(this.#isFirstAsked ? "first" : "whole");
    if (this.#followed !== this.#whole) this.#openWhole();
  }

  #openWhole() {
    const { client } = this.element;
    if (!client || !this.#whole) return;
    const opening = client.subscribe(this.#whole, { window: { offset: 0, limit: 0 } });
    this.#opening = opening;
    opening.addEventListener("change", () => this.#join(opening), { once: true });
    opening.addEventListener("error", ({ error }) => {
      if (opening.status === "failed" && opening === this.#opening) this.handlers.failed(error);
    });
  }

  /**
   * Not by the element's own property: that would be another query, seen from its first row on.
   *
   * @param {LiveList} opening
   */
  async #join(opening) {
    const { list } = this.element;
    if (opening !== this.#opening || !list) return;
    try {
      await list.requery(opening.query, list.state.window ? { window: list.state.window } : undefined);
      if (opening === this.#opening) {
        this.#followed = this.#whole;
        this.#advance("whole");
      }
    } catch (error) {
      if (opening === this.#opening) this.handlers.failed(error);
    }
    opening.close();
  }

  close() {
    this.#opening?.close();
    this.#opening = null;
  }

  /** @param {"first" | "whole"} shown */
  #advance(shown) {
    this.shown = shown;
    this.updated();
    this.handlers.advanced();
  }
}
