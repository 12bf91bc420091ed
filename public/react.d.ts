/**
 * Live lists in React 18 and newer: `freshet/react`.
 *
 * Tests/WebTests/react-types.tsx holds `react.js` to these declarations.
 */
import type { DetailedHTMLProps, HTMLAttributes, ReactElement, ReactNode } from "react";
import type { LiveChartAttributes, LiveChartElement } from "./chart.js";
import type { LiveListAttributes, LiveListElement } from "./element.js";
import type { Client, FreshetError, Key, ListState, ListStatus, LiveList, Query, Row, Section, SQLValue, Window } from "./freshet.js";

/**
 * The connection of all components below. It stays open when they unmount: its creator closes it. Null without a
 * connection, as on a server that renders pages; then lists are empty.
 */
export function FreshetProvider(properties: { client: Client | null; children?: ReactNode }): ReactElement;
/** The provider's client, for example for `transact`. */
export function useFreshet(): Client | null;

export interface LiveQueryOptions {
  /** The client to use in place of the provider's. */
  client?: Client;
  /** The rows whose contents are wanted. Default: all. */
  window?: Window;
  /** The least number of milliseconds between two patches. */
  minInterval?: number;
  /** Suspends until the first rows have come. */
  suspense?: boolean;
  /** Throws a refused query's error to the next error boundary, and does not return it. */
  throwErrors?: boolean;
}

/** The same object until something in it changes. */
export interface LiveQuery<R extends object = Row, K extends Key = Key> {
  /** The newest state. A row that did not change is the same object in two states. */
  readonly state: ListState<R, K>;
  /** The held rows in order: those of the window. */
  readonly rows: readonly Readonly<R>[];
  readonly sections: readonly Section[];
  /** The number of rows in the result, held or not. */
  readonly total: number;
  readonly totals: Readonly<Record<string, SQLValue>>;
  readonly alongside: Readonly<Record<string, SQLValue>>;
  /** The status of the list that is shown; `closed` without a query. */
  readonly status: ListStatus;
  /** Why the query was refused, or why the list waits; null if neither. */
  readonly error: FreshetError | null;
  /** Whether the answer to this query and window has not come yet: the rows are empty, or those of the query before. */
  readonly isPending: boolean;
  /**
   * The list, for `locate` and `fetch`; null before the component is mounted. The hook alone sets its query and window.
   */
  readonly list: LiveList<R, K> | null;
}

/**
 * Follows a query for as long as the component is mounted. The query may be an object literal: queries are compared by
 * their contents. When it or the window changes, the rows stay until the new ones have come. With null, no query is
 * followed.
 */
export function useLiveQuery<R extends object = Row, K extends Key = Key>(query: Query | null, options?: LiveQueryOptions): LiveQuery<R, K>;

/** `<live-list>` and `<live-chart>` in JSX. React 18 sets only attributes; properties are set through a `ref`. */
type LiveListProperties = LiveListAttributes & DetailedHTMLProps<HTMLAttributes<LiveListElement>, LiveListElement> & { class?: string };
type LiveChartProperties = LiveChartAttributes & Omit<DetailedHTMLProps<HTMLAttributes<LiveChartElement>, LiveChartElement>, keyof LiveChartAttributes> & { class?: string };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "live-list": LiveListProperties;
      "live-chart": LiveChartProperties;
    }
  }
}
declare global {
  namespace JSX {
    interface IntrinsicElements {
      "live-list": LiveListProperties;
      "live-chart": LiveChartProperties;
    }
  }
}
