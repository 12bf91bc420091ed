import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf } from "../../../public/shell/connection-state.js";

const state = (status, code, isSilent = false) => labelOf({ status, error: code ? { code } : null }, isSilent).state;

test("a connection is live only while the server answers, and knows its client", () => {
  assert.equal(state("live", null), "live");
  assert.equal(state("live", null, true), "silent");
  assert.equal(state("live", "unauthenticated"), "signed-out");
  assert.equal(state("live", "internal"), "live");
  assert.equal(state("reconnecting", "unauthenticated", true), "reconnecting");
  assert.equal(state("refused", "refused"), "refused");
});
