import CSQLite
package import Ground
package import LiveQuery

/// How much memory and time SQLite may use on the calling thread, for SQL that clients wrote.
///
/// SQLite asks whether it may go on (the progress handler) only between steps of its virtual machine, and only where
/// the machine loops. It does not ask while it compiles (3.41 is the first version that does), inside one function or
/// operator, between the expressions of one row, or while it sorts in memory. Each of these has a bound of its own:
///
/// - *Steps of a statement* could go on for ever: `Deadline`, every 200 steps, checks time and memory.
/// - *Compiling* took 9 s and 591 MB for 900 bytes of common tables that each name the one before twice. Its
///   allocations are counted: 200 ms of processor time a statement, 3 s a query, 4 MB and 128 bytes for each byte of
///   SQL.
/// - *Comparing conditions and aggregates in pairs* allocates nothing, and took 6 s for 10,000 conditions: at most 500
///   `AND` in a fragment, 2,000 calls of functions and 5,000 names of columns in a statement, with common tables and
///   views written out.
/// - *One call of a function* took 90 s for `instr`: functions of our own run in linear time or count their steps
///   (`functions.c`, `like.c`, `search.c`, `fulltext.c`). They give what SQLite's give for everything, which
///   FunctionTests compare on random arguments.
/// - *Many calls in one row* could take an hour: our functions ask for the budget, and so does the allocator;
///   statements with many calls have shorter values (`StatementWeight`).
/// - *Sorting* takes half a second for 75 MB, and more than in proportion: temporary files in memory (`temporary.c`),
///   so SQLite sorts two megabytes at a time.
/// - *Memory*: 256 MiB for a query while it runs, and 1 GiB for all of SQLite.
/// - *Values* may have 24 MiB (`SQLITE_LIMIT_LENGTH`, for values of the file as well), at which a linear operator takes
///   10 to 200 ms (CallTimeTests).
///
/// **The allocator.** A budget belongs to a thread. SQLite's allocator is wrapped before `main`, counts what each
/// thread holds, checks the clock every 128 allocations or 512 kB, and refuses. SQLite is tested for every allocation
/// that fails, so a refused one ends a statement in order. While a statement runs, an error of memory would also end
/// the read transaction, which other lists need: there the progress handler interrupts, and the allocator refuses only
/// 100 ms or 64 MiB later.
///
/// **What no bound covers.** `MATCH` with a phrase or NEAR of *k* words takes about 13 ns times *k* for each place of
/// such a word in one row, and `bm25` (`rank`) about 15 ns for each, without asking; FTS5 offers no way to stop either.
package enum Budget {
  /// Bytes that a query may keep while it runs: values, sorted and grouped rows, temporary tables.
  static let memory: Int64 = 256 << 20

  /// Bytes for compiling a statement. SQLite needs less than 110 times the length of an ordinary one.
  private static func compilingMemory(_ sql: String) -> Int64 { min(64 << 20, 4 << 20 + 128 * Int64(sql.utf8.count)) }

  /// Time for compiling a statement. It is the processor's time, so that a busy machine refuses nothing.
  static let compilingNanoseconds: Int64 = 200_000_000

  /// Time for compiling all statements of a query.
  static let queryNanoseconds: Int64 = 3_000_000_000

  /// The thread's limits before a nested budget was begun.
  package struct Outer {
    fileprivate let budget: sqlite_budget

    package func end() { sqlite_budget_restore(budget) }
  }

  /// To compile one statement that a client had a part in.
  package static func beginStatement(_ sql: String) -> Outer {
    Outer(budget: sqlite_budget_begin(compilingMemory(sql), .max, compilingNanoseconds, 1))
  }

  /// To compile many statements: they have so long altogether, and each no longer than `beginStatement` gives it.
  package static func beginQuery() -> Outer { Outer(budget: sqlite_budget_begin(.max, .max, queryNanoseconds, 1)) }

  /// For running compiled statements.
  package static func begin(_ time: Nanoseconds) -> Outer {
    Outer(budget: sqlite_budget_begin(memory, Int64(clamping: time.count), .max, 0))
  }

  /// Why SQLite gave a statement up, as what a client gets; nil when that was not for the budget.
  package static func failure(_ error: SQLiteFailure) -> FreshetError? {
    guard [SQLITE_INTERRUPT, SQLITE_NOMEM, SQLITE_AUTH].contains(error.primaryCode) else { return nil }
    switch sqlite_budget_reason() {
    case SQLITE_BUDGET_NO_TIME: return FreshetError(.timeout, "the query took longer than it may")
    case SQLITE_BUDGET_NO_MEMORY: return FreshetError(.tooLarge, "the query takes more memory than it may")
    default: return nil
    }
  }
}
