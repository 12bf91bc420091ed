import assert from "node:assert/strict";
import { test } from "node:test";
import { staleness } from "../../../public/element/staleness.js";

const live = { status: "live", error: null, hasRows: true, connection: "live", retryAt: null, refusal: null };
const sentence = (situation, now = 0) => staleness({ ...live, ...situation }, now)?.sentence ?? null;

test("what is live, loading or closed is not stale", () => {
  assert.equal(sentence({}), null);
  assert.equal(sentence({ status: "loading", hasRows: false }), null);
  assert.equal(sentence({ status: "connecting", connection: "connecting", hasRows: false }), null);
  assert.equal(sentence({ status: "closed", connection: "closed" }), null);
});

test("a lost connection is counted down, in whole seconds, until the attempt", () => {
  const lost = { status: "reconnecting", connection: "reconnecting", retryAt: 3_000 };
  assert.equal(sentence(lost, 0), "Reconnecting in 3 s");
  assert.equal(sentence(lost, 1), "Reconnecting in 3 s");
  assert.equal(sentence(lost, 2_100), "Reconnecting in 1 s");
  assert.equal(sentence(lost, 3_000), "Reconnecting");
  assert.equal(sentence({ status: "reconnecting" }), "Catching up", "connected, and the rows have not come yet");
  assert.equal(sentence({ ...lost, status: "connecting", hasRows: false }), "Reconnecting in 3 s", "a first attempt that failed");
  const topics = [0, 1_500, 3_000].map((now) => staleness({ ...live, ...lost }, now).topic);
  assert.deepEqual(topics, ["reconnecting", "reconnecting", "reconnecting"], "it is announced once");
});

test("a query that does not compile at the moment says what is missing", () => {
  const error = { code: "schema_changed", message: "the schema has changed: select[1]: no such column: depth" };
  assert.equal(sentence({ status: "waiting", error }), "The table is being changed (the column `depth` is gone). These rows are from before.");
  assert.equal(sentence({ status: "waiting", error, hasRows: false }), "The table is being changed (the column `depth` is gone)");
  assert.match(sentence({ status: "waiting", error: { code: "overloaded", message: "too much to do" } }), /cannot answer .*too much to do/);
});

test("who is signed out reads so, connected or not", () => {
  const refusal = { code: "unauthenticated" };
  assert.equal(sentence({ refusal }), "Not signed in any more");
  assert.equal(sentence({ refusal, status: "reconnecting", connection: "reconnecting", retryAt: 9 }), "Not signed in any more");
  assert.equal(sentence({ status: "waiting", error: { code: "not_allowed", message: "nobody" } }), "Not signed in any more");
});

test("a list that failed says so over its rows; without rows its message is in their place", () => {
  const error = { code: "bad_query", message: "no such function: f" };
  assert.match(sentence({ status: "failed", error }), /not followed any more: no such function: f/);
  assert.equal(sentence({ status: "failed", error, hasRows: false }), null);
});

test("a refused connection says why", () => {
  const refusal = { code: "refused", message: "http://here refuses the connection" };
  assert.equal(sentence({ status: "connecting", connection: "refused", retryAt: 9, hasRows: false, refusal }), "http://here refuses the connection");
});
