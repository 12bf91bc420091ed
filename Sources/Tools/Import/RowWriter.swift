import GRDBSQLite
import LiveQuery
import Store

/// Puts rows of a file into a table, each at the cost of one execution of one statement.
///
/// Numbers go in as text too: the columns' affinity makes numbers of them, as it does everywhere in SQLite.
struct RowWriter {
  private let file: CSVFile
  private let statement: PreparedStatement
  private let kinds: [ColumnKind]
  /// Columns of the file that must be there, and must not be the same on two rows.
  private let key: [Int]
  private let names: [String]

  /// - Parameter sql: an INSERT with a parameter for each column of the file, and perhaps one more for the line's number.
  init(
    _ connection: OpaquePointer, _ sql: String, _ table: CSVTable, kinds: [ColumnKind], key: [Int]
  ) throws(SQLiteFailure) {
    statement = try PreparedStatement(connection, sql)
    file = table.file
    names = table.names
    self.kinds = kinds
    self.key = key
  }

  /// - Throws: `badLine` when the key is empty or there already; `SQLiteFailure`.
  func write(_ record: CSVRecord) throws {
    for index in key where record.withField(index, { $0.isEmpty }) {
      throw file.failure(record.line, "the key \(identifierForPeople(names[index])) is empty")
    }
    for index in kinds.indices { try bind(record, index) }
    if statement.parameterCount > kinds.count {
      statement.bind(.integer(Int64(record.line)), at: Int32(kinds.count + 1))
    }
    do throws(SQLiteFailure) { _ = try statement.step() } catch {
      guard error.primaryCode == SQLITE_CONSTRAINT, !key.isEmpty else { throw error }
      let values = key.map { "\(identifierForPeople(names[$0])) \(record.text($0))" }.joined(separator: ", ")
      throw file.failure(record.line, "a second row with the key \(values)")
    }
    statement.reset()
  }

  private func bind(_ record: CSVRecord, _ index: Int) throws {
    let place = Int32(index + 1)
    try record.withField(index) { text in
      if text.isEmpty {
        let isText = kinds[index] == .text && record.isQuoted(index)
        statement.bind(packed: isText ? .text(text) : .null, at: place)
      } else if case .date(let format) = kinds[index] {
        guard let day = format.iso(text) else {
          throw ImportError(.unreadable, "\(file.name) changed while it was read")
        }
        day.withUnsafeBytes { statement.bind(packed: .text($0), at: place) }
      } else {
        statement.bind(packed: .text(text), at: place)
      }
    }
  }
}
