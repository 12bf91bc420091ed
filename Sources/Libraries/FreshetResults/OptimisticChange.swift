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

/// What becomes of the row with one key: `values` over what it is, over nothing when it `isInserted`; nil: it goes.
struct OptimisticOutcome {
  var values: [String: SQLValue]?
  var isInserted: Bool

  /// What changes, one after the other, come to, in the order in which keys are named first.
  static func all(of laid: [LaidChange], key: [String]) -> [(key: [SQLValue], outcome: Self)] {
    var outcomes: [(key: [SQLValue], outcome: Self)] = []
    var indexes: [[SQLValue]: Int] = [:]
    for (key, change) in laid.flatMap({ $0.keyed(key) }) {
      let index = indexes[key] ?? outcomes.count
      let before = index < outcomes.count ? outcomes[index].outcome : nil
      let after: Self
      switch change {
      case .insert(let row): after = Self(values: row, isInserted: true)
      case .delete: after = Self(values: nil, isInserted: false)
      case .update(let row):
        guard let before else { after = Self(values: row, isInserted: false); break }
        after = Self(values: before.values?.merging(row) { $1 }, isInserted: before.isInserted)
      }
      indexes[key] = index
      if before == nil { outcomes.append((key, after)) } else { outcomes[index].outcome = after }
    }
    return outcomes
  }
}
