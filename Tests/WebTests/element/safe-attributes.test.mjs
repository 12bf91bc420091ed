import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefusedAttribute, isRefusedElement, isSafeValue } from "../../../public/element/safe-attributes.js";
import { parsePairs, textOf } from "../../../public/element/template.js";

const page = "https://here.example/app/";

test("attributes that are programs or style are never bound", () => {
  for (const name of ["onclick", "ONLOAD", "style", "srcdoc", "onanything", "is", "a b", "x=y", ""]) {
    assert.ok(isRefusedAttribute(name), name);
  }
  for (const name of ["title", "data-status", "aria-label", "href", "value", "class", "xlink:href"]) {
    assert.ok(!isRefusedAttribute(name), name);
  }
});

test("elements whose text is a program are never filled", () => {
  for (const name of ["script", "SCRIPT", "style", "iframe", "animate"]) assert.ok(isRefusedElement(name), name);
  for (const name of ["span", "a", "img", "input"]) assert.ok(!isRefusedElement(name), name);
});

test("addresses that are programs are refused, however they are spelt", () => {
  const programs = [
    "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "\u0001javascript:1",
    "data:text/html,<script>1</script>", "vbscript:1", "blob:https://here.example/1", "http://[", "file:///etc/passwd",
  ];
  for (const name of ["href", "SRC", "action", "formaction", "xlink:href"]) {
    for (const value of programs) assert.ok(!isSafeValue(name, value, page), `${name} ${value}`);
  }
});

test("ordinary addresses and other attributes pass", () => {
  for (const value of ["wells/1", "?q=1", "#x", "/a", "//other/x", "https://a/b", "mailto:a@b.example", "tel:+1"]) {
    assert.ok(isSafeValue("href", value, page), value);
  }
  assert.ok(isSafeValue("title", "javascript:alert(1)", page));
  assert.ok(isSafeValue("href", "row.html", "file:///home/page.html"));
});

test("the pairs of data-attr", () => {
  assert.deepEqual(parsePairs(" title:name, xlink:href:link ,,data-x : y"), [
    { attribute: "title", column: "name" }, { attribute: "xlink:href", column: "link" }, { attribute: "data-x", column: "y" },
  ]);
});

test("values as text", () => {
  assert.deepEqual([null, undefined, 0, 1.5, 2n ** 60n, "", "a", new Uint8Array(3)].map(textOf),
    ["", "", "0", "1.5", "1152921504606846976", "", "a", "3 bytes"]);
});
