// @ts-check
/** The page: views of one server, over one connection. A view's code is loaded when the view is first shown. */

import { connect } from "../freshet.js";
import { LiveListElement } from "../live-list.js";
import { ConnectionState } from "./connection-state.js";
import { loadDatabases, pageTitle } from "./database.js";
import { part } from "./dom.js";
import { notify } from "./notice.js";
import { databaseAddress, databaseName } from "./place.js";
import { loadSchema } from "./schema.js";
import { connectOptions } from "./session.js";
import { followKeys } from "./skip.js";
import { WatchedSocket } from "./watched-socket.js";

/** `navigated`: the address changed within the view. */
/** @typedef {{show(): void, hide?(): void, navigated?(): void}} View */

// The header counts down, once for all lists.
LiveListElement.texts.stale.reconnectingIn = () => LiveListElement.texts.stale.reconnecting;

const client = connect(databaseAddress, { ...connectOptions(), WebSocket: WatchedSocket });
const loading = loadSchema();
const databases = loadDatabases();
/** The address's hash before the list of databases was shown. */
let lastHash = location.hash;

/**
 * Views by their name in the address.
 *
 * @type {Record<string, () => Promise<View>>}
 */
const makers = {
  wells: async () => new (await import("../demo/wells.js")).WellsView(client),
  banks: async () => new (await import("../demo/banks.js")).BanksView(client),
  tables: async () => new (await import("../browser/browser-view.js")).BrowserView(client, await loading),
  activity: async () => new (await import("../activity/activity-view.js")).ActivityView(client),
  sql: async () => new (await import("../sql/sql-view.js")).SQLView(client),
  console: async () => new (await import("../demo/console.js")).ConsoleView((await loading).tables),
  server: async () => new (await import("../demo/server.js")).ServerView(),
  databases: async () => new (await import("./databases-view.js")).DatabasesView(),
};

/** @type {Map<string, Promise<View>>} */
const views = new Map();
let shown = "";

/**
 * The views that make sense for the server's file, which may be any SQLite file. With several databases, the page may
 * show none of them yet.
 */
async function availableViews() {
  const { tables, code } = await loading;
  const areSeveral = (await databases).length > 0;
  if (code === "no_such_database" && areSeveral) return ["databases"];
  const names = new Set(tables.map(({ name }) => name));
  return Object.keys(makers).filter((name) =>
    (name !== "wells" || names.has("well")) && (name !== "banks" || (names.has("bank") && names.has("closing")))
    && (name !== "databases" || areSeveral));
}

/** `#/orders?…` is the table browser's own address; the other views have a name, and settings behind a question mark. */
function askedView() {
  const asked = location.hash.slice(1);
  return asked.startsWith("/") ? "tables" : asked.split("?")[0];
}

async function showView() {
  const asked = askedView();
  // These views can be shown before the schema is known. The demo's views need its tables, and without a view in the
  // address the schema decides which comes first.
  const isAnyFile = ["tables", "activity", "sql", "console", "server"].includes(asked) && (databaseName !== null || (await databases).length === 0);
  const available = isAnyFile ? null : await availableViews();
  const name = !available || available.includes(asked) ? asked : available[0];
  const isOther = name !== shown;
  if (isOther) await leave(name);
  showTabs(name);
  if (!views.has(name)) views.set(name, makers[name]());
  const view = await /** @type {Promise<View>} */ (views.get(name));
  if (shown !== name) return;
  for (const other of Object.keys(makers)) part(other).hidden = other !== name;
  if (isOther && "came" in view) /** @type {import("./databases-view.js").DatabasesView} */ (view).came(lastHash);
  if (name !== "databases") lastHash = location.hash;
  if (isOther) view.show();
  else view.navigated?.();
}

/** @param {string} next */
async function leave(next) {
  const previous = views.get(shown);
  shown = next;
  notify(null);
  (await previous)?.hide?.();
}

/** @param {string} current */
async function showTabs(current) {
  for (const link of part("tabs").querySelectorAll("a")) {
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const available = await availableViews();
  for (const link of part("tabs").querySelectorAll("a")) link.hidden = !available.includes(link.dataset.view ?? "");
}

/** SQLite waits while a file is locked, so the page says that and does not stay empty. */
const slow = setTimeout(() => notify("The server has not read the file yet: another program may have locked it.", true), 1500);
loading.then(async ({ code }) => {
  clearTimeout(slow);
  notify(null);
  // The page belongs to no database, so there is nothing to connect to.
  if (code !== "no_such_database" || (await databases).length === 0) return;
  client.close();
  part("state").hidden = true;
  notify(null);
});

if (databaseName !== null) {
  document.title = pageTitle();
  part("about").textContent = databaseName;
}
client.addEventListener("error", ({ error }) => notify(error.message));
window.addEventListener("hashchange", () => showView());
new ConnectionState(client);
followKeys(() => shown);
showView();
