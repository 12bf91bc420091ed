// @ts-check
/** "Use this list": the same query for other programs, and how the server keeps it up to date. */

import { explain } from "../demo/explanation.js";
import { copies } from "../demo/query-text.js";
import { copyText } from "../shell/clipboard.js";
import { element } from "../shell/dom.js";
import { databaseAddress } from "../shell/place.js";
import { currentToken, request } from "../shell/session.js";

/** @typedef {import("../freshet.js").Query} Query */

/** What there is to copy, by what it is called, with a sentence on what it does. */
const ways = /** @type {Record<string, {title: string, about: string}>} */ ({
  javascript: {
    title: "JavaScript",
    about: "A list that follows the query, in a module of a page. The client comes from this server and needs nothing else. Pages of another origin need --allow-origin.",
  },
  node: { title: "Node", about: "The same list in a program: save this as list.mjs." },
  element: { title: "HTML", about: "A page with nothing but this list: it scrolls through any number of rows, and they move as they change. In the folder of --public it needs nothing else; opened as a file, a server with --allow-origin null; from another origin, one with --allow-origin and that origin." },
  react: { title: "React", about: "A component with the first hundred rows: save this as list.jsx in a project with a bundler. Pages of another origin need --allow-origin." },
  python: { title: "Python", about: "The same list in a program: save this as list.py." },
  swift: { title: "Swift", about: "The same list in an app or on a server." },
  watch: { title: "Terminal", about: "The same list in a terminal. With --json it prints every message instead." },
  snapshot: { title: "curl", about: "The first rows as JSON, once." },
  curl: { title: "Events", about: "Server-sent events: the rows as JSON, then a patch for each change, until you stop it." },
});

/** @param {Query} query */
export function openUseDialog(query) {
  const dialog = element("dialog", { className: "use-dialog", ariaLabel: "Use this list" });
  const address = databaseAddress;
  const text = element("pre", { tabIndex: 0 });
  const about = element("p", { className: "quiet" });
  const copy = element("button", { type: "button", className: "primary" }, "Copy");
  const explanation = element("div", { className: "explanation", tabIndex: 0, hidden: true });
  const close = element("button", { type: "button", className: "plain close", ariaLabel: "Close" }, "✕");
  const show = (/** @type {string} */ way) => {
    const isExplained = way === "explanation";
    about.textContent = isExplained ? "How the server keeps this list up to date, and what would make that cheaper." : ways[way].about;
    text.textContent = isExplained ? "" : copies[way](query, address);
    [text.hidden, copy.hidden, explanation.hidden] = [isExplained, isExplained, !isExplained];
    copy.textContent = "Copy";
    if (isExplained) explain(query, explanation);
  };
  const choice = choiceOf({ ...Object.fromEntries(Object.entries(ways).map(([way, { title }]) => [way, title])), explanation: "Explanation" }, show);
  dialog.append(element("div", { className: "frame-head" }, element("h2", {}, "Use this list"), close), choice, about, text, copy, explanation,
    element("p", { className: "quiet" }, "Save the whole list: ", saveLink(query, "csv", "CSV"), ", ", saveLink(query, "ndjson", "lines of JSON")));
  close.addEventListener("click", () => dialog.close());
  copy.addEventListener("click", async () => { copy.textContent = await copied(text) ? "Copied" : "Press Ctrl C"; });
  dialog.addEventListener("close", () => dialog.remove());
  // A click outside closes it.
  dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); });
  document.body.append(dialog);
  show("javascript");
  dialog.showModal();
}

/**
 * A link to the list as a file.
 *
 * @param {Query} query @param {"csv" | "ndjson"} format @param {string} title
 */
function saveLink(query, format, title) {
  const address = `v1/snapshot?query=${encodeURIComponent(JSON.stringify(query))}&format=${format}`;
  const link = element("a", { href: new URL(address, databaseAddress).href, download: "" }, title);
  link.addEventListener("click", async (event) => {
    // A browser follows a link without the token.
    if (currentToken() === null) return;
    event.preventDefault();
    const answer = await request(address);
    if (!answer.ok) {
      const problem = await answer.json();
      return void (link.textContent = `${title}: ${problem.detail ?? problem.title}`);
    }
    const content = await answer.blob().catch(() => null);
    if (content === null) return void (link.textContent = `${title}: the connection was lost, or the list began anew; try again`);
    const file = URL.createObjectURL(content);
    element("a", { href: file, download: `list.${format}` }).click();
    URL.revokeObjectURL(file);
  });
  return link;
}

/** @param {Record<string, string>} options values and titles @param {(value: string) => void} chosen */
function choiceOf(options, chosen) {
  const result = element("fieldset", { className: "choice" }, element("legend", {}, "Way"), ...Object.entries(options).map(([value, title], index) =>
    element("label", {}, element("input", { type: "radio", name: "way", value, checked: index === 0 }), title)));
  result.addEventListener("change", ({ target }) => chosen(/** @type {HTMLInputElement} */ (target).value));
  return result;
}

/**
 * Where the browser does not allow it, the text is at least selected.
 *
 * @param {HTMLElement} text
 */
async function copied(text) {
  const isCopied = await copyText(text.textContent ?? "");
  if (!isCopied) getSelection()?.selectAllChildren(text);
  return isCopied;
}
