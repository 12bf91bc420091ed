import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as modules from "../../../public/freshet.js";
import * as published from "../../../public/freshet.min.js";

test("the published file has all that the modules have, in less than 19 kB", () => {
  assert.deepEqual(Object.keys(published), Object.keys(modules));
  const size = gzipSync(readFileSync(new URL("../../../public/freshet.min.js", import.meta.url)), { level: 9 }).length;
  assert.ok(size < 19_000, `${size} bytes`);
});
