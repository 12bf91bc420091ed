import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pageFor } from "../../../public/browser/pages.js";

test("the page asks for one script and one style sheet, and for the schema at the same time", () => {
  const html = readFileSync(new URL("../../../public/index.html", import.meta.url), "utf8");
  const asked = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
  assert.deepEqual(asked, ["logo.svg", "app.min.css", "v1/schema", "app.min.js"]);
});

test("each state of a server has a page that says what to do", () => {
  const titles = {
    "This file has no tables yet": { status: "ok", detail: "", code: "" }, "The server does not answer": { status: "offline", detail: "", code: "" },
    "This server wants to know who you are": { status: "unauthenticated", detail: "a token is needed", code: "unauthenticated" },
    "Nothing is shown to you here": { status: "published", detail: "", code: "not_allowed" },
    "The file is not there yet": { status: "unavailable", detail: "the database is not there", code: "overloaded" },
    "The file is locked": { status: "unavailable", detail: "database is locked", code: "overloaded" },
    "The file is damaged": { status: "unavailable", detail: "database disk image is malformed", code: "internal" },
    "The file cannot be read at the moment": { status: "unavailable", detail: "the database cannot be read at the moment", code: "overloaded" },
  };
  for (const [title, schema] of Object.entries(titles)) {
    const page = pageFor(schema, false);
    assert.equal(page.title, title);
    assert.ok(page.sentences.join(" ").length > 40 && page.sentences.every((text) => text === "" || /[.:]$/.test(text)), title);
    assert.ok(!schema.detail || page.sentences.some((text) => text.toLowerCase().startsWith(schema.detail)), "what the server says is told");
  }
  assert.equal(pageFor({ status: "unauthenticated", detail: "", code: "" }, true).title, "The token was not accepted");
  assert.ok(pageFor({ status: "unauthenticated", detail: "", code: "" }, true).hasToken);
});
