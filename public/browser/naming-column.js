// @ts-check
/** Which column says what a row is called. Pure. */

/**
 * @param {{name: string, type: string, key?: number}[]} columns
 * @returns {string | null} one that is called so, or else the first text; null where there is none
 */
export function namingColumn(columns) {
  const texts = columns.filter(({ type, key }) => !key && /char|text|clob|^$/i.test(type));
  const called = [/^(name|title|label|subject)$/i, /(name|title)$/i];
  return (called.map((pattern) => texts.find(({ name }) => pattern.test(name))).find(Boolean) ?? texts.find(({ type }) => type !== ""))?.name ?? null;
}
