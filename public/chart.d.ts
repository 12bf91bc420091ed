/**
 * `<live-chart>`: what `freshet/chart`, the module `live-chart.js`, defines and exports. docs/javascript.md says how to
 * use it.
 *
 * Tests/WebTests/types.ts holds `live-chart.js` to these declarations.
 */
import type { ChangeEvent, Client, ListOptions, LiveList, ListStatus, Query, Row } from "./freshet.js";

export interface LiveChartEventMap {
  /** Enter, or a click, on a bar or a point. It bubbles. */
  activate: CustomEvent<{ row: Row }>;
  /** The list has another state. */
  update: CustomEvent<ChangeEvent>;
  /** The rows are those of `query`, for the first time since it was set. */
  answered: CustomEvent<void>;
  status: CustomEvent<ListStatus>;
  /** The query was refused, for one. */
  error: ErrorEvent;
}

/** The few words that charts say. */
export interface LiveChartTexts {
  loading: string;
  empty: string;
  noColumn: (name: string, columns: readonly string[]) => string;
  cut: (shown: number, total: number) => string;
  unplaced: (count: number) => string;
  hiddenSeries: (count: number) => string;
  about: (label: string, points: number, series: number) => string;
}

export class LiveChartElement extends HTMLElement {
  static observedAttributes: string[];
  /** To be changed for other languages, before the first chart is made. */
  static texts: LiveChartTexts;

  /** A connection to share, instead of `src`; it stays open when the chart goes. */
  get client(): Client | null;
  set client(client: Client | null);
  /** Changing it leads from the values on the screen to those of the new query. JSON is taken as well. */
  get query(): Query | null;
  set query(query: Query | string | null);
  /** Options of the next list that begins, except its window: the first `limit` rows. */
  listOptions: ListOptions;
  /** How values are written; null: as numbers of the page's language, with six digits at most. */
  get format(): ((value: number) => string) | null;
  set format(format: ((value: number) => string) | null);

  /** The subscription, while the element is in a document and has a query. */
  readonly list: LiveList | null;
  readonly status: ListStatus;

  addEventListener<T extends keyof LiveChartEventMap>(
    type: T, listener: (this: LiveChartElement, event: LiveChartEventMap[T]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener<T extends Exclude<keyof HTMLElementEventMap, keyof LiveChartEventMap>>(
    type: T, listener: (this: LiveChartElement, event: HTMLElementEventMap[T]) => void, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: any, options?: boolean | EventListenerOptions): void;
}

/** Its attributes, for templates that are checked. */
export interface LiveChartAttributes {
  /** The address of the socket, relative to the page; `v1/live` without it. */
  src?: string;
  /** The query, as JSON. */
  query?: string;
  /** The chart's name for assistive technology. */
  label?: string;
  token?: string;
  /** `line` where all values of `x` are dates, `bar` otherwise. */
  type?: "bar" | "line";
  /** The column along the axis: the first one without it. */
  x?: string;
  /** The column of values: the last one without it. */
  y?: string;
  /** A column whose values are series, each with a colour and a pattern of its own. */
  series?: string;
  /**
   * `zero`: dates between the first and the last that no row has, and missing values, are 0; lines have gaps otherwise.
   */
  missing?: "zero";
  /** Rows that are drawn at most, 1000 without it. */
  limit?: number | string;
}

declare global {
  interface HTMLElementTagNameMap {
    "live-chart": LiveChartElement;
  }
}
