// @ts-check
/** Wells: one long list, or two of them side by side, and everything that may be done to it. */

import { sql } from "../freshet.js";
import { part } from "./dom.js";
import { FrameMeter, inMilliseconds, Latency, Rate } from "./meters.js";
import { notify } from "./notice.js";
import { WellEditor } from "./well-editor.js";
import { WellsPane } from "./wells-pane.js";

/** @typedef {import("../freshet.js").Client} Client */

const burstSize = 1000;

export class WellsView {
  /** @type {WellsPane[]} */
  #panes = [];
  #patches = new Rate(5);
  #frames = new FrameMeter();
  #roundTrips = new Latency();
  /** Until when the time of a write is shown: it is rarer than a round trip, and says more. */
  #writeShownUntil = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.editor = new WellEditor((statement, pane) => this.#write(statement, pane));
    this.#addPane("county");
    part("add").addEventListener("click", () => this.#addWell());
    part("burst").addEventListener("click", () => this.#burst());
    part("split").addEventListener("click", () => this.#split());
  }

  show() {
    this.#frames.start();
    this.#timer = setInterval(() => this.#measure(), 1000);
    this.#panes[0].list.focus({ preventScroll: true });
  }

  hide() {
    this.#frames.stop();
    clearInterval(this.#timer);
  }

  /** @param {string} sections */
  #addPane(sections) {
    /** @type {WellsPane} */
    const pane = new WellsPane(this.client, sections, {
      patched: () => this.#patches.count(),
      activated: (row, element) => this.editor.open(row, element, pane),
    });
    this.#panes.push(pane);
    part("panes").append(pane.element);
    part("panes").dataset.count = String(this.#panes.length);
  }

  #split() {
    const isSplit = this.#panes.length === 2;
    part("split").setAttribute("aria-pressed", String(!isSplit));
    if (!isSplit) {
      this.#addPane("status");
      return;
    }
    this.#panes.pop()?.element.remove();
    part("panes").dataset.count = "1";
  }

  /** Like the first well in view, under a new name, at the place where that belongs. */
  async #addWell() {
    const [pane] = this.#panes;
    const like = pane.firstInView;
    if (!like) return;
    // The table gives numbers from 1 up; this one is to be known before it is written.
    const id = 2 ** 40 + Math.floor(Math.random() * 2 ** 40);
    const name = `New well ${id % 10_000}`;
    await this.#write(sql`
      INSERT INTO well(id, name, county, operator, status, depth, spud_date, county_id, operator_id)
      SELECT ${id}, ${name}, county, operator, 'Permitted', 5000, date(), county_id, operator_id FROM well WHERE id = ${like.id}`,
    pane);
    await pane.show(id);
  }

  #burst() {
    const [pane] = this.#panes;
    const inView = pane.idsInView;
    const others = burstSize - inView.length;
    this.#write(sql`
      UPDATE well SET depth = round(depth * (0.9 + (abs(random()) % 200) / 1000.0) + 1, 1),
        status = CASE abs(random()) % 3 WHEN 0 THEN 'Producing' WHEN 1 THEN 'Shut-in' ELSE status END
      WHERE id IN ${inView} OR id IN (SELECT id FROM well WHERE id NOT IN ${inView} AND id > ${Math.floor(Math.random() * pane.total * 0.9)} LIMIT ${others})`,
    pane);
  }

  /**
   * Writes, and tells how long it took until the list shows it.
   *
   * @param {import("../freshet.js").SQLFragment} statement @param {WellsPane} pane
   * @returns {Promise<boolean>} whether it was written
   */
  async #write(statement, pane) {
    const start = performance.now();
    try {
      const { commit } = await this.client.transact(statement);
      notify(null);
      if (await pane.shows(commit)) {
        this.#writeShownUntil = performance.now() + 5000;
        part("latency-kind").textContent = "Write to screen";
        part("latency").textContent = inMilliseconds(performance.now() - start);
      }
      return true;
    } catch (error) {
      notify(`Not written: ${/** @type {Error} */ (error).message}`);
      return false;
    }
  }

  async #measure() {
    part("rate").textContent = this.#patches.perSecond.toFixed(1);
    part("frames").textContent = String(this.#frames.perSecond);
    try {
      this.#roundTrips.record(await this.client.ping());
    } catch {
      return; // The state says that there is no connection.
    }
    if (performance.now() < this.#writeShownUntil) return;
    part("latency-kind").textContent = "Round trip";
    part("latency").textContent = inMilliseconds(this.#roundTrips.median);
  }
}
