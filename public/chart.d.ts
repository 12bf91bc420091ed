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
  /** An error, such as a refused query. */
  error: ErrorEvent;
}

/** The texts that charts show. */
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
  /** The texts. Change them for other languages before the first chart is made. */
  static texts: LiveChartTexts;

  /** A connection to share, in place of `src`. It stays open when the chart is removed. */
  get client(): Client | null;
  set client(client: Client | null);
  /**
   * The query. After a change, the values on the screen move to those of the new query. Setting it to JSON text also
   * works.
   */
  get query(): Query | null;
  set query(query: Query | string | null);
  /** Options of the next list that begins, except its window, which is the first `limit` rows. */
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

/** Its attributes, for type-checked templates. */
export interface LiveChartAttributes {
  /** The address of the socket, relative to the page; `v1/live` without it. */
  src?: string;
  /** The query, as JSON. */
  query?: string;
  /** The chart's name for assistive technology. */
  label?: string;
  token?: string;
  /** Default: `line` if all values of `x` are dates, otherwise `bar`. */
  type?: "bar" | "line";
  /** The column along the axis. Default: the first one. */
  x?: string;
  /** The column of values. Default: the last one. */
  y?: string;
  /** A column whose values are series, each with a colour and a pattern of its own. */
  series?: string;
  /**
   * `zero`: missing values, and dates between the first and the last that no row has, count as 0. Otherwise lines have
   * gaps.
   */
  missing?: "zero";
  /** The most rows that are drawn. Default: 1000. */
  limit?: number | string;
}

declare global {
  interface HTMLElementTagNameMap {
    "live-chart": LiveChartElement;
  }
}
