// @ts-check

/** @returns {Storage | null} null: the browser stores nothing for this page */
export function keptStorage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
