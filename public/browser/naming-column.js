// @ts-check
/** Finds the column whose text names a row. Pure. */

/**
 * @param {{name: string, type: string, key?: number}[]} columns
 * @returns {string | null} the name of a text column; null: the key names the row
 */
export function namingColumn(columns) {
  const texts = columns.filter(({ type, key }) => !key && /char|text|clob|^$/i.test(type));
  const called = [/^(name|title|label|subject)$/i, /(name|title)$/i];
  return called.map((pattern) => texts.find(({ name }) => pattern.test(name))).find(Boolean)?.name ?? null;
}
