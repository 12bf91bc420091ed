/**
 * Freshet's JavaScript client: live, sectioned lists from a Freshet server.
 *
 * Tests/WebTests/types.ts holds `freshet.js` to these declarations.
 */

/** SQLite's values. Integers beyond 2^53 are `bigint`s, BLOBs are `Uint8Array`s; both ways. */
export type SQLValue = string | number | bigint | null | Uint8Array;
/** Column to value; the same object for as long as the row has not changed. */
export type Row = Readonly<Record<string, any>>;
/** Identifies a row: the value of its key column, or those of a key of several columns. */
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
  /** A short title to jump by. */
  readonly indexTitle: string;
  /** Its rows, whether held or not. */
  readonly count: number;
  /** The query's `totals` of its rows, where the query has any. */
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
 * A patch as the server sent it: docs/protocol.md, 3.3. Absent members are empty. Rows and changes are absent where the
 * contents lie outside the window.
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
   * A whole SELECT, instead of `from`, `select`, `where`, `groupBy` and `having`; the other members are over the
   * columns of its result.
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
  /** Seconds after which it is run again whatever happened: for queries that depend on the time. */
  refreshEvery?: number;
  name?: string;
  params?: Record<string, any> | any[];
}
/** Statements that are done together, or those that the operator has published under a name. */
export type Transaction = Statement | Statement[] | { name: string; params?: Record<string, any> };
/** The outcome of a transaction. `results` is empty in the answer to a write that was sent again and had many rows. */
export interface Committed { changes: number; commit: number; results: StatementResult[] }
/**
 * What a write is going to do to a list's rows, by the names of the list's columns. `update` has the key and the
 * columns that change, `delete` the key. An inserted row may lack its key where the database gives it.
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
   * Authenticates the client: sent in the message `authenticate`, first thing on every connection. A function is asked
   * before every attempt to connect, and again before the token expires. A refused token is an event `error` of the
   * client.
   */
  token?: string | (() => string | Promise<string>);
  /** Instead of the global one: for runtimes without one, and in tests. */
  WebSocket?: any;
}
export interface ListOptions {
  /** The rows whose contents are wanted; without it every row's. */
  window?: Window;
  /** Milliseconds between two patches at least. */
  minInterval?: number;
  /**
   * Columns of the list that are made of a table's column and come in its order, such as `substr(well.name, 1, 300) AS
   * name`: the names of the one and of the other, `{ name: "well.name" }`. For `optimistically`; the server says the
   * order of all other columns.
   */
  sources?: Record<string, string>;
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
  /**
   * `refused`: the server is there and refuses the connection, see `error`. It is tried again all the same, as when it
   * is `reconnecting`.
   */
  readonly status: "connecting" | "live" | "reconnecting" | "refused" | "closed";
  /** The server's last greeting: `{server, epoch, limits}`; null before the first time. */
  readonly hello: Message | null;
  /** When the next attempt to connect begins (as `Date.now()`); null when none is waited for. */
  readonly retryAt: number | null;
  /**
   * Why the server does not take the client: its token expired or was refused (`unauthenticated`), or the connection
   * itself is (`refused`, as with the page's origin). Null once it does.
   */
  readonly error: FreshetError | null;
  /**
   * A list that follows a query until it is closed. Throws a TypeError for values that SQLite does not have.
   *
   * `subscribe<Order>(…)` says what its rows are, `subscribe<Order, number>(…)` also what identifies them. Nothing
   * checks that the query selects such rows.
   */
  subscribe<R extends object = Row, K extends Key = Key>(query: Query, options?: ListOptions): LiveList<R, K>;
  /**
   * Writes, all statements in one transaction or none. A list whose `state.commit` has reached `commit` shows the
   * write. `results` has what each statement did, and the rows of its `RETURNING`.
   *
   * Before the client's first connection it waits for that, at most 20 s. While a broken connection is being made anew
   * it fails at once. Rejected with what the server says, or with `disconnected`; unless that is retryable, it may have
   * been written.
   */
  transact(transaction: Transaction): Promise<Committed>;
  /** Milliseconds to the server and back. Waits for the first connection as `transact` does. */
  ping(): Promise<number>;
  /** Tries to connect now instead of later. */
  retry(): void;
  /** Every change of the file's rows, by any program. It goes on over broken connections, and ends with its loop. */
  changes(options?: ChangesOptions): ChangeFeed;
  /** Ends the connection, and every list with it. */
  close(): void;
  /** `status`: it changed, or a token was accepted after all. `error`: something that concerns no list. */
  addEventListener(type: "status", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/**
 * `connecting`: there is no connection yet. `loading`: the result is on its way. `live`. `reconnecting`: the connection
 * broke, and what is shown may be old. `waiting`: the server cannot answer the query at the moment (its table is being
 * changed, the server is overloaded, a token is missing: see `error`), and what is shown is from before; the list goes
 * on by itself. `failed`: the server refused the query, see `error`; `requery` with a better one goes on. `closed`.
 */
export type ListStatus = "connecting" | "loading" | "live" | "reconnecting" | "waiting" | "failed" | "closed";

/** Which changes are wanted. */
export interface ChangesOptions {
  /** By default all that the client may read. */
  tables?: string[];
  /** By table, the columns that changes have. */
  columns?: Record<string, string[]>;
  /** By table, SQL that is true for the rows whose changes are wanted. */
  where?: Record<string, string>;
  /** The position of an earlier change, to go on behind it. */
  since?: string;
}

export interface RowChange {
  table: string;
  /** `schema`: the table was made, dropped or altered; what is known of it has to be read again. */
  op: "insert" | "update" | "delete" | "schema";
  key?: Readonly<Row>;
  /** The changed columns of an update, the row of a deletion; absent where it is unknown. */
  old?: Readonly<Row>;
  /** All columns that were asked for. */
  new?: Readonly<Row>;
}

export interface DatabaseChange {
  /** The position to continue from later. */
  position: string;
  commit?: number;
  /** More than 1 where several could only be seen together: then each row's first and last state count. */
  commits?: number;
  /** Why what has changed before the position is not known: read the tables again, and go on. */
  gap?: string;
  changes: RowChange[];
}

/**
 * The commits in their order. A slow loop loses nothing: the server waits for it, and says when that was too long
 * (`gap`).
 */
export class ChangeFeed implements AsyncIterable<DatabaseChange> {
  private constructor();
  /** The position of the last change that the loop has had. */
  readonly position: string | null;
  /** Throws when the server refuses what is asked for, or the client is closed. */
  [Symbol.asyncIterator](): AsyncGenerator<DatabaseChange, void, void>;
  /** Ends it, for good. */
  close(): void;
}

/** One query, followed. What arrives replaces the state as a whole; older states stay as they were. */
export class LiveList<R extends object = Row, K extends Key = Key> extends EventTarget {
  private constructor();
  /** The newest state; these below are its. */
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
  /** The last error; null since the list is live again. */
  readonly error: FreshetError | null;
  /** Rows that have come, of those to come, while the list is loading. */
  readonly progress: { loaded: number; total: number };
  /** The query that is followed, as it was given. */
  readonly query: Query;
  /**
   * Wants other rows' contents. While one window is being fetched, the last one wanted is remembered and asked for
   * next, so that fast scrolling asks for what is in view by then; the promise is resolved when that window has come.
   */
  setWindow(window: Window): Promise<ListState<R, K>>;
  /** Rows from anywhere; the window stays where it is. */
  fetch(window: Window): Promise<Readonly<R>[]>;
  /** Where the row with a key is, whether its contents are held or not. A key of several columns is an array. */
  locate(key: K): Promise<{ path: IndexPath; offset: number } | { path: null; offset: null }>;
  /**
   * Follows another query from now on. When it is about the same rows (`from`, `select` and `key` are the same), a
   * patch leads from the old result to the new one. Refused, the promise is rejected and the old one is followed as
   * before.
   */
  requery(query: Query, options?: { window?: Window }): Promise<ListState<R, K>>;
  /**
   * Writes, and shows the change at once: laid over the rows, in its sorted place, until the list has what was written.
   * While there is no connection it waits, with up to 1,000 others, and is done once and in its turn. Where the write
   * is refused the change is taken away again, and the promise rejected with the reason; with `outcome_unknown` when
   * the connection broke before the answer and another server came back, which cannot say what became of it.
   */
  optimistically(change: OptimisticChange, transaction: Transaction): Promise<Committed>;
  /** The changes that are laid over the rows, in their order. */
  readonly pending: readonly { change: OptimisticChange; status: "queued" | "sent" | "committed" }[];
  /** Asks for the whole list again; the list does so itself when its count differs from the server's. */
  resync(): void;
  /** Ends it, for good. */
  close(): void;
  /**
   * States as they come; a slow loop skips to the newest. Ends when the list is closed, throws its error when it fails.
   */
  [Symbol.asyncIterator](): AsyncGenerator<ListState<R, K>, void, void>;
  /**
   * `change`: there is another state. Its window is complete, with one exception: a first snapshot that is too long for
   * one message is shown as it comes, and until `state.isComplete`, `at` is undefined for rows that are still to come.
   * `status`, `progress`: those changed. `error`: the server refused something. `rollback`: a change of
   * `optimistically` was taken away.
   */
  addEventListener(type: "rollback", listener: (event: RollbackEvent) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "change", listener: (event: ChangeEvent<R, K>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "status" | "progress", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "error", listener: (event: FreshetErrorEvent) => void, options?: boolean | AddEventListenerOptions): void;
}

/** An expression by which rows sort. */
export interface OrderTerm {
  /** The column that it is; null: it is not among the columns. */
  column: string | null;
  collation: "BINARY" | "NOCASE" | "RTRIM";
  descending: boolean;
  nulls: "first" | "last";
  /**
   * The origin of an expression that is not among the columns, where it can be expressed: functions of one column, or
   * of a table's column.
   */
  of?: { column?: string; source?: string; calls?: [string, ...number[]][] };
}

/** One state of a list. Immutable; shares what has not changed with the one before, sections and rows as well. */
export class ListState<R extends object = Row, K extends Key = Key> {
  private constructor();
  readonly sections: readonly Section[];
  /** Rows of the result, held or not. */
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
  /** An opaque name; null before anything has come. */
  readonly version: string | null;
  /** The database's commit: never falls while the server's epoch is the same; -1 before anything has come. */
  readonly commit: number;
  /** Whether every row of the window is here. */
  readonly isComplete: boolean;
  /**
   * How rows sort within a section, the key last, and how sections do: without members where an older server does not
   * say it.
   */
  readonly order: { readonly order?: readonly OrderTerm[]; readonly sectionOrder?: OrderTerm & { sorted: boolean } };
  /** Rows whose contents are held. */
  readonly heldCount: number;
  /** The row at an offset of the whole result, in O(log n); undefined when its contents are not held. */
  at(offset: number): Readonly<R> | undefined;
  /** The row at an index path; undefined when its contents are not held. */
  row(path: IndexPath): Readonly<R> | undefined;
  /**
   * Where a held row stands; null when no held row has the key (`LiveList.locate` asks the server). The first call on a
   * state looks at all held rows, later ones at a table.
   */
  path(key: K): IndexPath | null;
  /** The key of a row, as one string. */
  keyOf(row: Readonly<R>): string;
  /**
   * For a row with changes that the server has not shown yet (`LiveList.optimistically`); null for others. `isPlaced`
   * is false where the row may belong elsewhere: the order or the rows there are not known here.
   */
  pendingOf(row: Readonly<R>): { isPlaced: boolean } | null;
  /** Null beyond the end. */
  pathOf(offset: number): IndexPath | null;
  /** Null when there is no such row. */
  offsetOf(path: IndexPath): number | null;
  /** Held rows with their offsets, ascending. */
  entries(): IterableIterator<[number, Readonly<R>]>;
}

/** The effect of a message on the rows in the window. */
export interface Changes<C extends string = string> {
  /** New offsets of rows that were not in the result before. */
  inserted: number[];
  /** New offsets of rows that stood elsewhere. */
  moved: number[];
  /** Rows whose contents changed, moved ones too, by new offset. */
  updated: { offset: number; columns: C[] }[];
  /** The new offset of a former row; for a row that is gone or was moved, that of the next row that stayed. */
  newOffset(offset: number): number;
}

/** The event `change` of a list. */
export class ChangeEvent<R extends object = Row, K extends Key = Key> extends Event {
  private constructor();
  /** A snapshot replaces everything; rows bring contents and change nothing else. */
  readonly kind: "snapshot" | "rows" | "patch";
  /**
   * The patch (docs/protocol.md, 3.3): the server's, or the client's own where changes of `optimistically` show; null
   * for another kind.
   */
  readonly patch: Patch<R> | null;
  readonly before: ListState<R, K>;
  readonly after: ListState<R, K>;
  readonly changes: Changes<Column<R>>;
}

/** A refusal of the server, or the fate of the connection. */
export class FreshetError extends Error {
  private constructor();
  /** A code of docs/protocol.md, 5; or `disconnected`, `closed`, `queue_full`, `outcome_unknown`. */
  readonly code: string;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;
  /** Whether the subscription is over. */
  readonly fatal: boolean;
}
/** The event `rollback` of a list: a write was refused (`error` says why), or what became of it is not known. */
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
 * list in parentheses (sql`id IN ${[1, 2]}`), another fragment is put in as it is.
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
 * former state; all others refer to the new one, as `UITableView` takes them between `beginUpdates` and `endUpdates`. A
 * row whose contents are not held is undefined.
 */
export interface FetchedResultsDelegate<R extends object = Row, K extends Key = Key> {
  willChange?(list: LiveList<R, K>): void;
  didChangeSection?(section: Section, index: number, type: "insert" | "delete"): void;
  didChangeObject?(
    row: Readonly<R> | undefined, path: IndexPath | null, type: "insert" | "delete" | "move" | "update", newPath: IndexPath | null): void;
  didChange?(list: LiveList<R, K>): void;
  /** Everything is another now: a snapshot came. */
  didReload?(list: LiveList<R, K>): void;
}
/**
 * Reports every change to a delegate as `NSFetchedResultsController` does: sections first, then rows, those of inserted
 * and deleted sections as well. The returned function stops it.
 */
export function fetchedResults<R extends object, K extends Key>(list: LiveList<R, K>, delegate: FetchedResultsDelegate<R, K>): () => void;

/** Realm's shape. Offsets in the whole result, ascending; a move is a deletion and an insertion. */
export interface ChangeSet {
  /** Offsets in the former state. */
  deletions: number[];
  /** Offsets of afterwards. */
  insertions: number[];
  /** Offsets in the former state. */
  oldModifications: number[];
  /** Offsets of afterwards. */
  newModifications: number[];
  /** Indexes in the former state. */
  sectionsToDelete: number[];
  /** Indexes of afterwards. */
  sectionsToInsert: number[];
}
/** The effect of a change, all at once; null when it was no patch. */
export function changeSet<R extends object, K extends Key>(event: ChangeEvent<R, K>): ChangeSet | null;

/**
 * Firestore's shape. `oldIndex` is where the row stands when all changes before this one have been done, -1 for one
 * that comes; `newIndex` where it then is, -1 for one that goes. Taking it out at the one and putting it in at the
 * other, in turn, leads to the new result. Offsets in the whole result; a row whose contents are not held is undefined.
 */
export interface DocumentChange<R extends object = Row> {
  type: "added" | "modified" | "removed";
  row: Readonly<R> | undefined;
  oldIndex: number;
  newIndex: number;
}
/** The effect of a change, one after the other, in O(n log n) of the changes; null when it was no patch. */
export function documentChanges<R extends object, K extends Key>(event: ChangeEvent<R, K>): DocumentChange<R>[] | null;

/**
 * For React: `useSyncExternalStore(store.subscribe, store.getSnapshot)`, with one store for each list. A state is the
 * same object until the list changes, and so are its rows and sections: `memo` works.
 */
export function externalStore<R extends object, K extends Key>(list: LiveList<R, K>): {
  subscribe(changed: () => void): () => void;
  getSnapshot(): ListState<R, K>;
  getServerSnapshot(): ListState<R, K>;
};
