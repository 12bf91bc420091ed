// @ts-check
/** A query as somebody types it, and as somebody takes it elsewhere. Pure. */

/** @typedef {import("../freshet.js").Query} Query */

/** Members of a query that are lists, typed with commas between their parts. */
const lists = ["select", "groupBy", "orderBy", "key"];

/**
 * The parts between the commas that are in no parentheses, brackets or quotes.
 *
 * @param {string} text
 */
export function partsOf(text) {
  const parts = [""];
  let depth = 0;
  let quote = "";
  for (const character of text) {
    if (quote) {
      if (character === quote) quote = "";
    } else if ("'\"`".includes(character)) quote = character;
    else if (character === "[") quote = "]";
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (character === "," && depth === 0 && !quote) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * The query that the fields of a form describe; empty ones are left out.
 *
 * @param {Record<string, string>} fields by the names of a query's members; `params` and `alongside` are JSON
 * @returns {Query}
 * @throws {Error} with a sentence, when something cannot be read
 */
export function queryOf(fields) {
  const members = Object.entries(fields).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text !== "");
  return Object.fromEntries(members.map(([name, text]) => [name, memberOf(name, text)]));
}

/** @param {string} name @param {string} text */
function memberOf(name, text) {
  if (lists.includes(name)) return partsOf(text);
  if (name === "limit") return Number(text);
  if (name !== "params" && name !== "alongside") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be JSON, as in {"state": "GA"}`);
  }
}

/** @param {string} text for a shell, as one word */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** @param {string} text for an attribute between double quotes */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/**
 * The same query elsewhere.
 *
 * @type {Record<string, (query: Query, address: string) => string>}
 */
export const copies = {
  curl: (query, address) => `curl -N --get ${address}v1/subscriptions --data-urlencode ${quoted(`query=${JSON.stringify(query)}`)}`,
  snapshot: (query, address) => `curl --get ${address}v1/snapshot --data-urlencode ${quoted(`query=${JSON.stringify(query)}`)}`,
  element: (query, address) => `<script type="module" src="${address}live-list.min.js"></script>

<live-list src="${address}v1/live" style="height: 100vh"
  query="${escaped(JSON.stringify(query))}"></live-list>
`,
  watch: (query, address) => `freshet watch ${address} ${quoted(JSON.stringify(query))}`,
  javascript: (query, address) => `import { connect } from "${address}freshet.js";

const list = connect("${address}").subscribe(${JSON.stringify(query, null, 2)});
for await (const { sections, total } of list) console.log(total, sections);
`,
};
