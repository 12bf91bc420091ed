// @ts-check
/**
 * A query whose rows come in two stages. The server takes seconds to open a list of a million rows, and milliseconds
 * for its first rows. So a list begins with only its first rows (`firstRowsOf`), and continues as the whole list as
 * soon as that is open. The rows in view stay where they are when it does.
 *
 * The server answers the requests of one subscription in turn, so another subscription opens the whole list. The list
 * on the screen joins that once it is open, which takes milliseconds. Until then it can take other criteria.
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
   * The query that the list follows, or will follow once the server has answered.
   *
   * @type {Query | null}
   */
  #followed = null;
  #isFirstAsked = false;
  /**
   * The subscription that opens the whole list.
   *
   * @type {LiveList | null}
   */
  #opening = null;

  /**
   * @param {LiveListElement} element
   * @param {object} handlers
   * @param {() => void} handlers.advanced called when `shown` has changed
   * @param {(error: any) => void} handlers.failed the whole query was refused
   */
  constructor(element, handlers) {
    this.element = element;
    this.handlers = handlers;
    element.addEventListener("answered", () => this.#answered());
  }

  /** @param {Query} whole @param {Query | null} first null: the whole list is small enough to be requested at once */
  ask(whole, first) {
    this.close();
    this.#whole = whole;
    this.#followed = first === null ? whole : null;
    this.#isFirstAsked = first !== null;
    this.shown = "none";
    this.element.query = first ?? whole;
  }

  /**
   * Changes the query without changing its rows.
   *
   * @param {Query} whole
   */
  refine(whole) {
    this.close();
    this.#whole = whole;
    if (this.shown !== "none") this.#openWhole();
  }

  /**
   * Handles an error of the element. If the first rows are refused, the whole query is requested, because its error
   * describes the mistake better.
   *
   * @param {any} error
   */
  refused(error) {
    if (this.#isFirstAsked && this.shown === "none" && this.#whole) this.ask(this.#whole, null);
    else this.handlers.failed(error);
  }

  /** Whether the number of rows is final: with the whole list, or if the first rows are all rows. */
  get isCounted() {
    return this.shown === "whole" || (this.shown === "first" && (this.element.list?.total ?? 0) < firstRows);
  }

  /** The number of rows loaded so far, and of all rows if known. */
  get progress() {
    const { list } = this.element;
    const { loaded, total } = list?.progress ?? { loaded: 0, total: 0 };
    // A snapshot is arriving in parts.
    if (loaded < total) return { rows: loaded, total };
    return { rows: this.shown === "none" ? 0 : list?.total ?? 0, total: null };
  }

  /** Called when the list has another state. The whole list may be on the screen just before `requery` resolves. */
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
   * Makes the list on the screen follow the whole query. Setting the element's `query` instead would scroll to the
   * first row.
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
