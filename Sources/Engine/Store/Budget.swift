import CSQLite
import GRDBSQLite
package import LiveQuery

/// How much memory and time SQLite may use on the calling thread, for what clients wrote. docs/architecture.md, "Bounds", says
/// what each limit is for.
package enum Budget {
  /// Of what a query keeps while it runs, in bytes: values, sorted and grouped rows, temporary tables.
  static let memory: Int64 = 256 << 20

  /// To compile a statement. What SQLite takes for one of honest length is less than 110 times that.
  private static func compilingMemory(_ sql: String) -> Int64 { min(64 << 20, 4 << 20 + 128 * Int64(sql.utf8.count)) }

  /// To compile a statement: time of the processor, so that a busy machine refuses nothing.
  static let compilingNanoseconds: Int64 = 200_000_000

  /// To compile everything that a query consists of.
  static let queryNanoseconds: Int64 = 3_000_000_000

  /// What the thread had before a budget was begun within it.
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

  /// To run what was compiled.
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
