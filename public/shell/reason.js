// @ts-check

/**
 * What the server said of a statement, without where in the message it stood.
 *
 * @param {any} error
 */
export function reasonOf(error) {
  return String(error?.message ?? error).replace(/^statements\[\d+\](\.sql)?: /, "");
}
