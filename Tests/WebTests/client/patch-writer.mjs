// The server's half of protocol 3.3 in its simplest form: makes a patch from two results. Results are small here, so
// rows that stay in order are found by trying.

export function randomNumbers(seed) {
  let state = seed * 2654435761 % 2 ** 32;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  for (let turn = 0; turn < 4; turn += 1) next();
  return (bound) => next() % bound;
}

const sectionNames = [..."ABCDEFG"];
const titleOf = (name) => (name === null ? "" : String(name).slice(0, 1).toUpperCase());

/** Sections with rows `[id, name, depth]`, sorted by name and id; no section is empty. */
export function sorted(wells) {
  return sectionNames
    .map((name) => ({ name, rows: wells.filter(({ section }) => section === name).map(({ row }) => row) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, rows }) => ({ name, rows: rows.sort((a, b) => a[1].localeCompare(b[1]) || a[0] - b[0]) }));
}

const flat = (world) => world.flatMap(({ name, rows }) => rows.map((row) => ({ section: name, row })));
const randomWell = (id, random) => ({
  section: sectionNames[random(sectionNames.length)], row: [id, String.fromCharCode(97 + random(26)), random(100)],
});

export function makeWorld(random) {
  return sorted(Array.from({ length: random(20) }, (_, id) => randomWell(id, random)));
}

/** Another result, a few changes away. */
export function changed(world, random) {
  let wells = flat(world).map(({ section, row }) => ({ section, row: [...row] }));
  for (let change = random(6); change >= 0; change -= 1) {
    const well = wells[random(Math.max(1, wells.length))];
    const kind = random(5);
    if (!well || kind === 0) wells.push(randomWell(100 + random(1_000_000), random));
    else if (kind === 1) wells = wells.filter((other) => other !== well);
    else if (kind === 2) well.row[1] = String.fromCharCode(97 + random(26));
    else if (kind === 3) well.row[2] = random(100);
    else well.section = sectionNames[random(sectionNames.length)];
  }
  return sorted(wells);
}

export function windowOf(rows, window) {
  const first = window?.offset ?? 0;
  const last = window ? first + window.limit : rows.length;
  return rows.slice(first, last).map((row, index) => [first + index, row]);
}

export const term = (column, members) => ({ column, collation: "BINARY", descending: false, nulls: "first", ...members });
/** Rows by name, in sections of its first letter. */
export const order = [term("name"), term("id")];
export const sectionOrder = term(null, { of: { column: "name", calls: [["substr", 1, 1]] }, sorted: true });

export function snapshotOf(world, window, version) {
  const rows = world.flatMap(({ rows }) => rows);
  return {
    type: "snapshot", id: "a", version, commit: 0, columns: ["id", "name", "depth"], key: ["id"], total: rows.length, order, sectionOrder,
    sections: world.map(({ name, rows }) => ({ name, indexTitle: titleOf(name), count: rows.length })),
    window, offset: window?.offset ?? 0, rows: windowOf(rows, window).map(([, row]) => row), complete: true,
  };
}

/** Every row by id: its path and its offset. */
function places(world) {
  const result = new Map();
  world.forEach(({ name, rows }, section) => rows.forEach((row, item) => {
    result.set(row[0], { name, path: [section, item], offset: result.size, row });
  }));
  return result;
}

/**
 * Ids of rows that may stay where they are: the longest common order of one section, by the textbook's dynamic program.
 */
function stayers(before, after) {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = before[i][0] === after[j][0]
        ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const ids = [];
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i][0] === after[j][0]) [ids[ids.length], i, j] = [before[i][0], i + 1, j + 1];
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return ids;
}

const differences = (before, after) => Object.fromEntries(
  ["id", "name", "depth"].flatMap((column, index) => (before[index] === after[index] ? [] : [[column, after[index]]])));

/** @returns the patch, and the the old and new offsets of rows that were neither deleted nor moved */
export function makePatch(world, next, window, from, to) {
  const [before, after] = [places(world), places(next)];
  const both = new Set(world.map(({ name }) => name).filter((name) => next.some((other) => other.name === name)));
  const rowsIn = (state, name) => state.find((section) => section.name === name).rows;
  const staying = new Set([...both].flatMap((name) => stayers(rowsIn(world, name), rowsIn(next, name))));
  const isMove = (id) => !staying.has(id) && both.has(before.get(id)?.name) && both.has(after.get(id)?.name);

  const survivors = [...staying].map((id) => [before.get(id).offset, after.get(id).offset]).sort((a, b) => a[0] - b[0]);
  const newWindow = window && shifted(window, survivors, after.size);
  const wasHeld = (id) => isInside(before.get(id)?.offset, window);
  const isWanted = (id) => isInside(after.get(id).offset, newWindow);

  const given = new Set();
  const changesOf = (id) => differences(before.get(id).row, after.get(id).row);
  const byNewPlace = [...after.keys()];
  const patch = {
    type: "patch", from, to, commit: 1, total: after.size,
    deleted: [...before].filter(([id, { name }]) => both.has(name) && !staying.has(id) && !isMove(id))
      .map(([, { path }]) => path).reverse(),
    sectionsDeleted: world.flatMap(({ name }, index) => (both.has(name) ? [] : [index])).reverse(),
    sectionsInserted: next.flatMap(({ name, rows }, index) => {
      if (both.has(name)) return [];
      if (!window) rows.forEach(([id]) => given.add(id));
      return [[index, { name, indexTitle: titleOf(name), count: rows.length, ...(window ? {} : { rows }) }]];
    }),
    inserted: byNewPlace.filter((id) => both.has(after.get(id).name) && !staying.has(id) && !isMove(id)).map((id) => {
      if (!isWanted(id)) return after.get(id).path;
      given.add(id);
      return [...after.get(id).path, after.get(id).row];
    }),
    moved: byNewPlace.filter(isMove).map((id) => {
      if (wasHeld(id)) given.add(id);
      return [before.get(id).path, after.get(id).path, wasHeld(id) ? changesOf(id) : {}];
    }),
    updated: byNewPlace.filter((id) => staying.has(id) && wasHeld(id) && isWanted(id))
      .filter((id) => Object.keys(changesOf(id)).length > 0)
      .map((id) => [before.get(id).path, after.get(id).path, changesOf(id)]),
  };
  for (const id of staying) if (wasHeld(id)) given.add(id);
  if (window) {
    patch.window = newWindow;
    patch.filled = byNewPlace.filter((id) => isWanted(id) && !given.has(id))
      .map((id) => [after.get(id).offset, after.get(id).row]);
  }
  return { patch: withoutEmpty(patch), survivors };
}

const isInside = (offset, window) =>
  offset !== undefined && (!window || (offset >= window.offset && offset < window.offset + window.limit));

/** The window's new position: it follows the first of its rows that stays, or keeps its offset as far as possible. */
function shifted(window, survivors, total) {
  if (window.offset === 0) return window;
  const first = survivors.find(([from]) => isInside(from, window));
  return { offset: first ? first[1] : Math.min(window.offset, total), limit: window.limit };
}

function withoutEmpty(patch) {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

/** Held rows of a state as arrays, with their offsets. */
export function held(state) {
  return [...state.entries()].map(([offset, row]) => [offset, state.columns.map((column) => row[column])]);
}
