public import LiveQuery

/// The expected effect of a write on the rows of a list.
///
/// The columns of the list's key identify rows; values are those that SQLite will store.
public enum OptimisticChange: Hashable, Sendable {
  /// A new row. Columns that it does not name are NULL. If it does not name the only key column, the row has an integer
  /// of its own until the database has assigned one.
  case insert([String: SQLValue])
  /// The key, and the columns that change.
  case update([String: SQLValue])
  /// The key.
  case delete([String: SQLValue])

  /// Whether it names the key. A new row may omit a key of one column.
  package func names(_ key: [String]) -> Bool {
    if case .insert = self, key.count == 1 { return true }
    return key.allSatisfy { row[$0] != nil }
  }

  var row: [String: SQLValue] {
    switch self {
    case .insert(let row), .update(let row), .delete(let row): row
    }
  }
}

/// How a row is shown that differs from the server's.
public struct PendingState: Hashable, Sendable {
  /// Whether its position is known. If not, it keeps its former one, or is the last of a section.
  public let isPlaced: Bool
}

/// One write's changes, while they are laid over lists.
struct LaidChange: Sendable {
  let id: Int
  let changes: [OptimisticChange]
  /// The commit of the write; nil: it is not done yet.
  var commit: Int64?
  /// The keys of rows inserted without one: stand-ins at first, then the database's.
  var newKeys: [Int64]

  /// The key and the change of each row.
  func keyed(_ key: [String]) -> [(key: [SQLValue], change: OptimisticChange)] {
    changes.enumerated().map { index, change in
      var change = change
      if case .insert(var row) = change, key.count == 1, (row[key[0]] ?? .null) == .null {
        row[key[0]] = .integer(newKeys[index])
        change = .insert(row)
      }
      return (key.map { change.row[$0] ?? .null }, change)
    }
  }
}

extension [LaidChange] {
  /// Each row's changes in order. Rows are in the order in which their keys first appear.
  func steps(_ key: [String]) -> [(key: [SQLValue], steps: [OptimisticChange])] {
    var steps: [(key: [SQLValue], steps: [OptimisticChange])] = []
    var indexes: [[SQLValue]: Int] = [:]
    for (key, change) in flatMap({ $0.keyed(key) }) {
      if let index = indexes[key] {
        steps[index].steps.append(change)
      } else {
        indexes[key] = steps.count
        steps.append((key, [change]))
      }
    }
    return steps
  }
}

extension [OptimisticChange] {
  /// The resulting row; nil: it is deleted, or nothing is known about it.
  ///
  /// - Parameter base: the server's row.
  func row(over base: [SQLValue]?, columns: [String]) -> [SQLValue]? {
    reduce(base) { row, change in
      switch change {
      case .delete: return nil
      case .update where row == nil: return nil
      case .insert(let given), .update(let given):
        return columns.indices.map { given[columns[$0]] ?? row?[$0] ?? .null }
      }
    }
  }

  /// Whether the row is deleted, whatever it was.
  var isGone: Bool {
    reduce(false) { isGone, change in
      switch change {
      case .insert: false
      case .delete: true
      case .update: isGone
      }
    }
  }
}
