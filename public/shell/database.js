// @ts-check
/** Which of the server's databases the page is of, and which others there are. */

import { databaseName, serverAddress } from "./place.js";
import { request } from "./session.js";

/** @typedef {{name: string, bytes: number, journal: "wal" | "rollback", open: boolean}} Database */

/**
 * The page's title, with the name of the database.
 *
 * @param {string} [part] what is shown of it
 */
export function pageTitle(part) {
  return [part, databaseName, "Freshet"].filter((word) => word).join(" · ");
}

/** @returns {Promise<Database[]>} none where the server has one file, or does not answer; never rejected */
export async function loadDatabases() {
  try {
    const answer = await request(serverAddress("v1/databases"));
    return answer.ok ? await answer.json() : [];
  } catch {
    return [];
  }
}
