// @ts-check
/**
 * Whether a server that accepted no connection is up and refused it. Browsers do not tell programs why a handshake
 * failed: a refused origin looks like a server that is down. So the same address is requested once more, as a page.
 */

import { FreshetError } from "./errors.js";

/** @param {URL} address of the socket @returns {Promise<FreshetError | null>} null: unknown, or the server is down */
export async function refusalAt(address) {
  const url = new URL(address);
  url.protocol = url.protocol.replace(/^ws/, "http");
  const { origin } = globalThis.location ?? {};
  try {
    // The answer of another origin's server is opaque: it shows only that the server is up.
    const answer = await fetch(url, { cache: "no-store", mode: origin && origin !== url.origin ? "no-cors" : "same-origin" });
    if (answer.type === "opaque") return refused(`${url.origin} refuses the connection of this page. A Freshet server takes it with --allow-origin ${origin}`);
    if (answer.status >= 500) return null;
    // Status 426 says only that this address is for WebSockets.
    const problem = answer.status === 426 ? null : await answer.json().catch(() => null);
    return refused(`${url.origin} refuses the connection: ${problem?.detail ?? `the handshake fails, HTTP answers ${answer.status}`}`);
  } catch {
    return null;
  }
}

/** @param {string} message */
function refused(message) {
  return new FreshetError({ code: "refused", message, retryable: true });
}
