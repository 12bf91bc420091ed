import CSQLite
import Foundation
import Ground
import LiveQuery
import Store

/// The file of a replica, open for writing: an ordinary SQLite database, with its place in the log in a table of its
/// own.
///
/// Owner: the replica's thread.
final class ReplicaFile {
  /// The table, of one row, in which a replica's place in the log is; readers take the protocol's `commit` from it.
  static let positionTable = """
    CREATE TABLE IF NOT EXISTS main._freshet_replica(
      id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, batch INTEGER NOT NULL, "commit" INTEGER NOT NULL,
      hash BLOB NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL)
    """

  let opened: Connection
  var connection: OpaquePointer { opened.raw }
  let encoding: TextEncoding
  private(set) var position: LogPosition?
  /// The number of the stream's message that led to the position: reading continues after it.
  private(set) var sequence: UInt64 = 0
  /// When the batch was made, in milliseconds since 1970.
  private(set) var time: Int64 = 0
  private var tables: [LogTable: TableWriter] = [:]
  private var savePosition: PreparedStatement?
  private var checkpoint: GuardedCheckpoint?

  /// Opens a file that is there.
  ///
  /// - Parameter isPrivate: as of `Connection`.
  init(path: String, isPrivate: Bool = false) throws {
    opened = try Connection(path, .making, isPrivate: isPrivate)
    sqlite_disable_triggers(opened.raw)
    // Constraints were checked in the writer's file, so they are not checked again. A crash of the machine may undo the
    // newest batches: they are applied again.
    try opened.run(
      """
      PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = NORMAL;
      PRAGMA recursive_triggers = OFF; PRAGMA cell_size_check = OFF;
      """)
    encoding = try opened.encoding
    try readPosition()
    checkpoint = isPrivate ? nil : GuardedCheckpoint(for: opened.raw, path: path, patience: Connection.patience)
  }

  deinit { checkpoint?.close() }

