import assert from "node:assert/strict";
import { test } from "node:test";
import { meanOf, parseMetrics, perSecond } from "../../../public/demo/metrics.js";

const reading = (time, text) => ({ time, values: parseMetrics(text) });

test("Prometheus' text is read, comments aside", () => {
  const values = parseMetrics('# HELP a b\n# TYPE a counter\na 3\nb{quantile="0.5"} 1.5e-3\n\nnonsense\n');
  assert.deepEqual([...values], [["a", 3], ['b{quantile="0.5"}', 0.0015]]);
});

test("rates and means are those between two readings", () => {
  const [before, now] = [reading(1000, "t 10\nd_sum 1\nd_count 4"), reading(3000, "t 30\nd_sum 4\nd_count 10")];
  assert.equal(perSecond(before, now, "t"), 10);
  assert.equal(meanOf(before, now, "d"), 0.5);
  assert.equal(perSecond(null, now, "t"), null);
  assert.equal(perSecond(now, before, "t"), null, "a server that began anew counts from 0");
  assert.equal(meanOf(now, now, "d"), null, "nothing was measured");
  assert.equal(perSecond(before, now, "missing"), null);
});
