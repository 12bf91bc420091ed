import GRDB

/// The names and definitions of everything that `track` adds to a database.
///
/// There is no AUTOINCREMENT: it would leave `sqlite_sequence` behind. There is no NOT NULL, UNIQUE or CHECK:
/// whatever conflict policy a writer's statement imposes on the triggers finds nothing to resolve.
enum ChangeLogSchema {
  /// Begins every name; the user's own tables do not begin so.
  static let prefix = "_freshet_"
  static let log = "_freshet_log"
  static let table = "_freshet_table"
  static let meta = "_freshet_meta"
  static let trim = "_freshet_trim"

  /// Raised when the triggers or tables of an older Freshet must not be read by this one.
  static let format = 2

  /// The name of a table's first trigger.
  static func insertTrigger(_ table: Int64) -> String { "\(triggerPrefix(table))insert" }

  /// Begins the names of a table's triggers.
  static func triggerPrefix(_ table: Int64) -> String { "\(prefix)\(table)_" }

  /// The values of `_freshet_log.op`.
  static let insert = ChangeOperation.insert.rawValue
  static let update = ChangeOperation.update.rawValue
  static let delete = ChangeOperation.delete.rawValue
  static let displace = ChangeOperation.displace.rawValue

  /// Number of columns of the log before the first value.
  static let logColumnsBeforeValues = 4

  /// The values of a row of the log: its key, then what its captured columns held before. One run of columns for both,
  /// so that where a value stands depends on its table alone, not on the order in which the log was widened.
  ///
  /// They have no type: without affinity they keep every value exactly as the row has it.
  static func valueColumn(_ index: Int) -> String { "v\(index)" }

  /// `tbl, op, cols, v0, …`: what a trigger gives of a row.
  static func columns(values count: Int) -> String {
    (["tbl", "op", "cols"] + (0..<count).map(valueColumn)).joined(separator: ", ")
  }

  static let createTables = """
    CREATE TABLE "\(meta)"(
      id INTEGER PRIMARY KEY, format INTEGER, token INTEGER, capacity INTEGER, alltables INTEGER);
    CREATE TABLE "\(table)"(id INTEGER PRIMARY KEY, name TEXT, columns TEXT, "key" TEXT, captured TEXT);
    CREATE TABLE "\(log)"(seq INTEGER PRIMARY KEY, tbl INTEGER, op INTEGER, cols INTEGER, v0);
    """

  /// Keeps the log at `capacity` rows or fewer, whoever writes and whether or not a server runs.
  ///
  /// Rows go in groups, which adds 0.07 µs to a row; deleting one old row at every new one added 0.2 to 0.4 µs. The
  /// newest rows always stay, so that `seq`, SQLite's `max(rowid) + 1`, never goes back.
  static func trimTrigger(capacity: Int) -> Trigger {
    let group = trimGroup(capacity: capacity)
    return Trigger(
      name: trim,
      sql: """
        CREATE TRIGGER "\(trim)" AFTER INSERT ON "\(log)" WHEN NEW.seq % \(group) = 0 BEGIN \
        DELETE FROM "\(log)" WHERE seq <= NEW.seq - \(capacity - group + 1); END
        """)
  }

  /// How many rows are trimmed at a time.
  static func trimGroup(capacity: Int) -> Int {
    min(max(capacity / 10, 1), 1_000)
  }

  /// A trigger as `sqlite_master` lists it: SQLite keeps the text from the name on verbatim.
  struct Trigger: Equatable {
    let name: String
    let sql: String
  }
}
