// @ts-check
/** The page: four views of one server, over one connection. */

import { connect } from "../freshet.js";
import "../live-list.js";
import { BanksView } from "./banks.js";
import { ConsoleView } from "./console.js";
import { part } from "./dom.js";
import { notify } from "./notice.js";
import { tablesOf } from "./schema.js";
import { ServerView } from "./server.js";
import { WellsView } from "./wells.js";

/** @typedef {{show(): void, hide?(): void}} View */

const client = connect();
/** Views by the name that the address has for them; each is made when it is shown first. */
const makers = {
  wells: () => new WellsView(client), banks: () => new BanksView(client),
  console: () => new ConsoleView(tables), server: () => new ServerView(),
};
/** @type {Map<string, View>} */
const views = new Map();
/** @type {View | undefined} */
let shown;
const tables = await tablesOf();
const names = new Set(tables.map(({ name }) => name));
/** Views that this file has something for: any SQLite file may be behind this page. */
const available = Object.keys(makers).filter((name) =>
  (name !== "wells" || names.has("well")) && (name !== "banks" || (names.has("bank") && names.has("closing"))));

function showView() {
  const asked = location.hash.slice(1);
  const name = available.includes(asked) ? asked : available[0];
  const view = views.get(name) ?? makers[/** @type {keyof typeof makers} */ (name)]();
  views.set(name, view);
  if (view === shown) return;
  for (const other of Object.keys(makers)) part(other).hidden = other !== name;
  for (const link of part("tabs").querySelectorAll("a")) {
    const target = link.hash.slice(1);
    link.hidden = !available.includes(target);
    if (target === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  notify(null);
  shown?.hide?.();
  shown = view;
  view.show();
}

function showStatus() {
  const { status, retryAt } = client;
  const waiting = retryAt === null ? "" : ` in ${Math.max(0, (retryAt - Date.now()) / 1000).toFixed(0)} s`;
  part("state").dataset.state = status;
  part("state").textContent = status + waiting;
  document.body.dataset.state = status;
}

client.addEventListener("status", showStatus);
client.addEventListener("error", ({ error }) => notify(error.message));
window.addEventListener("hashchange", showView);
showStatus();
showView();
