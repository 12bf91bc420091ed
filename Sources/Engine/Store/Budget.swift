import CSQLite
package import Ground
package import LiveQuery

/// How much memory and time SQLite may use on the calling thread, for SQL that clients wrote.
///
/// SQLite calls the progress handler, which may interrupt it, only between steps of its virtual machine, and only where
/// the machine loops. It does not call the handler while it compiles (3.41 is the first version that does), inside one
/// function or operator, between the expressions of one row, or while it sorts in memory. Each of these has a bound of
/// its own:
///
/// - *Steps of a statement* could go on for ever: `Deadline` checks time and memory every 200 steps.
/// - *Compiling* took 9 s and 591 MB for 900 bytes of common tables that each name the previous one twice. So it may
///   take at most 200 ms of processor time a statement, 3 s a query, and 4 MB and 128 bytes for each byte of SQL.
/// - *Comparing conditions and aggregates in pairs* allocates nothing, and took 6 s for 10,000 conditions. So a
///   fragment may have at most 500 `AND`; a statement, with its common tables and views expanded, at most 2,000
///   function calls and 5,000 column names.
/// - *One call of a function* took 90 s for `instr`. Such functions are replaced by ours, which run in linear time or
///   count their steps (`functions.c`, `like.c`, `search.c`, `fulltext.c`). They return what SQLite's functions return;
///   FunctionTests compare them on random arguments.
/// - *Many calls in one row* could take an hour. Our functions and the allocator check the budget, and statements with
///   many calls are limited to shorter values (`StatementWeight`).
/// - *Sorting* takes half a second for 75 MB, and more than proportionally longer for more. With temporary files in
///   memory (`temporary.c`) SQLite sorts two megabytes at a time.
/// - *Memory*: 256 MiB for a query while it runs, and 1 GiB for all of SQLite.
/// - *Values* may have 24 MiB (`SQLITE_LIMIT_LENGTH`, for values of the file as well). At this length a linear operator
///   takes 10 to 200 ms (CallTimeTests).
///
/// **The allocator.** A budget belongs to a thread. SQLite's allocator is wrapped before `main`, counts what each
/// thread holds, checks the clock every 128 allocations or 512 kB, and makes allocations fail. SQLite is tested for the
/// failure of every allocation, so this ends a statement cleanly. While a statement runs, a failed allocation would
/// also end the read transaction, which other lists need. So the progress handler interrupts such a statement first,
/// and the allocator fails only 100 ms or 64 MiB later.
///
/// **What no bound covers.** `MATCH` with a phrase or NEAR of *k* words takes about 13 ns times *k* for each occurrence
/// of such a word in one row, and `bm25` (`rank`) about 15 ns for each occurrence. Neither checks the budget, and FTS5
/// offers no way to stop them.
package enum Budget {
  /// The memory that a query may hold while it runs, in bytes: values, sorted and grouped rows, temporary tables.
  static let memory: Int64 = 256 << 20

  /// The memory for compiling a statement, in bytes. For an ordinary statement, SQLite needs less than 110 times its
  /// length.
  private static func compilingMemory(_ sql: String) -> Int64 { min(64 << 20, 4 << 20 + 128 * Int64(sql.utf8.count)) }

  /// The processor time for compiling a statement. Elapsed time would make a busy machine refuse ordinary statements.
  static let compilingNanoseconds: Int64 = 200_000_000

  /// The processor time for compiling all statements of a query.
  static let queryNanoseconds: Int64 = 3_000_000_000

  /// The thread's limits before a nested budget was begun.
  package struct Outer {
    fileprivate let budget: sqlite_budget

    package func end() { sqlite_budget_restore(budget) }
  }

  /// Begins the budget for compiling a statement that contains SQL of a client.
  package static func beginStatement(_ sql: String) -> Outer {
    Outer(budget: sqlite_budget_begin(compilingMemory(sql), .max, compilingNanoseconds, 1))
  }

  /// Begins the budget for compiling all statements of a query. Each of them also gets its own by `beginStatement`.
  package static func beginQuery() -> Outer { Outer(budget: sqlite_budget_begin(.max, .max, queryNanoseconds, 1)) }

  /// Begins the budget for running compiled statements.
  package static func begin(_ time: Nanoseconds) -> Outer {
    Outer(budget: sqlite_budget_begin(memory, Int64(clamping: time.count), .max, 0))
  }

  /// The error for the client if SQLite ended a statement because the budget was spent; nil if there was another
  /// reason.
  package static func failure(_ error: SQLiteFailure) -> FreshetError? {
    guard [SQLITE_INTERRUPT, SQLITE_NOMEM, SQLITE_AUTH].contains(error.primaryCode) else { return nil }
    switch sqlite_budget_reason() {
    case SQLITE_BUDGET_NO_TIME: return FreshetError(.timeout, "the query took longer than it may")
    case SQLITE_BUDGET_NO_MEMORY: return FreshetError(.tooLarge, "the query takes more memory than it may")
    default: return nil
    }
  }
}