  /// Truncates the WAL, which contains all of the database after a copy.
  func cutWAL() {
    if !WALResetBug.isPresent {
      try? PreparedStatement.run(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
      return
    }
    // The -wal is cut when it starts over.
    try? PreparedStatement.run(connection, "PRAGMA journal_size_limit = \(16 << 20)")
    checkpoint?.run()
  }

  private func readPosition() throws {
    let exists = try PreparedStatement(
      connection, "SELECT 1 FROM main.sqlite_schema WHERE name = '_freshet_replica'", isPersistent: false)
    guard try exists.step() else { return }
    let row = try PreparedStatement(
      connection, "SELECT epoch, batch, \"commit\", hash, sequence, time FROM main._freshet_replica WHERE id = 1",
      isPersistent: false)
    guard try row.step(), let epoch = row.text(0), case .blob(let hash) = row.value(3) else { return }
    position = LogPosition(epoch: epoch, number: row.integer(1), commit: row.integer(2), hash: Array(hash))
    sequence = UInt64(bitPattern: row.integer(4))
    time = row.integer(5)
  }

  // MARK: - Applying

  /// Applies batches and notes the position that they lead to, in one transaction.
  ///
  /// - Parameter comparing: whether rows are compared with the digests in the batches.
  /// - Returns: how often rows were compared.
  /// - Throws: the file is then unchanged.
  func apply(
    _ batches: [LogBatch], leadingTo position: LogPosition, sequence: UInt64, comparing: Bool
  ) throws -> Int {
    var comparisons = 0
    try begin()
    do {
      for batch in batches {
        comparisons += try batch.contents.withUnsafeBytes { try apply($0, comparing: comparing) }
      }
      try save(position, sequence: sequence, time: batches.last?.time ?? time)
      try PreparedStatement.run(connection, "COMMIT")
    } catch {
      tables = [:]
      savePosition = nil
      if sqlite3_get_autocommit(connection) == 0 { try? PreparedStatement.run(connection, "ROLLBACK") }
      throw error
    }
    self.position = position
    self.sequence = sequence
    time = batches.last?.time ?? time
    checkpoint?.runIfDue()
    return comparisons
  }

  /// Begins the transaction. Waits for other programs that write to the file, although none should.
  private func begin() throws {
    while true {
      do throws(SQLiteFailure) { return try PreparedStatement.run(connection, "BEGIN IMMEDIATE") } catch {
        if !error.isLock { throw error }
      }
    }
  }

  func save(_ position: LogPosition, sequence: UInt64, time: Int64) throws {
    if savePosition == nil {
      try PreparedStatement.run(connection, Self.positionTable)
      savePosition = try PreparedStatement(
        connection, "INSERT OR REPLACE INTO main._freshet_replica VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)")
    }
    guard let statement = savePosition else { return }
    defer { statement.reset() }
    statement.bind(.text(position.epoch), at: 1)
    statement.bind(.integer(position.number), at: 2)
    statement.bind(.integer(position.commit), at: 3)
    statement.bind(.blob(position.hash), at: 4)
    statement.bind(.integer(Int64(bitPattern: sequence)), at: 5)
    statement.bind(.integer(time), at: 6)
    _ = try statement.step()
  }

  private func apply(_ contents: UnsafeRawBufferPointer, comparing: Bool) throws -> Int {
    var reader = ByteReader(contents)
    var table: TableWriter?
    var comparisons = 0
    while !reader.isAtEnd {
      let item = try reader.item()
      switch item {
      case .schema:
        tables = [:]
        savePosition = nil
        table = nil
        try SchemaChange(connection).lead(to: try reader.objects())
      case .header:
        let (userVersion, applicationID) = (try reader.signed(), try reader.signed())
        try PreparedStatement.run(
          connection, "PRAGMA main.user_version = \(userVersion); PRAGMA main.application_id = \(applicationID)")
      case .table: table = try writer(for: try reader.table())
      case .delete, .put, .clear:
        guard let table else { throw ByteReader.Malformed() }
        switch item {
        case .delete: try table.delete(&reader)
        case .put: try table.put(&reader)
        default: try table.clear()
        }
      case .digest:
        let digest = try reader.digest()
        guard let table = table?.table else { throw ByteReader.Malformed() }
        guard comparing else { continue }
        comparisons += 1
        if try !TableDigester(table, connection, encoding).matches(digest) { throw ContentsDiffer(table: table.name) }
      }
    }
    return comparisons
  }

  private func writer(for table: LogTable) throws -> TableWriter {
    if let known = tables[table] { return known }
    let writer = try TableWriter(table, connection, encoding)
    tables[table] = writer
    return writer
  }
}

/// The error that rows of a replica differ from the publisher's at the same position.
struct ContentsDiffer: Error {
  let table: String
}

/// Writes rows of one table.
private final class TableWriter {
  let table: LogTable
  private let encoding: TextEncoding
  private let putStatement: PreparedStatement
  private let deleteStatement: PreparedStatement
  private let clearStatement: PreparedStatement

  init(_ table: LogTable, _ connection: OpaquePointer, _ encoding: TextEncoding) throws {
    self.table = table
    self.encoding = encoding
    putStatement = try PreparedStatement(connection, table.putStatement)
    deleteStatement = try PreparedStatement(connection, table.deleteStatement)
    clearStatement = try PreparedStatement(connection, table.clearStatement)
  }

  func put(_ reader: inout ByteReader) throws { try run(putStatement, table.columns.count, &reader) }

  func delete(_ reader: inout ByteReader) throws { try run(deleteStatement, table.keyCount, &reader) }

  func clear() throws {
    defer { clearStatement.reset() }
    _ = try clearStatement.step()
  }

  private func run(_ statement: PreparedStatement, _ count: Int, _ reader: inout ByteReader) throws {
    for index in 0..<count { statement.bind(packed: try reader.value(), encoding, at: Int32(index + 1)) }
    defer { statement.reset() }
    _ = try statement.step()
  }
}
