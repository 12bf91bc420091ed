// @ts-check
/**
 * The numbers of rows of tables, followed while the tables' names are in view. A count costs the server a walk through
 * the table, so small tables' counts are followed commit by commit, and large tables' are requested again from time to
 * time.
 */

import { sql } from "../client/sql.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").LiveList} LiveList */

/** The least number of milliseconds between two counts of a table. */
const minInterval = 1000;
/** A table with this many rows, or whose count took `longCount` milliseconds, is counted again only after `pause` milliseconds. */
const largeTable = 50_000;
const longCount = 250;
const pause = 15_000;

export class RowCounts {
  /** @type {Map<string, number>} */
  known = new Map();
  /** @type {(name: string, count: number) => void} */
  counted = () => {};
  /** @type {Map<string, LiveList>} */
  #lists = new Map();
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #timers = new Map();
  /** @type {Set<string>} */
  #wanted = new Set();
  #isPaused = true;
  /**
   * Lists whose first count has come.
   *
   * @type {WeakSet<LiveList>}
   */
  #counted = new WeakSet();

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    document.addEventListener("visibilitychange", () => this.#update());
  }

  /** Begins counting. Call it once the rows on view are loaded; counting pauses while the page is hidden. */
  start() {
    this.#isPaused = false;
    this.#update();
  }

  stop() {
    this.#isPaused = true;
    this.#update();
  }

  /** @param {string} name @param {boolean} isWanted */
  setWanted(name, isWanted) {
    if (isWanted) this.#wanted.add(name);
    else this.#wanted.delete(name);
    this.#update();
  }

  /**
   * Takes the count that another list knows for a whole table.
   *
   * @param {string} name @param {number} count
   */
  take(name, count) {
    this.known.set(name, count);
    this.counted(name, count);
  }

  #update() {
    const isOn = !this.#isPaused && !document.hidden;
    for (const name of new Set([...this.#lists.keys(), ...this.#timers.keys()])) if (!isOn || !this.#wanted.has(name)) this.#end(name);
    if (isOn) for (const name of this.#wanted) if (!this.#lists.has(name) && !this.#timers.has(name)) this.#follow(name);
  }

  /** @param {string} name */
  #end(name) {
    this.#lists.get(name)?.close();
    this.#lists.delete(name);
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  /** @param {string} name */
  #follow(name) {
    const start = performance.now();
    const list = this.client.subscribe({ from: sql`(SELECT count(*) AS n FROM ${sql.identifier(name)})`, key: ["n"] }, { minInterval });
    this.#lists.set(name, list);
    list.addEventListener("change", () => {
      const count = list.at(0)?.n;
      if (typeof count !== "number") return;
      const isFirst = !this.#counted.has(list);
      this.#counted.add(list);
      this.take(name, count);
      if (count >= largeTable || (isFirst && performance.now() - start > longCount)) this.#later(name);
    });
    list.addEventListener("error", () => this.#later(name));
  }

  /** @param {string} name */
  #later(name) {
    this.#end(name);
    this.#timers.set(name, setTimeout(() => {
      this.#timers.delete(name);
      this.#update();
    }, pause));
  }
}
