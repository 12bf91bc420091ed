// @ts-check
/** The page: a list of wells by county, what goes on in numbers, and a form to change a well. */

import { LiveList } from "./live-list.js";
import { ListView } from "./list-view.js";
import { openEditor } from "./editor.js";
import { columns, formatted, sectionTitle } from "./row-view.js";

const query = { from: "well", select: columns, sectionBy: "county", orderBy: ["name"] };

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

// Relative to the page, so that it works below any path.
const url = new URL("v1/live", document.baseURI);
url.protocol = url.protocol === "https:" ? "wss:" : "ws:";

/**
 * Times of the patches of the last seconds.
 *
 * @type {number[]}
 */
let patches = [];
const rateSeconds = 5;

/** @type {number[]} */
let roundTrips = [];

const list = new LiveList(url, query, {
  changed(outcome, message) {
    if (message.type === "patch") patches.push(performance.now());
    view.show(outcome);
    showNumbers();
    if (message.type === "rows") return;
    showIndex();
  },
  connected(state, retryIn) {
    const waiting = retryIn === undefined ? "" : ` in ${(retryIn / 1000).toFixed(1)} s`;
    part("state").dataset.state = state;
    part("state").textContent = state + waiting;
    document.body.dataset.state = state;
    if (state === "live") notify(null);
  },
  answered(milliseconds) {
    // The middle one of the last few: one of them may have waited for the page itself to be drawn.
    roundTrips = [...roundTrips, milliseconds].slice(-5);
    showLatency("Latency", [...roundTrips].sort((left, right) => left - right)[Math.floor(roundTrips.length / 2)]);
  },
  failed: (sentence) => notify(sentence),
});

const view = new ListView(part("list"), part("canvas"), list.model, (range) => list.look(range));

function showNumbers() {
  const { model } = list;
  part("total").textContent = formatted(model.total);
  part("sections").textContent = formatted(model.sections.length);
  part("held").textContent = formatted(model.heldCount);
}

function showRate() {
  const since = performance.now() - rateSeconds * 1000;
  patches = patches.filter((time) => time >= since);
  part("rate").textContent = (patches.length / rateSeconds).toFixed(1);
}

/** When a write's time may be replaced by that of a round trip: it is rarer, and says more. */
let latencyKeptUntil = 0;

/** @param {"Latency" | "Write to screen"} kind @param {number} milliseconds */
function showLatency(kind, milliseconds) {
  const now = performance.now();
  if (kind === "Latency" && now < latencyKeptUntil) return;
  if (kind !== "Latency") latencyKeptUntil = now + 6000;
  part("latency-kind").textContent = kind;
  part("latency").textContent = `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** @param {string | null} sentence */
function notify(sentence) {
  part("notice").hidden = sentence === null;
  part("notice").textContent = sentence;
}

/** The first letters of the counties, each leading to its first county. */
function showIndex() {
  const letters = list.model.sections.map(({ indexTitle }) => indexTitle);
  const titles = letters.filter((title, index) => letters.indexOf(title) === index);
  const shown = [...part("index").children].map((button) => button.textContent);
  if (JSON.stringify(titles) === JSON.stringify(shown)) return;
  part("index").replaceChildren(...titles.map((title) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title;
    button.addEventListener("click", () => {
      const section = list.model.sections.findIndex(({ indexTitle }) => indexTitle === title);
      if (section >= 0) view.scrollToSection(section);
    });
    const first = list.model.sections[letters.indexOf(title)];
    button.setAttribute("aria-label", `${title}, from ${sectionTitle(first.name)}`);
    return button;
  }));
}

part("list").addEventListener("click", async (event) => {
  const offset = view.offsetAt(/** @type {Element} */ (event.target));
  const row = offset === null ? undefined : list.model.row(offset);
  const changes = row && await openEditor(row);
  if (!changes) return;
  try {
    const sql = "UPDATE well SET name = :name, status = :status, depth = :depth WHERE id = :id";
    const { shown } = await list.write(sql, changes);
    showLatency("Write to screen", shown);
  } catch (error) {
    notify(`Not changed: ${/** @type {Error} */ (error).message}`);
  }
});

part("notice").addEventListener("click", () => notify(null));
setInterval(showRate, 500);
setInterval(() => list.ping(), 1000);
// A device that wakes, or finds a network, need not wait for the next attempt.
window.addEventListener("online", () => list.connection.hurry());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") list.connection.hurry();
});
part("list").focus({ preventScroll: true });
list.open();
