import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMetrics } from "../../../public/demo/metrics.js";
import {
  bytesInWords, durationInWords, latencyInWords, maintenanceInWords, queryInWords, serverInWords, sharedInWords, sizeInWords, totalOf,
} from "../../../public/demo/server-report.js";

test("a query is said in words, whatever shape its members have", () => {
  assert.equal(queryInWords({ from: "well" }), "well");
  assert.equal(queryInWords({ from: "well", where: "depth > :min", sectionBy: "county", orderBy: ["name", "depth DESC"], limit: 1000 }),
    "well where depth > :min, in sections by county, ordered by name, depth DESC, the first 1,000");
  assert.equal(queryInWords({ from: "well", sectionBy: { by: "substr(name, 1, 1)", order: "DESC" }, orderBy: "name", limit: null }),
    "well, in sections by substr(name, 1, 1), ordered by name");
  assert.equal(queryInWords({ from: "bank", groupBy: ["state"] }), "bank, grouped by state");
  assert.equal(queryInWords({ from: "bank" }, "failedBanks"), "failedBanks (published)");
});

test("who shares a list, and how it is kept", () => {
  const list = { query: { sectionBy: "x" }, subscriptions: 0, rows: 1, sections: 1, maintenance: "refetch" };
  assert.equal(sharedInWords(list), "kept for clients that reconnect");
  assert.equal(sharedInWords({ ...list, subscriptions: 1 }), "one client");
  assert.equal(sharedInWords({ ...list, subscriptions: 1200 }), "shared by 1,200");
  assert.deepEqual([maintenanceInWords(list), maintenanceInWords({ ...list, maintenance: "incremental" })], ["run again", "change by change"]);
  assert.deepEqual([sizeInWords(list), sizeInWords({ ...list, query: {}, rows: 5000 })], ["1 row in 1 section", "5,000 rows"]);
});

test("times and sizes are rounded as one would say them", () => {
  assert.deepEqual([0.0213, 1.24, 42.4, 60, 7200, 3 * 86400].map(durationInWords), ["21 ms", "1.2 s", "42 s", "1 minute", "2 hours", "3 days"]);
  assert.deepEqual([0, 999, 1000, 42_078_208, 12e9].map(bytesInWords), ["0 bytes", "999 bytes", "1.0 kB", "42 MB", "12 GB"]);
});

test("metrics are summed over their labels, and latency is a sentence", () => {
  const values = parseMetrics('s{role="a"} 2\ns{role="b"} 3\nss 9\nfreshet_tick_duration_seconds{quantile="0.5"} 0.0034\n'
    + 'freshet_tick_duration_seconds{quantile="0.99"} 0.0212\n');
  assert.equal(totalOf(values, "s"), 5);
  assert.equal(latencyInWords({ values, time: 0 }), "Half of the last commits took 3.4 ms or less, 99 in 100 took 21 ms or less.");
  assert.equal(latencyInWords({ values: new Map(), time: 0 }), null);
});

test("the server says who it is, also an older one", () => {
  const report = { server: "freshet/0.1.0", file: "a.sqlite", startedAt: 0, now: 90, lists: [], listsLeftOut: 0, slowQueries: [] };
  assert.equal(serverInWords(report, { values: new Map(), time: 0 }), "a.sqlite, served by freshet 0.1.0, running for 1 minute.");
  assert.equal(serverInWords(null, { values: new Map(), time: 0 }), "This server.");
});
