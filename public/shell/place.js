// @ts-check
/** The addresses of the server, and of the database that the page is of. */

/**
 * A page at `…/db/NAME/` is of one of several databases. The pages that come with the server are in a folder `_` too,
 * where the operator's own have the folder above it.
 *
 * @param {string} path the page's
 * @returns {{root: string, name: string | null, folder: string}} where the server's own addresses begin, the database's
 *   name (null: the page is at the root), and where the addresses of the database begin
 */
export function placeOf(path) {
  const folder = path.replace(/\/_\/[^/]*$/, "/").replace(/[^/]*$/, "");
  const [, root, name] = /^(.*?\/)db\/(.+)\/$/.exec(folder) ?? [];
  return name === undefined ? { root: folder, name: null, folder } : { root, name: decodeURIComponent(name), folder };
}

// Tests have no page.
const page = globalThis.location ?? new URL("http://localhost/");
const place = placeOf(page.pathname);

/** The name of the database; null where the server has one, or the page is of none. */
export const databaseName = place.name;

/** The address of the database, as `connect` takes it. */
export const databaseAddress = new URL(place.folder, page.href).href;

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
  return serverAddress(`db/${encodeURIComponent(name)}/${page.pathname.includes("/_/") ? "_/" : ""}`);
}
