// @ts-check
/** Requests the rows of a query once. */

/**
 * @param {import("../freshet.js").Client} client @param {import("../freshet.js").Query} query
 * @returns {Promise<import("../freshet.js").Row[]>} rejected with the server's error
 */
export async function rowsOnce(client, query) {
  const list = client.subscribe(query);
  try {
    await new Promise((resolve, reject) => {
      list.addEventListener("change", () => { if (list.state.isComplete) resolve(null); });
      list.addEventListener("error", ({ error }) => reject(error));
    });
    return Array.from({ length: list.total }, (_, at) => list.at(at)).flatMap((row) => row ?? []);
  } finally {
    list.close();
  }
}
