/**
 * Freshet's JavaScript client: live, sectioned lists from a Freshet server.
 *
 * Tests/WebTests/types.ts holds `freshet.js` to these declarations.
 */

/** SQLite's values. Integers beyond 2^53 are `bigint`s, BLOBs are `Uint8Array`s; both ways. */
export type SQLValue = string | number | bigint | null | Uint8Array;
/** Column to value; the same object for as long as the row has not changed. */
export type Row = Readonly<Record<string, any>>;
/** Where a row stands: section and place in it, both from 0. */
export type IndexPath = [section: number, item: number];
/** A range of offsets in the whole result, sections ignored. */
export interface Window { offset: number; limit: number }
export interface Section {
  /** The section's value itself. */
  readonly name: SQLValue;
  /** A short title to jump by. */
  readonly indexTitle: string;
  /** Its rows, whether held or not. */
  readonly count: number;
}
/** A message of docs/protocol.md, as parsed. */
export type Message = Record<string, any>;

/** A piece of SQL: its own text, or sql`…` with values in it. */
export type Fragment = string | SQLFragment;
/** The parts of one SELECT, and how to cut it into sections (docs/protocol.md, 2); or `name` and `params` of a published query. */
export interface Query {
  from?: Fragment;
  select?: Fragment[];
  where?: Fragment | null;
  groupBy?: Fragment[];
  having?: Fragment | null;
  sectionBy?: Fragment | { by: Fragment; order?: "ASC" | "DESC"; name?: Fragment; indexTitle?: Fragment } | null;
  orderBy?: Fragment[];
  limit?: number | null;
  key?: Fragment[];
  alongside?: Record<string, Fragment>;
  /** Seconds after which it is run again whatever happened: for queries that depend on the time. */
  refreshEvery?: number;
  name?: string;
  params?: Record<string, any> | any[];
}
export type Statement = Fragment | { sql: Fragment; params?: Record<string, any> | any[] };

export interface ClientOptions {
  /**
   * Says who the client is: sent in the message `authenticate`, first thing on every connection. A function is asked before every
   * attempt to connect, and again before the token expires. One that is refused is an event `error` of the client.
   */
  token?: string | (() => string | Promise<string>);
  /** Instead of the global one: where there is none, and in tests. */
  WebSocket?: any;
}
export interface ListOptions {
  /** The rows whose contents are wanted; every row's when there is none. */
  window?: Window;
  /** Milliseconds between two patches at least. */
  minInterval?: number;
}

/**
 * Connects to a server, and again whenever the connection breaks.
 *
 * @param url the server's address, `http:` or `ws:`, with the path it is mounted at; the page's own server without it
 */
export function connect(url?: string | URL, options?: ClientOptions): Client;

