// @ts-check
/** The point of a chart that is selected by keys or the pointer: a ring around it, and its values in words. */

/** @typedef {import("./model.js").ChartModel} ChartModel */
/** @typedef {import("./drawing.js").Drawing} Drawing */

export class ChartCursor {
  /** @type {ChartModel | null} */
  #model = null;
  /**
   * The keys of the point and the series, because their positions may change.
   *
   * @type {{point: string, series: string} | null}
   */
  #at = null;
  #tip = document.createElement("div");
  #mark = document.createElement("div");

  /**
   * @param {HTMLElement} plot @param {Drawing} drawing @param {(value: number) => string} format
   * @param {object} handlers
   * @param {(sentence: string) => void} handlers.say @param {(point: number, series: number) => void} handlers.activate
   */
  constructor(plot, drawing, format, handlers) {
    this.plot = plot;
    this.drawing = drawing;
    this.format = format;
    this.handlers = handlers;
    this.#tip.className = "chart-tip";
    this.#mark.className = "chart-cursor";
    for (const element of this.elements) {
      element.hidden = true;
      element.setAttribute("aria-hidden", "true");
    }
    plot.addEventListener("keydown", (event) => this.#keyDown(event));
    plot.addEventListener("pointermove", (event) => this.#point(event));
    plot.addEventListener("pointerleave", () => this.#go(null));
    plot.addEventListener("blur", () => this.#go(null));
    plot.addEventListener("click", (event) => {
      this.#point(event);
      this.#activate();
    });
  }

  get elements() {
    return [this.#mark, this.#tip];
  }

  /** @param {ChartModel} model */
  show(model) {
    this.#model = model;
    this.place();
  }

  get #indices() {
    const point = this.#model?.points.findIndex(({ key }) => key === this.#at?.point) ?? -1;
    const place = this.#model?.series.findIndex(({ key }) => key === this.#at?.series) ?? -1;
    return point < 0 || place < 0 ? null : { point, place };
  }

  /** @param {{point: number, place: number} | null} indices */
  #go(indices) {
    const point = indices && this.#model?.points[indices.point];
    const series = indices && this.#model?.series[indices.place];
    this.#at = point && series ? { point: point.key, series: series.key } : null;
    this.place();
  }

  /** Puts the ring and the words where their point is drawn. */
  place() {
    const { drawing, plot } = this;
    const indices = this.#indices;
    for (const element of this.elements) element.hidden = !indices || !drawing.geometry;
    if (!indices || !drawing.geometry) return;
    const [x, y] = drawing.geometry.anchor(indices.point, indices.place);
    this.#mark.style.translate = `${x}px ${y}px`;
    this.#tip.replaceChildren(...this.#lines(indices).map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    const isRight = x > plot.clientWidth / 2;
    this.#tip.style.translate = `${isRight ? x - 12 - this.#tip.offsetWidth : x + 12}px ${Math.max(0, y - 12 - this.#tip.offsetHeight)}px`;
  }

  /**
   * @param {{point: number, place: number}} indices
   * @returns {string[]} a title, and a line for the value; of lines, for that of each series
   */
  #lines({ point, place }) {
    const { points, series, type } = /** @type {ChartModel} */ (this.#model);
    const shown = type === "line" ? series : [series[place]];
    return [points[point].title, ...shown.map(({ title, values }) => {
      const value = values[point];
      return `${title}: ${value === null ? "–" : this.format(value)}`;
    })];
  }

  /** @param {MouseEvent} event */
  #point({ clientX, clientY }) {
    const { geometry, svg } = this.drawing;
    if (!geometry || !this.#model?.points.length) return;
    const { left, top } = svg.getBoundingClientRect();
    const [point, place] = geometry.nearest(clientX - left, clientY - top);
    this.#go({ point, place });
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const { points, series, type } = this.#model ?? { points: [], series: [], type: "bar" };
    const { key, ctrlKey, metaKey, altKey } = event;
    if (points.length === 0 || ctrlKey || metaKey || altKey) return;
    if (key === "Enter") this.#activate();
    else if (key === "Escape" && this.#at) this.#go(null);
    else {
      const next = moved(key, this.#indices, points.length, series.length, type === "line");
      if (!next) return;
      this.#go(next);
      this.handlers.say(this.#lines(next).join(", "));
      this.#scrollIntoView(next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {{point: number, place: number}} indices */
  #scrollIntoView({ point, place }) {
    const [, y] = this.drawing.geometry?.anchor(point, place) ?? [0, 0];
    const { plot } = this;
    if (y < plot.scrollTop + 30) plot.scrollTop = y - 30;
    else if (y > plot.scrollTop + plot.clientHeight - 30) plot.scrollTop = y + 30 - plot.clientHeight;
  }

  #activate() {
    const indices = this.#indices;
    if (indices) this.handlers.activate(indices.point, indices.place);
  }
}

/**
 * Moves from point to point along the axis, and from series to series across it.
 *
 * @param {string} key @param {{point: number, place: number} | null} from null: nowhere yet @param {number} points
 * @param {number} series
 * @param {boolean} isAcross whether points stand side by side
 */
export function moved(key, from, points, series, isAcross) {
  const along = isAcross ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const across = isAcross ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const place = from?.place ?? 0;
  if (key === "Home") return { point: 0, place };
  if (key === "End") return { point: points - 1, place };
  const [step, turn] = [along, across].map((keys) => [-1, 1][keys.indexOf(key)] ?? 0);
  if (step === 0 && turn === 0) return null;
  if (!from) return { point: step < 0 ? points - 1 : 0, place: 0 };
  return { point: Math.max(0, Math.min(points - 1, from.point + step)), place: Math.max(0, Math.min(series - 1, place + turn)) };
}
