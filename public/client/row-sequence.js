// @ts-check
/**
 * Rows by offset, as an immutable sequence with holes where contents are not held. A change makes a new sequence that
 * shares all but O(log n) of the old one, so that a patch costs what it changes, and the old sequence stays valid. A
 * balanced binary tree: leaves are short arrays or holes of any length, and joining two trees (the one operation
 * everything is made of) restores the balance on the way, as AVL trees do.
 */

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {{length: number, held: number, height: number, rows?: Row[], left?: Node, right?: Node}} Node */
/** @typedef {Node & {left: Node, right: Node}} Branch */

const leafSize = 64;

export class RowSequence {
  /** @type {Node} */
  #root;

  /** @param {Node} root */
  constructor(root) {
    this.#root = root;
  }

  /**
   * A sequence that is one hole.
   *
   * @param {number} length
   */
  static hole(length) {
    return new RowSequence(hole(length));
  }

  /** @param {Row[]} rows */
  static of(rows) {
    return new RowSequence(tree(rows, 0, rows.length));
  }

  get length() {
    return this.#root.length;
  }

  /** How many rows have their contents. */
  get held() {
    return this.#root.held;
  }

  /** Levels of the tree: O(log n). */
  get depth() {
    return this.#root.height;
  }

  /**
   * In O(log n).
   *
   * @param {number} offset @returns {Row | undefined} undefined in a hole, and outside
   */
  at(offset) {
    if (!(offset >= 0 && offset < this.length)) return undefined;
    let node = this.#root;
    let index = offset;
    while (node.left && node.right) {
      const isLeft = index < node.left.length;
      if (!isLeft) index -= node.left.length;
      node = isLeft ? node.left : node.right;
    }
    return node.rows?.[index];
  }

  /**
   * The sequence with `count` rows at `offset` replaced by `middle`. In O(log n), not counting the making of `middle`.
   *
   * @param {number} offset @param {number} count @param {RowSequence} [middle]
   */
  replacing(offset, count, middle) {
    const [before, rest] = split(this.#root, offset);
    const [, after] = split(rest, count);
    return new RowSequence(join(middle ? join(before, middle.#root) : before, after));
  }

  /**
   * The sequence, with contents only from `first` to `last`.
   *
   * @param {number} first @param {number} last excluded
   */
  keeping(first, last) {
    const [head, rest] = split(this.#root, Math.min(first, this.length));
    const [middle, tail] = split(rest, Math.max(0, Math.min(last, this.length) - head.length));
    return new RowSequence(join(join(hole(head.length), middle), hole(tail.length)));
  }

  /**
   * Held rows with their offsets, ascending.
   *
   * @returns {IterableIterator<[number, Row]>}
   */
  *entries() {
    /** @type {[Node, number][]} */
    const ahead = [[this.#root, 0]];
    for (let next = ahead.pop(); next; next = ahead.pop()) {
      const [node, start] = next;
      if (node.held === 0) continue;
      if (node.left && node.right) ahead.push([node.right, start + node.left.length], [node.left, start]);
      else for (let index = 0; index < node.length; index += 1) yield [start + index, /** @type {Row[]} */ (node.rows)[index]];
    }
  }
}

/** @param {number} length @returns {Node} */
const hole = (length) => ({ length, held: 0, height: 0 });

/** @param {Row[]} rows @returns {Node} */
const leaf = (rows) => ({ length: rows.length, held: rows.length, height: 0, rows });

/** @param {Node} left @param {Node} right @returns {Branch} */
function branch(left, right) {
  const height = Math.max(left.height, right.height) + 1;
  return { length: left.length + right.length, held: left.held + right.held, height, left, right };
}

/** @param {Row[]} rows @param {number} start @param {number} end @returns {Node} */
function tree(rows, start, end) {
  if (start === end) return hole(0);
  if (end - start <= leafSize) return leaf(rows.slice(start, end));
  const middle = (start + end) >> 1;
  return branch(tree(rows, start, middle), tree(rows, middle, end));
}

/**
 * Joins two neighboring leaves into one; undefined if they do not fit into one.
 *
 * @param {Node} left @param {Node} right
 */
function merged(left, right) {
  if (left.height > 0 || right.height > 0) return undefined;
  if (!left.rows && !right.rows) return hole(left.length + right.length);
  if (left.rows && right.rows && left.length + right.length <= leafSize) return leaf([...left.rows, ...right.rows]);
  return undefined;
}

/** @param {Node} left @param {Node} right @returns {Node} */
function join(left, right) {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  // The lower tree is inserted along the inner edge of the higher one, at its height or into a leaf that has room.
  if (left.left && left.right && left.height > right.height + (right.height > 0 ? 1 : 0)) {
    return balanced(left.left, join(left.right, right));
  }
  if (right.left && right.right && right.height > left.height + (left.height > 0 ? 1 : 0)) {
    return balanced(join(left, right.left), right.right);
  }
  return merged(left, right) ?? branch(left, right);
}

/**
 * A branch of two trees whose heights differ by two at most.
 *
 * @param {Node} left @param {Node} right
 */
function balanced(left, right) {
  if (left.height > right.height + 1) return turnedRight(/** @type {Branch} */ (left), right);
  if (right.height > left.height + 1) return turnedLeft(left, /** @type {Branch} */ (right));
  return branch(left, right);
}

/** @param {Branch} left @param {Node} right */
function turnedRight({ left, right: inner }, right) {
  if (left.height >= inner.height) return branch(left, branch(inner, right));
  const { left: innerLeft, right: innerRight } = /** @type {Branch} */ (inner);
  return branch(branch(left, innerLeft), branch(innerRight, right));
}

/** @param {Node} left @param {Branch} right */
function turnedLeft(left, { left: inner, right }) {
  if (right.height >= inner.height) return branch(branch(left, inner), right);
  const { left: innerLeft, right: innerRight } = /** @type {Branch} */ (inner);
  return branch(branch(left, innerLeft), branch(innerRight, right));
}

/** @param {Node} node @param {number} offset @returns {[Node, Node]} */
function split(node, offset) {
  if (offset <= 0) return [hole(0), node];
  if (offset >= node.length) return [node, hole(0)];
  if (node.left && node.right) {
    if (offset < node.left.length) {
      const [before, after] = split(node.left, offset);
      return [before, join(after, node.right)];
    }
    const [before, after] = split(node.right, offset - node.left.length);
    return [join(node.left, before), after];
  }
  if (!node.rows) return [hole(offset), hole(node.length - offset)];
  return [leaf(node.rows.slice(0, offset)), leaf(node.rows.slice(offset))];
}
