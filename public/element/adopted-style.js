// @ts-check
/**
 * Makes the style sheet of an element. It is constructed, which a Content-Security-Policy without `unsafe-inline`
 * allows.
 *
 * @param {string} css @returns {(root: Node) => void} adds it to the document or shadow tree that an element is in
 */
export function adopted(css) {
  /** @type {CSSStyleSheet | undefined} */
  let sheet;
  return (root) => {
    const adopting = /** @type {any} */ (root);
    if (!sheet) {
      sheet = new CSSStyleSheet();
      /** @type {any} */ (sheet).replaceSync(css);
    }
    if (!adopting.adoptedStyleSheets?.includes(sheet)) adopting.adoptedStyleSheets = [...(adopting.adoptedStyleSheets ?? []), sheet];
  };
}
