public import LiveQuery

/// What somebody says that a write will do to the rows of a list.
///
/// Rows are named by the columns of the list's key; values are those that SQLite will store.
public enum OptimisticChange: Hashable, Sendable {
  /// A new row. Columns that it does not name are NULL. Where the key is one column that it does not name, the row has an integer of
  /// its own until the database has given it one.
  case insert([String: SQLValue])
  /// The key, and the columns that change.
  case update([String: SQLValue])
  /// The key.
  case delete([String: SQLValue])

  /// Whether it has a key. A new row may get one whose key is one column.
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

/// How a row is shown that is not as the server has it yet.
public struct PendingState: Hashable, Sendable {
  /// Whether its place is known. If not, it stays where it was, or is the last of a section.
  public let isPlaced: Bool
}

/// The changes of one write, while they are laid over lists.
struct LaidChange: Sendable {
  let id: Int
  let changes: [OptimisticChange]
  /// What the write led to; nil: it is not done yet.
  var commit: Int64?
  /// What stands for, or is, the key of rows that were inserted without one.
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
  /// What is done to each row, one after the other, in the order in which keys are named first.
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
  /// The row as it is to be; nil: there is none, or nothing is known of it.
  ///
  /// - Parameter base: what the server has.
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

  /// Whether the row goes, whatever it is.
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
