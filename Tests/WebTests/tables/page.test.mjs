import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pageFor } from "../../../public/browser/pages.js";

// The schema is not preloaded, because a preload would request it without the page's token.
test("the page asks for one script and one style sheet", () => {
  const html = readFileSync(new URL("../../../public/index.html", import.meta.url), "utf8");
  const asked = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
  assert.deepEqual(asked, ["logo.svg", "app.min.css", "app.min.js"]);
});

test("each state of a server has a page that says what to do", () => {
  const titles = {
    "This file has no tables yet": { status: "ok", detail: "", code: "" }, "The server does not answer": { status: "offline", detail: "", code: "" },
    "This server wants to know who you are": { status: "unauthenticated", detail: "a token is needed", code: "unauthenticated" },
    "This server answers published queries only": { status: "published", detail: "", code: "not_allowed" },
    "The file is not there yet": { status: "unavailable", detail: "the database is not there", code: "overloaded" },
    "The file is locked": { status: "unavailable", detail: "database is locked", code: "overloaded" },
    "The file is damaged": { status: "unavailable", detail: "database disk image is malformed", code: "internal" },
    "The file cannot be read at the moment": { status: "unavailable", detail: "the database cannot be read at the moment", code: "overloaded" },
  };
  for (const [title, schema] of Object.entries(titles)) {
    const page = pageFor(schema, null);
    assert.equal(page.title, title);
    assert.ok(page.sentences.join(" ").length > 40 && page.sentences.every((text) => text === "" || /[.:]$/.test(text)), title);
    assert.ok(!schema.detail || page.sentences.some((text) => text.toLowerCase().startsWith(schema.detail)), "what the server says is told");
  }
});

test("each refusal names its own reason, and no switch that would not help", () => {
  const refused = (status, detail, claims, members = {}) => pageFor({ status, detail, code: "", ...members }, claims);
  const ofRole = (role) => `the role ${role} may ask published queries only: see /v1/queries`;
  const cases = [
    ["The token has expired", "2023", refused("unauthenticated", "the token has expired", { exp: 1_700_000_000 })],
    ["The token was not accepted", "The token's signature is wrong.", refused("unauthenticated", "the token's signature is wrong", {})],
    ["This server shows its tables to those with a token", "the role anonymous", refused("published", ofRole("anonymous"), null)],
    ["This server has no role boss", "the role anonymous", refused("published", `there is no role boss, and ${ofRole("anonymous")}`, { role: "boss" })],
    ["The token names no role of this server", "the role anonymous", refused("published", ofRole("anonymous"), { sub: "ann" })],
    ["The role clerk may read no table", "queries: any", refused("published", ofRole("clerk"), { role: "clerk" })],
    ["The role clerk may read no table", "queries: any", refused("published", ofRole("clerk"), { "app/role": "clerk" })],
    ["There is no table that you may read", "the role clerk", refused("ok", "", { role: "clerk" }, { hasRoles: true })],
  ];
  for (const [title, words, page] of cases) {
    const text = page.sentences.join(" ");
    assert.equal(page.title, title);
    assert.ok(text.includes(words), `${title}: ${text}`);
    assert.ok(page.hasToken && !page.commands && !/--allow/.test(text), `${title}: a token helps, and no switch does`);
  }
  const open = refused("published", "this server answers published queries only: see /v1/queries", null);
  assert.ok(!open.hasToken && open.commands.join().includes("--allow-queries"), "without roles a switch helps, and no token does");
});

test("where no database may be used, a token may show one", () => {
  const page = (claims) => pageFor({ status: "unavailable", detail: "there is no such database", code: "no_such_database" }, claims);
  assert.ok(page(null).hasToken && page(null).sentences.join(" ").includes("A token may show one"));
  assert.ok(page({ org: "acme" }).sentences.join(" ").includes("Another token may show one"));
});
