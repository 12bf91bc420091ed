// @ts-check
/**
 * Freshet's client: live, sectioned lists from a Freshet server. No dependencies, no build step.
 *
 *     import { connect, sql } from "./freshet.js";
 *     const client = connect("http://127.0.0.1:8080/");
 *     const list = client.subscribe({ from: "bank", where: sql`state = ${state}`, orderBy: ["name"] });
 *     list.addEventListener("change", () => show(list.sections, list.total));
 *
 * `freshet.d.ts` documents all of them, and editors show its texts.
 *
 * The way of a message through the files, in reading order: `connection.js` receives it, `client.js` finds the list it
 * is for, `live-list.js` handles it, `apply.js` makes the next state (`list-state.js`, `row-sequence.js`), over which
 * `overlaid-model.js` lays this client's changes that the server has not shown yet (`optimistic-overlay.js`).
 */

import { Client } from "./client/client.js";

export { Client } from "./client/client.js";
export { ChangeEvent } from "./client/change-event.js";
export { ChangeFeed } from "./client/change-feed.js";
export { LiveList } from "./client/live-list.js";
export { RollbackEvent } from "./client/optimistic-writes.js";
export { ListState } from "./client/list-state.js";
export { FreshetError, FreshetErrorEvent } from "./client/errors.js";
export { sql, SQLFragment } from "./client/sql.js";
export * from "./client/adapters/index.js";

/** @param {string | URL} [url] @param {import("./freshet.js").ClientOptions} [options] */
export function connect(url = "", options = {}) {
  return new Client(url, options);
}
