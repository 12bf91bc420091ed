// @ts-check
/** Which column says what a row is called. Pure. */

/**
 * @param {{name: string, type: string, key?: number}[]} columns
 * @returns {string | null} a text that is called so; null: the key names the row
 */
export function namingColumn(columns) {
  const texts = columns.filter(({ type, key }) => !key && /char|text|clob|^$/i.test(type));
  const called = [/^(name|title|label|subject)$/i, /(name|title)$/i];
  return called.map((pattern) => texts.find(({ name }) => pattern.test(name))).find(Boolean)?.name ?? null;
}
