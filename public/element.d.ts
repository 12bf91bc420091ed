/**
 * `<live-list>`: what `freshet/element`, the module `live-list.js`, defines and exports. docs/javascript.md says how to
 * use it.
 *
 * Tests/WebTests/types.ts holds `live-list.js` to these declarations.
 */
export { connect, sql } from "./freshet.js";

import type { ChangeEvent, Client, IndexPath, ListOptions, LiveList, ListStatus, Query, Row, Section } from "./freshet.js";

/** The row that an element in the list shows. */
export interface ShownRow { row: Row; key: string; path: IndexPath | null; offset: number }

export interface LiveListEventMap {
  /** Enter, or a click on the row outside its controls. It bubbles. */
  activate: CustomEvent<ShownRow>;
  /** The list has another state. */
  update: CustomEvent<ChangeEvent>;
  /** The rows are those of `query`, for the first time since it was set. */
  answered: CustomEvent<void>;
  /** A key leads beyond the rows of a `partial` list. It takes effect as soon as the list is not partial any more. */
  awaited: CustomEvent<void>;
  /** `visibleRange`, after it changed. */
  range: CustomEvent<{ first: number; last: number }>;
  status: CustomEvent<ListStatus>;
  /** An error, such as a refused query. */
  error: ErrorEvent;
}

/** The texts that lists show. */
export interface LiveListTexts {
  loading: string;
  empty: string;
  sections: string;
  totals: string;
  rows: (count: number) => string;
  firstRows: (count: number) => string;
  awaited: string;
  stale: {
    reconnecting: string;
    reconnectingIn: (seconds: number) => string;
    resuming: string;
    signedOut: string;
    refused: (message: string) => string;
    changing: (message: string) => string;
    changingWithoutRows: (message: string) => string;
    waiting: (message: string) => string;
    failed: (message: string) => string;
  };
}

export class LiveListElement extends HTMLElement {
  static observedAttributes: string[];
  /** The texts. Change them for other languages before the first list is made. */
  static texts: LiveListTexts;

  /** A connection to share between lists, in place of `src`. It stays open when they are removed. */
  get client(): Client | null;
  set client(client: Client | null);
  /**
   * The query. After a change, the rows on the screen move to those of the new query. Setting it to JSON text also
   * works.
   */
  get query(): Query | null;
  set query(query: Query | string | null);
  /** Options of the next list that begins, except its window, which follows the view. */
  listOptions: ListOptions;
  /** An element of the page with column headers, which stays above the rows. */
  get header(): HTMLElement | null;
  set header(header: HTMLElement | null);
  /**
   * Whether the query has only the first rows of a longer list: the last section's count shows that ("200+"), and it is
   * announced to assistive technology.
   */
  get partial(): boolean;
  set partial(isPartial: boolean);
  /** Called after the template has been filled, when a row is first shown and whenever its values change. */
  renderRow: ((element: HTMLElement, row: Row, place: { offset: number; path: IndexPath }) => void) | null;
  /** As above, for headers, also when totals of the section change. */
  renderSection: ((element: HTMLElement, section: Section) => void) | null;
  /** Used in place of the templates among the children. */
  rowTemplate: HTMLTemplateElement | null;
  sectionTemplate: HTMLTemplateElement | null;

  /** The subscription, while the element is in a document and has a query. */
  readonly list: LiveList | null;
  readonly status: ListStatus;
  /** Offsets of the rows in view, `last` excluded. */
  readonly visibleRange: { first: number; last: number };
  /** The row that keys act on. */
  readonly activeRow: { offset: number; key: string | null } | null;
  /** The row that an element is in; null outside the rows. */
  rowAt(element: Element | null): ShownRow | null;
  /** Gives the active row the focus. */
  focus(options?: FocusOptions): void;
  /** Makes a row the active one: it comes into view, with the focus. */
  focusRow(offset: number): void;
  scrollToSection(section: number): void;
  scrollToOffset(offset: number): void;
  /** Resolves to whether the row exists. */
  scrollToKey(key: any): Promise<boolean>;

  addEventListener<T extends keyof LiveListEventMap>(
    type: T, listener: (this: LiveListElement, event: LiveListEventMap[T]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener<T extends Exclude<keyof HTMLElementEventMap, keyof LiveListEventMap>>(
    type: T, listener: (this: LiveListElement, event: HTMLElementEventMap[T]) => void, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: any, options?: boolean | EventListenerOptions): void;
}

/** Its attributes, for type-checked templates. */
export interface LiveListAttributes {
  /** The address of the socket, relative to the page; `v1/live` without it. */
  src?: string;
  /** The query, as JSON. */
  query?: string;
  /** The name of the list, for assistive technology. */
  label?: string;
  token?: string;
  /** Hides the section index. */
  noindex?: "" | undefined;
  /** Makes the list as high as the browser window. */
  fill?: "" | undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "live-list": LiveListElement;
  }
}
