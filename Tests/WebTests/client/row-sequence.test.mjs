// The sequence of rows, compared with a plain array.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RowSequence } from "../../../public/client/row-sequence.js";
import { randomNumbers } from "./patch-writer.mjs";

const contents = (sequence) => Array.from({ length: sequence.length }, (_, offset) => sequence.at(offset));
const rows = (count, next) => Array.from({ length: count }, () => ({ id: next() }));

test("random replacing agrees with an array, and leaves older sequences as they were", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = randomNumbers(seed);
    let count = 0;
    const next = () => (count += 1);
    let array = rows(random(300), next);
    let sequence = RowSequence.of(array);
    for (let step = 0; step < 60; step += 1) {
      const context = `seed ${seed}, step ${step}`;
      const offset = random(array.length + 1);
      const removed = Math.min(random(random(4) === 0 ? 200 : 4), array.length - offset);
      const isHole = random(4) === 0;
      const added = isHole ? new Array(random(100)).fill(undefined) : rows(random(random(5) === 0 ? 150 : 3), next);
      const [oldSequence, oldArray] = [sequence, [...array]];
      sequence = sequence.replacing(offset, removed, isHole ? RowSequence.hole(added.length) : RowSequence.of(added));
      array.splice(offset, removed, ...added);
      if (random(10) === 0) {
        const [first, last] = [random(array.length + 1), random(array.length + 20)];
        sequence = sequence.keeping(first, last);
        array = array.map((row, index) => (index >= first && index < last ? row : undefined));
      }
      assert.deepEqual(contents(sequence), array, context);
      assert.equal(sequence.held, array.filter((row) => row).length, context);
      assert.deepEqual([...sequence.entries()], [...array.entries()].filter(([, row]) => row), context);
      if (step % 20 === 0) assert.deepEqual(contents(oldSequence), oldArray, context);
    }
  }
});

test("outside there is nothing", () => {
  for (const sequence of [RowSequence.hole(0), RowSequence.hole(3), RowSequence.of([{ id: 1 }])]) {
    for (const offset of [-1, 3, 0.5 + sequence.length, NaN]) assert.equal(sequence.at(offset), undefined);
  }
});

test("it stays balanced: a long history of single rows does not make looking deep", () => {
  const random = randomNumbers(1);
  let sequence = RowSequence.of(rows(100_000, () => 1));
  for (let step = 0; step < 20_000; step += 1) {
    sequence = sequence.replacing(random(sequence.length), random(2), RowSequence.of(rows(random(3), () => step)));
  }
  // The limit for the levels of an AVL tree with this many leaves.
  assert.ok(sequence.depth <= 1.45 * Math.log2(sequence.length) + 2, String(sequence.depth));
});
