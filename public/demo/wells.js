// @ts-check
/** Wells: one long list, or two of them side by side, and the actions on them. */

import { sql } from "../freshet.js";
import { part } from "../shell/dom.js";
import { notify } from "../shell/notice.js";
import { hideToast, say } from "../shell/toast.js";
import { Undo } from "../shell/undo.js";
import { watchFrames } from "../shell/watched-socket.js";
import { arrivalOf, burstSentence, burstSize, burstStatement } from "./burst.js";
import { departureSentence } from "./departures.js";
import { DepthScale } from "./depth-scale.js";
import { showCharts } from "./wells-charts.js";
import { FrameMeter, inMilliseconds, Latency, Rate } from "./meters.js";
import { WellEditor } from "./well-editor.js";
import { WellsPane } from "./wells-pane.js";
import { addressOf, defaults, settingsOf } from "./wells-query.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLFragment} SQLFragment */

export class WellsView {
  /** @type {WellsPane[]} */
  #panes = [];
  #scale = new DepthScale();
  #undo;
  #isShown = false;
  #patches = new Rate(5);
  #frames = new FrameMeter();
  #roundTrips = new Latency();
  /** Until when the time of a write is shown in place of the round trip: writes are rarer, and their time says more. */
  #writeShownUntil = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #wasShown = false;

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.#undo = new Undo(client, () => this.#isShown);
    this.editor = new WellEditor({
      save: (statement, pane, row, name) => this.#save(statement, pane, row, name),
      remove: (row, pane) => this.#remove(row, pane),
    });
    for (const settings of settingsOf(location.hash)) this.#addPane(settings);
    showCharts(client, (settings) => { this.#panes[0].settings = { ...this.#panes[0].settings, ...settings }; });
    part("add").addEventListener("click", () => this.#addWell());
    part("burst").addEventListener("click", () => this.#burst());
    part("split").addEventListener("click", () => this.#split());
    this.#panes[0].list.addEventListener("update", () => this.#scale.load(), { once: true });
  }

  show() {
    this.#isShown = true;
    this.#frames.start();
    this.#timer = setInterval(() => this.#measure(), 1000);
    // Only the first time: later, the focus would scroll to the active row.
    if (!this.#wasShown) this.#panes[0].list.focus({ preventScroll: true });
    this.#wasShown = true;
    this.navigated();
  }

  /** The tab's own address has no settings. Then the lists stay as they are, and the address gets their settings. */
  navigated() {
    if (location.hash.includes("?")) this.#takeAddress();
    else this.#sayAddress();
  }

  hide() {
    this.#isShown = false;
    this.#frames.stop();
    hideToast();
    clearInterval(this.#timer);
  }

  #sayAddress() {
    history.replaceState(null, "", addressOf(this.#panes.map(({ settings }) => settings)));
  }

  #takeAddress() {
    const wanted = settingsOf(location.hash);
    if (wanted.length !== this.#panes.length) this.#split();
    wanted.forEach((settings, index) => { this.#panes[index].settings = settings; });
  }

  /** @param {import("./wells-query.js").PaneSettings} settings */
  #addPane(settings) {
    /** @type {WellsPane} */
    const pane = new WellsPane(this.client, settings, this.#scale, {
      patched: () => this.#patches.count(),
      activated: (row, element) => this.editor.open(row, element, pane),
      departed: (departure) => say(departureSentence(departure, pane.settings.by !== "none"),
        { weight: 0, buttons: [{ title: "Follow", action: () => pane.follow(departure.row.id) }] }),
      settled: () => this.#sayAddress(),
    });
    this.#panes.push(pane);
    part("panes").append(pane.element);
    part("panes").dataset.count = String(this.#panes.length);
    part("split").setAttribute("aria-pressed", String(this.#panes.length === 2));
  }

  #split() {
    if (this.#panes.length === 1) {
      this.#addPane(defaults[1]);
    } else {
      this.#panes.pop()?.element.remove();
      part("panes").dataset.count = "1";
      part("split").setAttribute("aria-pressed", "false");
    }
    this.#sayAddress();
  }

  /**
   * Shows a changed row in the other panes. In its own pane the user sees the row move.
   *
   * @param {WellsPane} pane @param {number} id
   */
  async #showElsewhere(pane, id) {
    await Promise.all(this.#panes.map((other) => (other === pane ? undefined : other.show(id))));
  }

  /** Adds a copy of the first well in view, with a new name, at its sorted position. */
  async #addWell() {
    const [pane] = this.#panes;
    const like = pane.firstInView;
    if (!like) return;
    const name = `New well ${Math.floor(Math.random() * 10_000)}`;
    const written = await this.#write(sql`
      INSERT INTO well(name, county, operator, status, depth, spud_date, county_id, operator_id)
      SELECT ${name}, county, operator, 'Permitted', 5000, NULL, county_id, operator_id FROM well WHERE id = ${like.id}
      RETURNING id`, pane);
    if (!written) return;
    const { id } = written.results[0].rows[0];
    this.#undo.push({ title: `“${name}” added.`, statements: [sql`DELETE FROM well WHERE id = ${id}`] });
    await Promise.all(this.#panes.map((each) => each.show(id)));
  }

  /**
   * @param {SQLFragment} statement @param {WellsPane} pane @param {Row} row its former values @param {string} name its
   * new name @returns {Promise<boolean>}
   */
  async #save(statement, pane, row, name) {
    const written = await this.#write(statement, pane);
    if (!written) return false;
    const old = sql`UPDATE well SET name = ${row.name}, status = ${row.status}, depth = ${row.depth} WHERE id = ${row.id}`;
    this.#undo.push({
      title: name === row.name ? `“${name}” changed.` : `“${row.name}” is now “${name}”.`, statements: [old],
      buttons: [{ title: "Follow", action: () => pane.follow(row.id) }],
    });
    this.#showElsewhere(pane, row.id);
    return true;
  }

  /** @param {Row} row @param {WellsPane} pane @returns {Promise<boolean>} */
  async #remove(row, pane) {
    const written = await this.#write(sql`DELETE FROM well WHERE id = ${row.id} RETURNING *`, pane);
    const [gone] = written?.results[0].rows ?? [];
    if (!gone) return Boolean(written);
    const names = Object.keys(gone);
    const restore = sql`INSERT INTO well(${sql.join(names.map(sql.identifier))}) VALUES (${sql.join(names.map((name) => gone[name]))})`;
    this.#undo.push({ title: `“${gone.name}” deleted.`, statements: [restore], done: () => this.#panes.forEach((each) => each.show(row.id)) });
    return true;
  }

  async #burst() {
    const inView = [...new Set(this.#panes.flatMap(({ idsInView }) => idsInView))];
    const from = Math.floor(Math.random() * Math.max(1, this.#panes[0].total - burstSize * 1.5));
    /** @type {import("./burst.js").Frame[]} */
    const frames = [];
    const stop = watchFrames((text, time) => frames.push({ text, time }));
    const start = performance.now();
    const written = await this.#write(burstStatement(inView, from), this.#panes[0]);
    if (written) await Promise.all(this.#panes.map((pane) => pane.shows(written.commit)));
    stop();
    const arrival = written && arrivalOf(frames, written.commit);
    if (arrival) say(burstSentence(written.changes, arrival, start), { weight: 2, buttons: [] });
  }

  /**
   * Writes, and shows the time until the list has the change.
   *
   * @param {SQLFragment} statement @param {WellsPane} pane the pane in which the user made the change
   * @returns {Promise<Awaited<ReturnType<Client["transact"]>> | null>} null: it was not written
   */
  async #write(statement, pane) {
    const start = performance.now();
    try {
      const written = await this.client.transact(statement);
      notify(null);
      if (await pane.shows(written.commit)) {
        this.#writeShownUntil = performance.now() + 5000;
        part("latency-kind").textContent = "Write to screen";
        part("latency").textContent = inMilliseconds(performance.now() - start);
      }
      return written;
    } catch (error) {
      notify(`Not written: ${/** @type {Error} */ (error).message}`);
      return null;
    }
  }

  async #measure() {
    part("rate").textContent = this.#patches.perSecond.toFixed(1);
    part("frames").textContent = String(this.#frames.perSecond);
    try {
      this.#roundTrips.record(await this.client.ping());
    } catch {
      return; // The state already says that the connection is down.
    }
    if (performance.now() < this.#writeShownUntil) return;
    part("latency-kind").textContent = "Round trip";
    part("latency").textContent = inMilliseconds(this.#roundTrips.median);
  }
}
