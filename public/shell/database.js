// @ts-check
/** The server's database to which the page belongs, and the list of all databases. */

import { databaseName, serverAddress } from "./place.js";
import { request } from "./session.js";

/** @typedef {{name: string, bytes: number, journal: "wal" | "rollback", open: boolean}} Database */

/**
 * The page's title, with the name of the database.
 *
 * @param {string} [part] the part of it that is shown
 */
export function pageTitle(part) {
  return [part, databaseName, "Freshet"].filter((word) => word).join(" · ");
}

/** @returns {Promise<Database[]>} empty if the server has a single file, or does not answer; never rejected */
export async function loadDatabases() {
  try {
    const answer = await request(serverAddress("v1/databases"));
    return answer.ok ? await answer.json() : [];
  } catch {
    return [];
  }
}
