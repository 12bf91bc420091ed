// Frequent changes are shown, and announced, less often.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Announcer } from "../../../public/element/announcer.js";
import { Ration } from "../../../public/element/motion.js";
import { clock } from "../fake-clock.mjs";

test("so many at once and so many in a second, all of them or none", () => {
  const ration = new Ration({ atOnce: 200, perSecond: 100 });
  assert.equal(ration.take(150, 0), true);
  assert.equal(ration.take(51, 10), true);
  assert.equal(ration.take(1, 11), false);
  assert.equal(ration.take(100, 1011), true);
  assert.equal(ration.take(200, 3011), true);
  assert.equal(ration.take(201, 9000), false);
});

test("who always wants too much gets nothing until he rests", () => {
  const ration = new Ration({ atOnce: 200, perSecond: 100 });
  let granted = 0;
  for (let now = 0; now < 5000; now += 20) if (ration.take(15, now)) granted += 15;
  assert.equal(granted, 225, "what was left, and what came in meanwhile");
  assert.equal(ration.take(15, 5200), true);
});

test("sentences are said one in a while, the last one of each while", () => {
  clock.start();
  const element = { textContent: "" };
  const announcer = new Announcer(element, () => clock.now);
  announcer.say("Loading");
  clock.tick(0);
  assert.equal(element.textContent, "Loading");
  announcer.say("10 rows");
  clock.tick(500);
  announcer.say("Reconnecting");
  clock.tick(500);
  assert.equal(element.textContent, "Loading");
  announcer.say("11 rows");
  clock.tick(1000);
  assert.equal(element.textContent, "11 rows");
  announcer.say("Loading");
  announcer.stop();
  clock.tick(9000);
  assert.equal(element.textContent, "11 rows");
  clock.stop();
});
