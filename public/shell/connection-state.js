// @ts-check
/** The label in the header: how the connection is. */

import { part } from "./dom.js";

/** @typedef {import("../freshet.js").Client} Client */

/** @param {Client} client */
export function followConnection(client) {
  const show = () => {
    const { status, retryAt } = client;
    const waiting = retryAt === null ? "" : ` in ${Math.max(0, (retryAt - Date.now()) / 1000).toFixed(0)} s`;
    part("state").dataset.state = status;
    part("state").textContent = status + waiting;
    document.body.dataset.state = status;
  };
  client.addEventListener("status", show);
  show();
}
