/**
 * Freshet's JavaScript client: live, sectioned lists from a Freshet server.
 *
 * Tests/WebTests/types.ts holds `freshet.js` to these declarations.
 */

/** SQLite's values. Integers beyond 2^53 are `bigint`s, BLOBs are `Uint8Array`s; both ways. */
export type SQLValue = string | number | bigint | null | Uint8Array;
/** Column to value; the same object for as long as the row has not changed. */
export type Row = Readonly<Record<string, any>>;
/** Identifies a row: the value of its key column, or an array of values for a key of several columns. */
export type Key = SQLValue | SQLValue[];
/** The names of a row's columns. */
export type Column<R extends object> = Extract<keyof R, string>;
/** Where a row stands: section and place in it, both from 0. */
export type IndexPath = [section: number, item: number];
/** A range of offsets in the whole result, sections ignored. */
export interface Window { offset: number; limit: number }
export interface Section {
  /** The section's value itself. */
  readonly name: SQLValue;
  /** A short title for the section index. */
  readonly indexTitle: string;
  /** Its rows, whether held or not. */
  readonly count: number;
  /** The query's `totals` of its rows, if the query has any. */
  readonly totals?: Readonly<Record<string, SQLValue>>;
}
/** A message of docs/protocol.md, as parsed. */
export type Message = Record<string, any>;
/** A value as JSON carries it: large integers and BLOBs are objects. */
export type WireValue = string | number | null | { $int: string } | { $blob: string };
/** A row as a message carries it: values in the order of `columns`. */
export type WireRow = WireValue[];
/** Columns that changed, with their new values. */
export type WireChanges<R extends object = Row> = { readonly [C in Column<R>]?: WireValue };
/**
 * A patch as the server sent it: docs/protocol.md, 3.3. Absent members are empty. Rows and changes outside the window
 * are absent.
 */
export interface Patch<R extends object = Row> {
  readonly type: "patch";
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly commit: number;
  readonly total: number;
  readonly deleted?: readonly IndexPath[];
  readonly sectionsDeleted?: readonly number[];
  readonly sectionsInserted?: readonly [index: number, section: Section & { readonly rows?: readonly WireRow[] }][];
  readonly inserted?: readonly [section: number, item: number, row?: WireRow][];
  readonly moved?: readonly [from: IndexPath, to: IndexPath, changes?: WireChanges<R>][];
  readonly updated?: readonly [from: IndexPath, to: IndexPath, changes: WireChanges<R>][];
  readonly window?: Window;
  readonly filled?: readonly [offset: number, row: WireRow][];
  readonly totals?: Readonly<Record<string, WireValue>>;
  readonly sectionTotals?: readonly [section: number, changes: Readonly<Record<string, WireValue>>][];
  readonly alongside?: Readonly<Record<string, WireValue>>;
}

/** A piece of SQL: its own text, or sql`…` with values in it. */
export type Fragment = string | SQLFragment;
/**
 * The parts of one SELECT, and how to cut it into sections (docs/protocol.md, 2); or `name` and `params` of a published
 * query.
 */
export interface Query {
  from?: Fragment;
  /**
   * A whole SELECT, instead of `from`, `select`, `where`, `groupBy` and `having`; the other members use the columns of
   * its result.
   */
  sql?: Fragment;
  select?: Fragment[];
  where?: Fragment | null;
  groupBy?: Fragment[];
  having?: Fragment | null;
  sectionBy?: Fragment | { by: Fragment; order?: "ASC" | "DESC"; name?: Fragment; indexTitle?: Fragment } | null;
  orderBy?: Fragment[];
  limit?: number | null;
  key?: Fragment[];
  /**
   * Aggregates over the rows of the list and of each section, by name: `{ n: "count(*)" }`. Not with `limit` or
   * `groupBy`.
   */
  totals?: Record<string, Fragment>;
  alongside?: Record<string, Fragment>;
  /** Seconds after which the query runs again even without changes: for queries that depend on the time. */
  refreshEvery?: number;
  name?: string;
  params?: Record<string, any> | any[];
}
/** Statements that run in one transaction, or the name of published ones. */
export type Transaction = Statement | Statement[] | { name: string; params?: Record<string, any> };
/** The outcome of a transaction. `results` is empty in the answer to a write that was sent again and had many rows. */
export interface Committed { changes: number; commit: number; results: StatementResult[] }
/**
 * The expected effect of a write on a list's rows, by the names of the list's columns. `update` has the key and the
 * columns that change, `delete` the key. An inserted row may lack its key if the database assigns it.
 */
