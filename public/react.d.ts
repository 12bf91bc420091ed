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
/** The provider's client, for `transact`. */
export function useFreshet(): Client | null;

export interface LiveQueryOptions {
  /** Instead of the provider's. */
  client?: Client;
  /** The rows whose contents are wanted; without it every row's. */
  window?: Window;
  /** Milliseconds between two patches at least. */
  minInterval?: number;
  /** Suspends until the first rows are there. */
  suspense?: boolean;
  /** Throws a refused query's error to the next error boundary, instead of returning it. */
  throwErrors?: boolean;
}

/** The same object until something in it changes. */
export interface LiveQuery<R extends object = Row, K extends Key = Key> {
  /** The newest state. A row that did not change is the same object in two states. */
  readonly state: ListState<R, K>;
  /** The rows that are held, in order: those of the window. */
  readonly rows: readonly Readonly<R>[];
  readonly sections: readonly Section[];
  /** Rows of the result, held or not. */
  readonly total: number;
  readonly totals: Readonly<Record<string, SQLValue>>;
  readonly alongside: Readonly<Record<string, SQLValue>>;
  /** The status of the list that is shown; `closed` without a query. */
  readonly status: ListStatus;
  /** Why the query was refused, or why the list waits; null when all is well. */
  readonly error: FreshetError | null;
  /** Whether what is shown is not yet the answer to this query and window: nothing, or the rows of the one before. */
  readonly isPending: boolean;
  /** For `locate` and `fetch`; null before the component is mounted. Its queries and windows are the hook's. */
  readonly list: LiveList<R, K> | null;
}

/**
 * Follows a query for as long as the component is mounted. The query may be written in place: what counts is what it
 * says. When it or the window changes, the rows stay until the new ones are there. With null nothing is followed.
 */
export function useLiveQuery<R extends object = Row, K extends Key = Key>(query: Query | null, options?: LiveQueryOptions): LiveQuery<R, K>;

/** `<live-list>` and `<live-chart>` in JSX. React 18 sets attributes alone; the rest is set through a `ref`. */
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
