// @ts-check
/** The addresses of the server, and of the database to which the page belongs. */

/**
 * A page at `…/db/NAME/` belongs to one of several databases. The pages that come with the server are also in a folder
 * `_`, because the operator's own pages may use the folder above it.
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

/** The name of the database; null if the server has a single one, or the page belongs to none. */
export const databaseName = place.name;

/** The address of the database, as `connect` takes it. */
export const databaseAddress = new URL(place.folder, page.href).href;

/**
 * An address of the server itself, not of the page's database.
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