export interface OptimisticChange {
  insert?: Row | Row[];
  update?: Row | Row[];
  delete?: Row | Row[];
}
export type Statement = Fragment | { sql: Fragment; params?: Record<string, any> | any[] };

/** The outcome of one statement of a transaction. */
export interface StatementResult {
  changes: number;
  lastInsertRowid: any;
  /** The columns of `RETURNING` or a SELECT; empty otherwise. */
  columns: string[];
  rows: Row[];
}

export interface ClientOptions {
  /** The name of one of the server's databases, where it has several. */
  database?: string;
  /**
   * Authenticates the client: sent in the message `authenticate`, first on every connection. A function is called
   * before every attempt to connect, and again before the token expires. A refused token is an event `error` of the
   * client.
   */
  token?: string | (() => string | Promise<string>);
  /** The `WebSocket` class, in place of the global one: for runtimes without one, and in tests. */
  WebSocket?: any;
}
export interface ListOptions {
  /** The rows whose contents are wanted. Default: all. */
  window?: Window;
  /** The least number of milliseconds between two patches. */
  minInterval?: number;
  /**
   * For `optimistically`: columns of the list that are computed from a table's column and sort in the same order, such
   * as `substr(well.name, 1, 300) AS name`. The names of both: `{ name: "well.name" }`. The server sends the order of
   * all other columns.
   */
  sources?: Record<string, string>;
}

/**
 * Connects to a server, and reconnects whenever the connection breaks.
 *
 * @param url the server's address, `http:` or `ws:`, with the path it is mounted at; default: the page's own server
 */
export function connect(url?: string | URL, options?: ClientOptions): Client;

