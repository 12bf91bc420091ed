// @ts-check
/** Which of the server's databases the page is of, and which others there are. */

import { request } from "./session.js";

/** @typedef {{name: string, bytes: number, journal: "wal" | "rollback", open: boolean}} Database */

/**
 * A page at `…/db/NAME/` is of one of several databases.
 *
 * @param {string} path the page's
 * @returns {{root: string, name: string | null}} where the server's own addresses begin, and the name; null: the page is at the root
 */
export function placeOf(path) {
  const [, root, name] = /^(.*?\/)db\/(.+)\/[^/]*$/.exec(path) ?? [];
  return name === undefined ? { root: path.replace(/[^/]*$/, ""), name: null } : { root, name: decodeURIComponent(name) };
}

const place = placeOf(location.pathname);

/** The name of the database; null where the server has one, or the page is of none. */
export const databaseName = place.name;

/**
 * An address of the server itself, whatever database the page is of.
 *
 * @param {string} path
 */
export function serverAddress(path) {
  return place.root + path;
}

/**
 * The address of the page of a database.
 *
 * @param {string} name
 */
export function pageOf(name) {
  return serverAddress(`db/${encodeURIComponent(name)}/`);
}

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
