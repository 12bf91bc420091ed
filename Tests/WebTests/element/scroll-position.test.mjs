import assert from "node:assert/strict";
import { test } from "node:test";
import { ListLayout } from "../../../public/element/layout.js";
import { ScrollPosition } from "../../../public/element/scroll-position.js";

const heights = { row: 10, header: 0 };
const view = 500;
const short = new ListLayout([{ count: 1000 }], heights);
const tall = new ListLayout([{ count: 5_000_000 }], heights);

test("scrolling goes on from where rows above have pushed the view", () => {
  const position = new ScrollPosition();
  position.scrolled(1000, short, view);
  const longer = new ListLayout([{ count: 1100 }], heights);
  position.moveTo(position.top + 1000, longer, view);
  assert.equal(position.shift, -1000);
  position.scrolled(1100, longer, view);
  assert.equal(position.top, 2100);
  assert.equal(position.shift, -1000, "nothing has to be moved for that");
});

test("a bar that is dragged far says where to be", () => {
  const position = new ScrollPosition();
  position.moveTo(3000, short, view);
  position.scrolled(8000, short, view);
  assert.equal(position.top, 8000);
});

test("a stretched list is scrolled pixel by pixel, and dragged from end to end", () => {
  const position = new ScrollPosition();
  position.scrolled(7_000_000, tall, view);
  const { top } = position;
  assert.ok(top > 20_000_000);
  position.scrolled(7_000_120, tall, view);
  assert.equal(position.top, top + 120);
  position.scrolled(tall.lastScrollTop(view), tall, view);
  assert.equal(position.top, tall.lastTop(view));
});

test("a list that bounces at its ends stays where it ends", () => {
  const position = new ScrollPosition();
  position.scrolled(40, short, view);
  position.scrolled(-30, short, view);
  assert.equal(position.top, 0);
  assert.equal(position.shift, 0);
});

test("the view stays within the list", () => {
  const position = new ScrollPosition();
  position.moveTo(99_999, short, view);
  assert.equal(position.top, 9500);
  position.moveTo(-5, short, view);
  assert.equal(position.top, 0);
});

test("the bar has to be put right when an end comes near that is not where it says", () => {
  const position = new ScrollPosition();
  position.scrolled(5000, short, view);
  assert.equal(position.isPressing(short, view), false);
  position.moveTo(5300, short, view);
  assert.equal(position.isPressing(short, view), false, "there is room on both sides");
  position.scrollTop = 300;
  assert.equal(position.isPressing(short, view), true, "the top is 300 pixels away for the bar, but not for the list");
  position.scrollTop = 5000;
  position.moveTo(100, short, view);
  assert.equal(position.isPressing(short, view), true);
});