/** One connection, shared by any number of lists. */
export class Client extends EventTarget {
  private constructor();
  readonly url: string;
  /**
   * `refused`: the server is up and refuses the connection, see `error`. The client tries again, as when
   * `reconnecting`.
   */
  readonly status: "connecting" | "live" | "reconnecting" | "refused" | "closed";
  /** The server's last greeting: `{server, epoch, limits}`; null before the first time. */
  readonly hello: Message | null;
  /** When the next attempt to connect begins (as `Date.now()`); null if none is scheduled. */
  readonly retryAt: number | null;
  /**
   * Why the server refuses the client: its token expired or was refused (`unauthenticated`), or the connection was
   * refused (`refused`, for example because of the page's origin). Null once the server accepts it.
   */
  readonly error: FreshetError | null;
  /**
   * A list that follows a query until it is closed. Throws a TypeError for values that SQLite does not have.
   *
   * `subscribe<Order>(…)` declares the type of its rows, `subscribe<Order, number>(…)` also that of their key. It is
   * not checked that the query selects such rows.
   */
  subscribe<R extends object = Row, K extends Key = Key>(query: Query, options?: ListOptions): LiveList<R, K>;
  /**
   * Runs all statements in one transaction. A list whose `state.commit` has reached `commit` shows the write. `results`
   * has each statement's changes, and the rows of its `RETURNING`.
   *
   * Before the client's first connection the transaction waits for that, at most 20 s. While the client reconnects it
   * fails at once. Rejected with the server's error, or with `disconnected`; unless the error is retryable, the
   * transaction may have been written.
   */
  transact(transaction: Transaction): Promise<Committed>;
  /** The time of a round trip to the server, in milliseconds. Waits for the first connection as `transact` does. */
  ping(): Promise<number>;
  /** Tries to connect now instead of later. */
  retry(): void;
  /**
   * Every change of the file's rows, by any program. The feed continues after broken connections, and ends with its
   * loop.
   */
  changes(options?: ChangesOptions): ChangeFeed;
  /** Ends the connection, and every list with it. */
  close(): void;
  /** `status`: it changed, or a token was accepted after a refusal. `error`: an error that concerns no list. */
  addEventListener(type: "status", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/**
 * `connecting`: there is no connection yet. `loading`: the result is loading. `live`. `reconnecting`: the connection
 * broke, and the rows may be out of date. `waiting`: the server cannot answer the query at the moment (its table is
 * being changed, the server is overloaded, a token is missing: see `error`), and the rows are older; the list continues
 * by itself. `failed`: the server refused the query, see `error`; the list continues after a `requery` with a valid
 * one. `closed`.
 */
export type ListStatus = "connecting" | "loading" | "live" | "reconnecting" | "waiting" | "failed" | "closed";

/** The changes to receive. */
export interface ChangesOptions {
  /** Default: all tables that the client may read. */
  tables?: string[];
  /** By table, the columns that changes contain. */
  columns?: Record<string, string[]>;
  /** By table, SQL that is true for the rows whose changes are wanted. */
  where?: Record<string, string>;
  /** The position of an earlier change, to continue after it. */
  since?: string;
}

export interface RowChange {
  table: string;
  /** `schema`: the table was created, dropped or altered, and has to be read again. */
  op: "insert" | "update" | "delete" | "schema";
  key?: Readonly<Row>;
  /** The changed columns of an update, the row of a deletion; absent where it is unknown. */
  old?: Readonly<Row>;
  /** All requested columns. */
  new?: Readonly<Row>;
}

export interface DatabaseChange {
  /** The position to continue from later. */
  position: string;
  commit?: number;
  /**
   * More than 1 if several commits could only be seen together: then `old` is a row's state before all of them, and
   * `new` after.
   */
  commits?: number;
  /** Why the changes before the position are unknown: read the tables again, and continue. */
  gap?: string;
  changes: RowChange[];
}

/**
 * The commits in their order. The server waits for a slow loop. If that takes too long, the loop gets a `gap`.
 */
export class ChangeFeed implements AsyncIterable<DatabaseChange> {
  private constructor();
  /** The position of the last change that the loop has received. */
  readonly position: string | null;
  /** Throws if the server refuses the request, or the client is closed. */
  [Symbol.asyncIterator](): AsyncGenerator<DatabaseChange, void, void>;
  /** Ends the feed. */
  close(): void;
}

/** A query that is followed. Each change replaces the state as a whole; older states do not change. */
export class LiveList<R extends object = Row, K extends Key = Key> extends EventTarget {
  private constructor();
  /** The newest state. The properties below are the state's. */
  readonly state: ListState<R, K>;
  readonly sections: readonly Section[];
  readonly total: number;
  readonly window: Window | null;
  readonly totals: Readonly<Record<string, SQLValue>>;
  readonly alongside: Readonly<Record<string, SQLValue>>;
  at(offset: number): Readonly<R> | undefined;
  row(path: IndexPath): Readonly<R> | undefined;
  path(key: K): IndexPath | null;

  readonly status: ListStatus;
  /** The last error; null once the list is live again. */
  readonly error: FreshetError | null;
  /** The numbers of rows loaded and of all rows to load, while the list is loading. */
  readonly progress: { loaded: number; total: number };
  /** The query that is followed, as it was passed. */
  readonly query: Query;
  /**
   * Requests the contents of other rows. While one window is being fetched, only the last requested one is remembered
   * and fetched next, so that fast scrolling fetches the rows that are in view by then. The promise resolves when that
   * window has come.
   */
  setWindow(window: Window): Promise<ListState<R, K>>;
  /** Fetches any rows. The window stays the same. */
  fetch(window: Window): Promise<Readonly<R>[]>;
  /**
   * Finds the position of the row with a key, even if its contents are not held. A key of several columns is an array.
   */
  locate(key: K): Promise<{ path: IndexPath; offset: number } | { path: null; offset: null }>;
  /**
   * Follows another query from now on. If `from`, `select` and `key` are the same, a patch leads from the old result to
   * the new one. If the query is refused, the promise is rejected, and the old query is still followed.
   */
  requery(query: Query, options?: { window?: Window }): Promise<ListState<R, K>>;
  /**
   * Writes, and shows the change at once: laid over the rows, at its sorted position, until the list includes the
   * write. Without a connection the write waits, with up to 1,000 others, and runs once, in order. If it is refused,
   * the change is removed and the promise is rejected with the reason. The reason is `outcome_unknown` if the
   * connection broke before the answer, and the server was replaced, so that the outcome cannot be found out.
   */
  optimistically(change: OptimisticChange, transaction: Transaction): Promise<Committed>;
  /** The changes that are laid over the rows, in their order. */
  readonly pending: readonly { change: OptimisticChange; status: "queued" | "sent" | "committed" }[];
  /** Requests the whole list again. The list does so itself when its count differs from the server's. */
  resync(): void;
  /** Ends the list. */
  close(): void;
  /**
   * The list's states. A slow loop skips to the newest. Ends when the list is closed, throws its error when it fails.
   */
  [Symbol.asyncIterator](): AsyncGenerator<ListState<R, K>, void, void>;
  /**
   * `change`: the state has changed. Its window is complete, with one exception: a first snapshot that is too long for
   * one message is shown as it comes, and until `state.isComplete`, `at` is undefined for rows that are still to come.
   * `status`, `progress`: they changed. `error`: the server refused a request or the query. `rollback`: a change of
   * `optimistically` was removed.
   */
  addEventListener(type: "rollback", listener: (event: RollbackEvent) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "change", listener: (event: ChangeEvent<R, K>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "status" | "progress", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/** An expression by which rows sort. */
export interface OrderTerm {
  /** The column's name; null: the expression is not among the columns. */
  column: string | null;
  collation: "BINARY" | "NOCASE" | "RTRIM";
  descending: boolean;
  nulls: "first" | "last";
  /**
   * The origin of an expression that is not among the columns, if it can be expressed: functions of one column, or of a
   * table's column.
   */
  of?: { column?: string; source?: string; calls?: [string, ...number[]][] };
}

/** One state of a list. Immutable. It shares unchanged sections and rows with the state before. */
export class ListState<R extends object = Row, K extends Key = Key> {
  private constructor();
  readonly sections: readonly Section[];
  /** The number of rows in the result, held or not. */
  readonly total: number;
  /** The rows whose contents are held; null: all of them. */
  readonly window: Window | null;
  /** In the order of the query, key columns first. */
  readonly columns: readonly Column<R>[];
  /** The columns that identify a row. */
  readonly key: readonly Column<R>[];
  /** The query's `totals` of all rows. They are the server's: changes of `optimistically` do not count. */
  readonly totals: Readonly<Record<string, SQLValue>>;
  readonly alongside: Readonly<Record<string, SQLValue>>;
  /** An opaque name; null before the first result. */
  readonly version: string | null;
  /** The database's commit: never decreases while the server's epoch is the same; -1 before the first result. */
  readonly commit: number;
  /** Whether all rows of the window have come. */
  readonly isComplete: boolean;
  /**
   * The order of rows within a section, ending with the key, and the order of sections. Empty if an older server does
   * not send it.
   */
  readonly order: { readonly order?: readonly OrderTerm[]; readonly sectionOrder?: OrderTerm & { sorted: boolean } };
  /** The number of rows whose contents are held. */
  readonly heldCount: number;
  /** The row at an offset of the whole result, in O(log n); undefined when its contents are not held. */
  at(offset: number): Readonly<R> | undefined;
  /** The row at an index path; undefined when its contents are not held. */
  row(path: IndexPath): Readonly<R> | undefined;
  /**
   * The position of a held row; null if no held row has the key (`LiveList.locate` asks the server). The first call on
   * a state reads all held rows; later ones use a table.
   */
  path(key: K): IndexPath | null;
  /** The key of a row, as one string. */
  keyOf(row: Readonly<R>): string;
  /**
   * For a row with changes that the server has not shown yet (`LiveList.optimistically`); null for others. `isPlaced`
   * is false if the row may belong elsewhere, because the order or the neighboring rows are unknown.
   */
  pendingOf(row: Readonly<R>): { isPlaced: boolean } | null;
  /** Null beyond the end. */
  pathOf(offset: number): IndexPath | null;
  /** Null if there is no such row. */
  offsetOf(path: IndexPath): number | null;
  /** Held rows with their offsets, ascending. */
  entries(): IterableIterator<[number, Readonly<R>]>;
}

/** The effect of a message on the rows in the window. */
export interface Changes<C extends string = string> {
  /** New offsets of rows that were not in the result before. */
  inserted: number[];
  /** New offsets of rows that moved. */
  moved: number[];
  /** Rows whose contents changed, moved ones too, by new offset. */
  updated: { offset: number; columns: C[] }[];
  /** The new offset of a former row; for a deleted or moved row, that of the next row that stayed. */
  newOffset(offset: number): number;
}

/** The event `change` of a list. */
export class ChangeEvent<R extends object = Row, K extends Key = Key> extends Event {
  private constructor();
  /** A snapshot replaces everything; `rows` only adds contents. */
  readonly kind: "snapshot" | "rows" | "patch";
  /**
   * The patch (docs/protocol.md, 3.3): the server's, or the client's own if changes of `optimistically` show; null for
   * other kinds.
   */
  readonly patch: Patch<R> | null;
  readonly before: ListState<R, K>;
  readonly after: ListState<R, K>;
  readonly changes: Changes<Column<R>>;
}

/** An error that the server sent, or an error of the connection. */
export class FreshetError extends Error {
  private constructor();
  /** A code of docs/protocol.md, 5; or `disconnected`, `closed`, `queue_full`, `outcome_unknown`. */
  readonly code: string;
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
  /** Whether the subscription is over. */
  readonly fatal: boolean;
}
/** The event `rollback` of a list: a write was refused (`error` says why), or its outcome is unknown. */
export class RollbackEvent extends Event {
  private constructor();
  readonly error: FreshetError;
  readonly change: OptimisticChange;
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
 * A template tag that keeps text and values apart: sql`county = ${county}`. A value becomes a parameter, an array a
 * list in parentheses (sql`id IN ${[1, 2]}`), another fragment is inserted as it is.
 */
export function sql(strings: TemplateStringsArray | readonly string[], ...values: any[]): SQLFragment;
export namespace sql {
  /** A name of a table or column that is known only at run time, quoted. */
  function identifier(name: string): SQLFragment;
  /** Fragments or values one after the other; `separator` (", ") is SQL as it is, never a user's text. */
  function join(parts: any[], separator?: string): SQLFragment;
}

/**
 * Missing methods are not called. Paths and indexes of deletions, and the first path of moves and updates, refer to the
 * former state; all others refer to the new one, as `UITableView` expects between `beginUpdates` and `endUpdates`. A
 * row whose contents are not held is undefined.
 */
export interface FetchedResultsDelegate<R extends object = Row, K extends Key = Key> {
  willChange?(list: LiveList<R, K>): void;
  didChangeSection?(section: Section, index: number, type: "insert" | "delete"): void;
  didChangeObject?(
    row: Readonly<R> | undefined, path: IndexPath | null, type: "insert" | "delete" | "move" | "update", newPath: IndexPath | null): void;
  didChange?(list: LiveList<R, K>): void;
  /** Called when a snapshot has replaced everything. */
  didReload?(list: LiveList<R, K>): void;
}
/**
 * Reports every change to a delegate as `NSFetchedResultsController` does: sections first, then rows, those of inserted
 * and deleted sections as well. The returned function ends the reports.
 */
export function fetchedResults<R extends object, K extends Key>(list: LiveList<R, K>, delegate: FetchedResultsDelegate<R, K>): () => void;

/** A change in Realm's form. Offsets in the whole result, ascending; a move is a deletion and an insertion. */
export interface ChangeSet {
  /** Offsets in the former state. */
  deletions: number[];
  /** Offsets in the new state. */
  insertions: number[];
  /** Offsets in the former state. */
  oldModifications: number[];
  /** Offsets in the new state. */
  newModifications: number[];
  /** Indexes in the former state. */
  sectionsToDelete: number[];
  /** Indexes in the new state. */
  sectionsToInsert: number[];
}
/** The effect of a change in Realm's form; null if it was not a patch. */
export function changeSet<R extends object, K extends Key>(event: ChangeEvent<R, K>): ChangeSet | null;

/**
 * A change in Firestore's form. `oldIndex` is the row's offset after all changes before this one, -1 for an insertion;
 * `newIndex` is its offset after this change, -1 for a deletion. Removing each row at the first and inserting it at the
 * second, in order, leads to the new result. Offsets count the whole result; a row whose contents are not held is
 * undefined.
 */
export interface DocumentChange<R extends object = Row> {
  type: "added" | "modified" | "removed";
  row: Readonly<R> | undefined;
  oldIndex: number;
  newIndex: number;
}
/** The effect of a change as single steps, in O(n log n) of the changes; null if it was not a patch. */
export function documentChanges<R extends object, K extends Key>(event: ChangeEvent<R, K>): DocumentChange<R>[] | null;

/**
 * For React: `useSyncExternalStore(store.subscribe, store.getSnapshot)`, with one store for each list. A state is the
 * same object until the list changes, and so are unchanged rows and sections, so that `memo` works.
 */
export function externalStore<R extends object, K extends Key>(list: LiveList<R, K>): {
  subscribe(changed: () => void): () => void;
  getSnapshot(): ListState<R, K>;
  getServerSnapshot(): ListState<R, K>;
};
