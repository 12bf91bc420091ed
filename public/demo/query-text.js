// @ts-check
/** A query as it is typed, and as it is copied for other programs. Pure. */

/** @typedef {import("../freshet.js").Query} Query */

/** Members of a query that are lists, typed with commas between their parts. */
const lists = ["select", "groupBy", "orderBy", "key"];

/**
 * The parts of a text between commas, not counting commas in parentheses, brackets or quotes.
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
 * @param {Record<string, string>} fields by the names of a query's members; `params`, `totals` and `alongside` are JSON
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
  if (!["params", "totals", "alongside"].includes(name)) return text;
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

/** The path at which every server has the client: protocol 4. */
const clientFiles = "v1/client/";

/** Members of a query as Swift's `Query` has them, in its order. */
const swiftMembers = /** @type {const} */ ([
  ["sql", "sql"], ["from", "from"], ["select", "select"], ["where", "where"], ["params", "parameters"], ["groupBy", "groupBy"], ["having", "having"], ["orderBy", "orderBy"],
  ["sectionBy", "sectionBy"], ["limit", "limit"], ["key", "key"], ["totals", "totals"], ["alongside", "alongside"],
]);

/**
 * @param {any} value as JSON has it; `$int` and `$blob` stand for values that JSON does not have
 * @returns {string} a Swift literal
 */
function swiftLiteral(value) {
  if (value === null) return "nil";
  if (typeof value === "string") return swiftText(value);
  if (Array.isArray(value)) return `[${value.map(swiftLiteral).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  if (typeof value.$int === "string") return value.$int;
  if (typeof value.$blob === "string") return `.blob([${[...atob(value.$blob)].map((byte) => byte.charCodeAt(0)).join(", ")}])`;
  const members = Object.entries(value).map(([name, member]) => `${swiftText(name)}: ${swiftLiteral(member)}`);
  return members.length > 0 ? `[${members.join(", ")}]` : "[:]";
}

/** @param {string} text */
function swiftText(text) {
  if (!/["\\\n\r]/.test(text)) return `"${text}"`;
  // A raw string, with more # signs than any run in the text that could end it.
  const signs = "#".repeat(1 + Math.max(...[...text.matchAll(/["\\](#*)/g)].map(([, found]) => found.length), 0));
  return /[\n\r]/.test(text) ? `${signs}"""\n    ${text.replaceAll(/\r?\n/g, "\n    ")}\n    """${signs}` : `${signs}"${text}"${signs}`;
}

/** @param {Query} query */
function swiftQuery(query) {
  const members = /** @type {any} */ (query);
  return swiftMembers.filter(([name]) => members[name] !== undefined)
    .map(([name, label]) => `  ${label}: ${name === "sectionBy" ? swiftSection(members[name]) : swiftLiteral(members[name])}`).join(",\n");
}

/** @param {any} section a text, or its parts */
function swiftSection(section) {
  if (typeof section === "string") return swiftText(section);
  const { by, order, name, indexTitle } = section;
  const parts = { isDescending: order === "DESC" ? "true" : "", name: name && swiftText(name), indexTitle: indexTitle && swiftText(indexTitle) };
  const named = Object.entries(parts).filter(([, part]) => part).map(([label, part]) => `, ${label}: ${part}`);
  return `.init(${swiftText(by)}${named.join("")})`;
}

/** @param {any} value of JSON @returns {string} */
function pythonLiteral(value) {
  if (value === null) return "None";
  if (value === true || value === false) return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${pythonLiteral(member)}`).join(", ")}}`;
}

/**
 * The query as text for other programs.
 *
 * @type {Record<string, (query: Query, address: string) => string>}
 */
export const copies = {
  curl: (query, address) => `curl -N --get ${address}v1/subscriptions --data-urlencode ${quoted(`query=${JSON.stringify(query)}`)}`,
  snapshot: (query, address) => `curl --get ${address}v1/snapshot --data-urlencode ${quoted(`query=${JSON.stringify(query)}`)}`,
  element: (query, address) => `<!doctype html>
<script type="module" src="${address}${clientFiles}live-list.min.js"></script>

<live-list src="${address}v1/live" fill
  query="${escaped(JSON.stringify(query))}"></live-list>
`,
  watch: (query, address) => `freshet watch ${address} ${quoted(JSON.stringify(query))}`,
  javascript: (query, address) => `import { connect } from "${address}${clientFiles}freshet.min.js";

const list = connect("${address}").subscribe(${JSON.stringify(query, null, 2)});
for await (const { sections, total } of list) console.log(total, sections);
`,
  node: (query, address) => `// curl -fo freshet.mjs ${address}${clientFiles}freshet.min.js
// node list.mjs (Node 22; Node 20 with --experimental-websocket)
import { connect } from "./freshet.mjs";

const list = connect("${address}").subscribe(${JSON.stringify(query, null, 2)});
for await (const { sections, total } of list) console.log(total, sections);
`,
  react: (query, address) => `// npm install react react-dom, and freshet from where this server's version is
import { connect } from "freshet";
import { FreshetProvider, useLiveQuery } from "freshet/react";
import { createRoot } from "react-dom/client";

const client = connect("${address}");
const query = ${JSON.stringify(query, null, 2)};

function List() {
  const { rows, state, total, error } = useLiveQuery(query, { window: { offset: 0, limit: 100 } });
  if (error) return <p>{error.message}</p>;
  const row = (each) => <li key={state.keyOf(each)}>{Object.values(each).map(String).join(", ")}</li>;
  return <><p>{total} rows</p><ul>{rows.map(row)}</ul></>;
}

const root = document.body.appendChild(document.createElement("div"));
createRoot(root).render(<FreshetProvider client={client}><List /></FreshetProvider>);
`,
  python: (query, address) => `# python list.py, with the package of this version
import asyncio
import freshet

async def main():
    async with freshet.connect("${address}") as client:
        found = await client.subscribe(${pythonLiteral(query)}, rows=dict)
        print(found.total, found.rows)
        async for change in found:
            print(change.kind, change.state.total)

asyncio.run(main())
`,
  swift: (query, address) => `// In a package that depends on Freshet's, with the product FreshetClient.
import FreshetClient

let database = try RemoteDatabase("${address}")
let list = database.results(Query(
${swiftQuery(query)}))
for try await update in list.updates { print(update.results.count, update.results.sections.map(\\.name)) }
`,
};