/** One connection, shared by any number of lists. */
export class Client extends EventTarget {
  private constructor();
  readonly url: string;
  readonly status: "connecting" | "live" | "reconnecting" | "closed";
  /** What the server said of itself: `{server, epoch, limits}`; null before the first time. */
  readonly hello: Message | null;
  /** When the next attempt to connect begins (as `Date.now()`); null when none is waited for. */
  readonly retryAt: number | null;
  /** A list that follows a query until it is closed. Throws a TypeError for values that SQLite does not have. */
  subscribe(query: Query, options?: ListOptions): LiveList;
  /**
   * Writes, all statements in one transaction or none. A list whose `state.commit` has reached `commit` shows the write.
   * Rejected with what the server says, or with `disconnected`; unless that is retryable, it may have been written.
   */
  transact(statements: Statement | Statement[]): Promise<{ changes: number; commit: number }>;
  /** Milliseconds to the server and back. */
  ping(): Promise<number>;
  /** Tries to connect now instead of later. */
  retry(): void;
  /** Ends the connection, and every list with it. */
  close(): void;
  /** `status`: it changed. `error`: something that concerns no list. */
  addEventListener(type: "status", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/**
 * `connecting`: there is no connection yet. `loading`: the result is on its way. `live`. `reconnecting`: what is shown
 * may be old. `failed`: the server refused the query, see `error`; `requery` with a better one goes on. `closed`.
 */
export type ListStatus = "connecting" | "loading" | "live" | "reconnecting" | "failed" | "closed";

/** One query, followed. What arrives replaces the state as a whole; whoever keeps an older one still has it. */
export class LiveList extends EventTarget {
  private constructor();
  /** The newest state; these below are its. */
  readonly state: ListState;
  readonly sections: readonly Section[];
  readonly total: number;
  readonly window: Window | null;
  readonly alongside: Readonly<Record<string, SQLValue>>;
  at(offset: number): Row | undefined;
  row(path: IndexPath): Row | undefined;
  path(key: SQLValue | SQLValue[]): IndexPath | null;

  readonly status: ListStatus;
  /** The last error; null since the list is live again. */
  readonly error: FreshetError | null;
  /** Rows that have come, of those to come, while the list is loading. */
  readonly progress: { loaded: number; total: number };
  /** The query that is followed, as it was given. */
  readonly query: Query;
  /**
   * Wants other rows' contents. While one window is being fetched, the last one wanted is remembered and asked for next,
   * so that fast scrolling asks for what is in view by then; the promise is kept when that one is there.
   */
  setWindow(window: Window): Promise<ListState>;
  /** Rows of anywhere; the window stays where it is. */
  fetch(window: Window): Promise<Row[]>;
  /** Where the row with a key is, whether its contents are held or not. A key of several columns is an array. */
  locate(key: SQLValue | SQLValue[]): Promise<{ path: IndexPath; offset: number } | { path: null; offset: null }>;
  /**
   * Follows another query from now on. When it is about the same rows (`from`, `select` and `key` are the same), a patch
   * leads from the old result to the new one. Refused, the promise is rejected and the old one is followed as before.
   */
  requery(query: Query, options?: { window?: Window }): Promise<ListState>;
  /** Asks for everything anew; the list does so itself when its count differs from the server's. */
  resync(): void;
  /** Ends it, for good. */
  close(): void;
  /** States, newest first: who is slow gets fewer. Ends when the list is closed, throws its error when it fails. */
  [Symbol.asyncIterator](): AsyncGenerator<ListState, void, void>;
  /** `change`: there is another state. `status`, `progress`: those changed. `error`: the server refused something. */
  addEventListener(type: "change", listener: (event: ChangeEvent) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "status" | "progress", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/** One state of a list. Immutable; shares what has not changed with the one before, sections and rows as well. */
export class ListState {
  private constructor();
  readonly sections: readonly Section[];
  /** Rows of the result, held or not. */
  readonly total: number;
  /** The rows whose contents are held; null: all of them. */
  readonly window: Window | null;
  /** In the order of the query, key columns first. */
  readonly columns: readonly string[];
  /** The columns that identify a row. */
  readonly key: readonly string[];
  readonly alongside: Readonly<Record<string, SQLValue>>;
  /** An opaque name; null before anything has come. */
  readonly version: string | null;
  /** Of the database: never falls while the server's epoch is the same; -1 before anything has come. */
  readonly commit: number;
  /** Whether every row of the window is here. */
  readonly isComplete: boolean;
  /** Rows whose contents are held. */
  readonly heldCount: number;
  /** The row at an offset of the whole result, in O(log n); undefined when its contents are not held. */
  at(offset: number): Row | undefined;
  /** The row at an index path; undefined when its contents are not held. */
  row(path: IndexPath): Row | undefined;
  /**
   * Where a held row stands; null when no held row has the key (`LiveList.locate` asks the server). The first call on a
   * state looks at all held rows, later ones at a table.
   */
  path(key: SQLValue | SQLValue[]): IndexPath | null;
  /** What identifies a row, as one string. */
  keyOf(row: Row): string;
  /** Null beyond the end. */
  pathOf(offset: number): IndexPath | null;
  /** Null when there is no such row. */
  offsetOf(path: IndexPath): number | null;
  /** Held rows with their offsets, ascending. */
  entries(): IterableIterator<[number, Row]>;
}

/** What a message did to the rows in the window. */
export interface Changes {
  /** New offsets of rows that were not in the result before. */
  inserted: number[];
  /** New offsets of rows that stood elsewhere. */
  moved: number[];
  /** Rows whose contents changed, moved ones too, by new offset. */
  updated: { offset: number; columns: string[] }[];
  /** Where a row of before is now; for one that is gone or was moved, where the next row that is neither is now. */
  newOffset(offset: number): number;
}

/** The event `change` of a list. */
export class ChangeEvent extends Event {
  private constructor();
  /** A snapshot replaces everything; rows bring contents and change nothing else. */
  readonly kind: "snapshot" | "rows" | "patch";
  /** The patch as the server sent it (docs/protocol.md, 3.3); null for another kind. */
  readonly patch: Message | null;
  readonly before: ListState;
  readonly after: ListState;
  readonly changes: Changes;
}

/** What the server refused, or what became of the connection. */
export class FreshetError extends Error {
  private constructor();
  /** One of docs/protocol.md, 5; or `disconnected`, `closed`. */
  readonly code: string;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;
  /** Whether the subscription is over. */
  readonly fatal: boolean;
}
/** The event `error` of lists and clients. */
export class FreshetErrorEvent extends Event {
  private constructor();
  readonly error: FreshetError;
}

/** Text of SQL with values in its gaps. */
export class SQLFragment {
  private constructor();
  /** One more than `values`. */
  readonly strings: readonly string[];
  readonly values: readonly any[];
}
/**
 * A template tag that keeps text and values apart: sql`county = ${county}`. A value becomes a parameter, an array a list
 * in parentheses (sql`id IN ${[1, 2]}`), another fragment is put in as it is.
 */
export function sql(strings: TemplateStringsArray | readonly string[], ...values: any[]): SQLFragment;
export namespace sql {
  /** A name of a table or column that is known only at run time, quoted. */
  function identifier(name: string): SQLFragment;
  /** Fragments or values one after the other; `separator` (", ") is SQL as it is, never what somebody typed. */
  function join(parts: any[], separator?: string): SQLFragment;
}

/**
 * What is not there is not called. Paths and indexes of what is deleted, and the first path of what moves or is updated,
 * are those of before, all others those of afterwards, as `UITableView` takes them between `beginUpdates` and
 * `endUpdates`. A row whose contents are not held is undefined.
 */
export interface FetchedResultsDelegate {
  willChange?(list: LiveList): void;
  didChangeSection?(section: Section, index: number, type: "insert" | "delete"): void;
  didChangeObject?(
    row: Row | undefined, path: IndexPath | null, type: "insert" | "delete" | "move" | "update", newPath: IndexPath | null): void;
  didChange?(list: LiveList): void;
  /** Everything is another now: a snapshot came. */
  didReload?(list: LiveList): void;
}
/**
 * Tells a delegate of every change as `NSFetchedResultsController` does: sections first, then rows, those of sections
 * that come or go as well. What it returns stops it.
 */
export function fetchedResults(list: LiveList, delegate: FetchedResultsDelegate): () => void;

/** Realm's shape. Offsets in the whole result, ascending; a move is a deletion and an insertion. */
export interface ChangeSet {
  /** Offsets of before. */
  deletions: number[];
  /** Offsets of afterwards. */
  insertions: number[];
  /** Offsets of before. */
  oldModifications: number[];
  /** Offsets of afterwards. */
  newModifications: number[];
  /** Indexes of before. */
  sectionsToDelete: number[];
  /** Indexes of afterwards. */
  sectionsToInsert: number[];
}
/** What a change did, all at once; null when it was no patch. */
export function changeSet(event: ChangeEvent): ChangeSet | null;

/**
 * Firestore's shape. `oldIndex` is where the row stands when all changes before this one have been done, -1 for one that
 * comes; `newIndex` where it then is, -1 for one that goes. Taking it out at the one and putting it in at the other, in
 * turn, leads to the new result. Offsets in the whole result; a row whose contents are not held is undefined.
 */
export interface DocumentChange {
  type: "added" | "modified" | "removed";
  row: Row | undefined;
  oldIndex: number;
  newIndex: number;
}
/** What a change did, one after the other, in O(n log n) of the changes; null when it was no patch. */
export function documentChanges(event: ChangeEvent): DocumentChange[] | null;

/**
 * For React: `useSyncExternalStore(store.subscribe, store.getSnapshot)`, with one store for each list. A state is the
 * same object until the list changes, and so are its rows and sections: `memo` works.
 */
export function externalStore(list: LiveList): {
  subscribe(changed: () => void): () => void;
  getSnapshot(): ListState;
  getServerSnapshot(): ListState;
};
