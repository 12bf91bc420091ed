// Failures here end the process, because nothing can be fuzzed without the files.
// swift-format-ignore-file: NeverUseForceTry

import CSQLite
import Ground
import LiveQuery

@testable import Store

/// Runs statements as readers do.
struct WorldDatabase {
  enum Answer {
    /// Each as text, sorted: nothing says in which order they come.
    case rows([String])
    /// The code and SQLite's words.
    case failure(Int32, String)
    /// The budget was used up; that takes longer in one database than in another.
    case givenUp
  }

  private let opened: Connection
  private var connection: OpaquePointer { opened.raw }

  init(_ path: String) {
    opened = try! Connection(path)
    sqlite_refuse_quoted_strings(opened.raw)
    try! ConnectionLimits.apply(to: connection)
    _ = try! PreparedStatement(connection, "SELECT count(*) FROM sqlite_master").step()
  }

  /// - Parameter unit: what the parameters behind the query's own are.
  func answer(_ sql: String, _ values: [SQLValue], unit: Int64?, _ longestValue: Int32) -> Answer {
    let budget = Budget.begin(.milliseconds(100))
    defer { budget.end() }
    do throws(SQLiteFailure) {
      let statement = try PreparedStatement(connection, sql, isPersistent: false)
      ConnectionLimits.setValue(longestValue, of: connection)
      defer { ConnectionLimits.resetValue(of: connection) }
      for index in 0..<statement.parameterCount {
        statement.bind(index < values.count ? values[index] : .integer(unit ?? 0), at: Int32(index + 1))
      }
      var rows: [String] = []
      while rows.count < 1_000, try statement.step() {
        rows.append((0..<statement.columnCount).map { WorldDatabase.text(statement, $0) }.joined(separator: "|"))
      }
      return .rows(rows.sorted())
    } catch {
      let isGivenUp = [SQLITE_INTERRUPT, SQLITE_NOMEM].contains(error.primaryCode)
      return isGivenUp ? .givenUp : .failure(error.code, error.message)
    }
  }

  private static func text(_ statement: PreparedStatement, _ column: Int) -> String {
    let type = sqlite3_column_type(statement.handle, Int32(column))
    return "\(type) \(statement.text(column) ?? "NULL")"
  }
}

extension WorldDatabase.Answer {
  func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.rows(let left), .rows(let right)): left == right
    case (.failure(let left, _), .failure(let right, _)): left == right
    case (.givenUp, _), (_, .givenUp): true
    default: false
    }
  }
}
