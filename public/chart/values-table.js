// @ts-check
/** The chart's values as a table, for assistive technology. */

/** @typedef {import("./model.js").ChartModel} ChartModel */

export class ValuesTable {
  element = document.createElement("table");
  #caption = this.element.createCaption();
  #head = this.element.createTHead();
  #body = this.element.createTBody();

  /** @param {(value: number) => string} format */
  constructor(format) {
    this.format = format;
    this.element.className = "chart-table";
  }

  /** @param {ChartModel} model @param {string} label */
  show({ points, series, x }, label) {
    write(this.#caption, label);
    fill(this.#head, [[x, ...series.map(({ title }) => title)]], "col");
    fill(this.#body, points.map(({ title }, index) => [title, ...series.map(({ values }) => {
      const value = values[index];
      return value === null || value === undefined ? "–" : this.format(value);
    })]), "row");
  }
}

/**
 * Fills a section. Cells with the same text are not touched, so that a screen reader in one of them keeps its place.
 *
 * @param {HTMLTableSectionElement} section @param {string[][]} rows
 * @param {"col" | "row"} scope of the first cells, or of all
 */
function fill(section, rows, scope) {
  while (section.rows.length > rows.length) section.deleteRow(-1);
  for (const [index, texts] of rows.entries()) {
    const row = section.rows[index] ?? section.insertRow();
    while (row.cells.length > texts.length) row.deleteCell(-1);
    for (const [column, text] of texts.entries()) write(row.cells[column] ?? newCell(row, scope === "col" || column === 0 ? scope : null), text);
  }
}

/** @param {HTMLTableRowElement} row @param {"col" | "row" | null} scope */
function newCell(row, scope) {
  const cell = document.createElement(scope ? "th" : "td");
  if (scope) /** @type {HTMLTableCellElement} */ (cell).scope = scope;
  row.append(cell);
  return cell;
}

/** @param {Element} element @param {string} text */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
