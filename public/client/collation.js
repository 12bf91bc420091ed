// @ts-check
/** Values in the order that SQLite gives them: NULL, numbers, text, BLOBs. Pure. */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {"BINARY" | "NOCASE" | "RTRIM"} Collation */

/** @type {Record<Collation, (text: string) => string>} the part of a text that is compared */
const compared = {
  BINARY: (text) => text,
  // SQLite folds the case of ASCII letters only.
  NOCASE: (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  RTRIM: (text) => text.replace(/ +$/, ""),
};

/** @param {string} name @returns {Collation | null} null if it is not built into SQLite */
export function collationNamed(name) {
  const known = name.toUpperCase();
  return known in compared ? /** @type {Collation} */ (known) : null;
}

/**
 * Compares two values: negative, 0 or positive, as `Array.sort` expects.
 *
 * @param {SQLValue} left @param {SQLValue} right @param {Collation} [collation]
 */
export function compareValues(left, right, collation = "BINARY") {
  if (left === right) return 0;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return kind - kindOf(right);
  if (kind === 2) return compareTexts(compared[collation](String(left)), compared[collation](String(right)));
  if (kind === 3) return compareBytes(/** @type {Uint8Array} */ (left), /** @type {Uint8Array} */ (right));
  // Numbers and bigints compare exactly.
  return /** @type {any} */ (left) < /** @type {any} */ (right) ? -1 : /** @type {any} */ (left) > /** @type {any} */ (right) ? 1 : 0;
}

/** @param {SQLValue} value */
function kindOf(value) {
  if (value === null) return 0;
  if (typeof value === "string") return 2;
  return typeof value === "object" ? 3 : 1;
}

/**
 * Compares texts by their bytes in UTF-8, which is the order of code points. JavaScript's own order is that of UTF-16.
 *
 * @param {string} left @param {string} right
 */
function compareTexts(left, right) {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one !== other) return rank(one) - rank(other);
  }
  return left.length - right.length;
}

/**
 * The rank of a UTF-16 unit. Surrogates come last, because they stand for the highest code points.
 *
 * @param {number} unit
 */
function rank(unit) {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** @param {Uint8Array} left @param {Uint8Array} right */
function compareBytes(left, right) {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) if (left[index] !== right[index]) return left[index] - right[index];
  return left.length - right.length;
}
