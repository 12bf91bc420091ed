// @ts-check

/**
 * The server's error about a statement, without the place in the message.
 *
 * @param {any} error
 */
export function reasonOf(error) {
  return String(error?.message ?? error).replace(/^statements\[\d+\](\.sql)?: /, "");
}
