#!/usr/bin/env node
/**
 * Checks every JavaScript, TypeScript and JSX block of README.md and docs/ with TypeScript's checker against the types
 * that the package publishes, and that every JSON block is JSON.
 *
 * A block is a module of its own. What it does not import or declare itself is declared for it in front, so that pages
 * need not repeat it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "Tests/WebTests/.snippets");
const types = "/usr/share/nodejs/@types";

/** Names that blocks may use without a declaration. */
const known = {
  connect: 'import { connect } from "freshet";',
  sql: 'import { sql } from "freshet";',
  documentChanges: 'import { documentChanges } from "freshet/adapters";',
  client: 'declare const client: import("freshet").Client;',
  list: 'declare const list: import("freshet").LiveList;',
  root: "declare const root: { render(element: unknown): void };",
  items: "declare const items: unknown[];",
  create: "declare function create(row: unknown): unknown;",
  Order: "declare function Order(props: { order: unknown }): JSX.Element;",
};

/** @param {string} text @returns {string} what stands before it */
function prelude(text) {
  const used = Object.entries(known).filter(([name]) => {
    const isDeclared = new RegExp(`(const|let|function|interface|class)\\s+${name}\\b|import\\s*{[^}]*\\b${name}\\b`).test(text);
    return !isDeclared && new RegExp(`(?<![."\\w])${name}\\b`).test(text);
  });
  return used.map(([, line]) => line).join(" ");
}

/** @param {string} file @returns {{kind: string, line: number, text: string}[]} */
function blocks(file) {
  const found = [];
  let open = null;
  for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    if (open && line.trim() === "```") {
      found.push({ ...open, text: open.lines.join("\n") });
      open = null;
    } else if (open) open.lines.push(line);
    else if (line.trim().startsWith("```")) open = { kind: line.trim().slice(3), line: index + 1, lines: [] };
  }
  return found;
}

const files = ["README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const extensions = { js: "ts", ts: "ts", jsx: "tsx", tsx: "tsx" };
const places = new Map();
const problems = [];
let count = 0;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of files) {
  for (const { kind, line, text } of blocks(file)) {
    if (kind === "json") {
      count += 1;
      // Pages shorten long blocks with …, which cannot be checked.
      if (text.includes("…")) continue;
      try {
        JSON.parse(text);
      } catch (error) {
        problems.push(`${file}:${line}: ${error.message}`);
      }
    } else if (extensions[kind]) {
      count += 1;
      const name = `${file.replace(/\W/g, "-")}-${line}.${extensions[kind]}`;
      places.set(name, { file, line });
      // On one line: the lines of errors stay those of the page.
      // A server's path of the client is that of a module here.
      writeFileSync(join(folder, name), `${prelude(text)} export {};\n${text.replaceAll('"/v1/client/', '"./')}\n`);
    }
  }
}

const ambient = `
declare module "react-dom/client" { export function createRoot(element: Element | null): { render(element: unknown): void } }
`;
writeFileSync(join(folder, "ambient.d.ts"), ambient);
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
  extends: "../tsconfig.json",
  compilerOptions: {
    noImplicitAny: false, checkJs: false, baseUrl: ".",
    paths: {
      "freshet": ["../../../public/freshet.d.ts"], "freshet/react": ["../../../public/react.d.ts"],
      "freshet/adapters": ["../../../public/adapters.d.ts"],
      "react": [`${types}/react`], "react/*": [`${types}/react/*`],
    },
  },
  files: ["../react-needs.d.ts", "ambient.d.ts", ...places.keys()],
}));
// Files next to the page that it loads.
for (const name of ["freshet", "freshet.min"]) writeFileSync(join(folder, `${name}.d.ts`), 'export * from "freshet";\n');
try {
  execFileSync("tsc", ["-p", folder, "--pretty", "false"], { encoding: "utf8" });
} catch (error) {
  for (const line of String(error.stdout).split("\n").filter(Boolean)) {
    const [, name, row] = /([^/]+)\((\d+),\d+\)/.exec(line) ?? [];
    const place = places.get(name);
    problems.push(place ? `${place.file}:${place.line + Number(row) - 1}: ${line.replace(/^.*?: error /, "")}` : line);
  }
}
rmSync(folder, { recursive: true });
for (const problem of problems) console.log(`failed  ${problem}`);
console.log(`${count - problems.length} passed, ${problems.length} failed`);
process.exit(problems.length || !count ? 1 : 0);
