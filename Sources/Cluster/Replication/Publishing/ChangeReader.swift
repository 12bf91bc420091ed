import ChangeCapture
import Following
import Ground
import LiveQuery
import Store

/// Reads what changed in a file since the last time, as the contents of a batch.
///
/// Follows all tables of the file with a capture of its own. Used in a tick's transaction. Owner: the publisher's
/// thread.
final class ChangeReader {
  /// The changes that one tick found.
  struct Tick {
    var commits: Int64 = 0
    /// Nil: the changes are more than the log carries, or unknown.
    var contents: [UInt8]?
    var hasSchemaChanged = false
    /// Whether nothing changed.
    var isQuiet: Bool { commits == 0 && contents?.isEmpty == true }
  }

  private let connection: DatabaseConnection
  /// Bytes of a batch beyond which a snapshot is cheaper.
  private let limit: Int
  private var schema: PublishedSchema
  private var tables: [Int: PublishedTable] = [:]
  private var statements: [Int: PreparedStatement] = [:]
  /// Nil: not published yet.
  private var header: FileHeader?
  /// Whether capture continues from a kept state whose table names are not known yet.
  private var isResuming = false
  private var writer = ByteWriter()

  /// Begins to follow, in a transaction that sees the state to follow from.
  ///
  /// - Throws: `ReplicationFailure` for what the log cannot carry.
  init(_ connection: DatabaseConnection, limit: Int) throws {
    self.connection = connection
    self.limit = limit
    schema = try PublishedSchema(connection.raw)
    header = try FileHeader(connection.raw)
    let capture = connection.capture
    _ = capture.advance(keepsLock: true)
    defer { capture.release() }
    capture.define { _ in nil }
    for table in schema.tables { add(table) }
    try readTables()
  }

  /// Continues from the state that capture has restored: the first tick has all changes since then.
  ///
  /// - Throws: `ReplicationFailure` for what the log cannot carry.
  init(resuming connection: DatabaseConnection, limit: Int) throws {
    self.connection = connection
    self.limit = limit
    schema = try PublishedSchema(connection.raw)
    isResuming = true
  }

  private func add(_ table: PublishedTable) {
    tables[connection.capture.follow(table.captured, remembering: [])] = table
  }

  /// Reads the tables that are not read yet, in the transaction.
  private func readTables() throws {
    while connection.capture.readOn() {}
    for table in tables.values
    where ![.rows, .pages, .comparison].contains(connection.capture.form(ofTable: table.name)) {
      throw ReplicationFailure("the table \(table.name) cannot be followed: its pages cannot be read")
    }
  }

  // MARK: - A tick

  /// Advances to the state that the transaction sees, and returns the changes.
  ///
  /// - Throws: nothing has advanced then, so it may be called again.
  func tick() throws -> Tick {
    let capture = connection.capture
    let found = capture.advance(keepsLock: true)
    defer { capture.release() }
    let fresh = found.hasSchemaChanged ? try PublishedSchema(connection.raw) : nil
    if let fresh {
      capture.define { name in fresh.tables.first { isSameName($0.name, name) }?.captured }
    } else if !isResuming {
      // No table has to be read in this state, so the lock is not needed.
      capture.release()
    }
    writer.removeAll()
    var tick = Tick(commits: found.commits, hasSchemaChanged: found.hasSchemaChanged)
    do {
      var whole: Set<Int> = []
      if isResuming {
        whole = try resume(hasSameSchema: !found.hasSchemaChanged)
      } else if let fresh {
        whole = try take(fresh)
      }
      capture.release()
      try addHeader()
      var changed: [Int: [ChangedRows]] = [:]
      for (number, delta) in found.deltas where tables[number] != nil { changed[number, default: []].append(delta) }
      for (number, deltas) in changed.sorted(by: { $0.key < $1.key }) where !whole.contains(number) {
        try add(number, deltas)
      }
      for number in whole { try addWhole(number) }
      try addSequence(whole.union(changed.keys))
      tick.contents = writer.bytes
    } catch is TooMuch {
      tick.contents = nil
    }
    return tick
  }

  /// Adds digests of tables' rows to a tick's contents, as far as the pass gets now.
  func addDigests(_ pass: inout ContentsPass, to tick: inout Tick) throws {
    guard let contents = tick.contents else { return }
    writer.removeAll()
    writer.add(plain: contents)
    try pass.advance(over: schema.tables.map(\.logged)) { table, key, isEnough in
      let digest = try TableDigester(table, connection.raw, connection.encoding).digest(after: key, isEnough: isEnough)
      writer.add(table)
      writer.add(digest)
      return digest.through
    }
    tick.contents = writer.bytes
  }

  private struct TooMuch: Error {}

  private func checkLength() throws { if writer.bytes.count > limit { throw TooMuch() } }

  /// - Returns: the tables whose rows are all sent, because they are new or replaced.
  private func take(_ fresh: PublishedSchema) throws -> Set<Int> {
    let before = schema
    schema = fresh
    statements = [:]
    var whole: Set<Int> = []
    for (number, table) in tables {
      guard let now = fresh.tables.first(where: { isSameName($0.name, table.name) }) else {
        connection.capture.unfollow(number)
        tables[number] = nil
        continue
      }
      if now.captured.definition != table.captured.definition || now.name != table.name { whole.insert(number) }
      tables[number] = now
    }
    let known = Set(tables.values.map { $0.name.lowercased() })
    for table in fresh.tables where !known.contains(table.name.lowercased()) {
      let number = connection.capture.follow(table.captured, remembering: [])
      tables[number] = table
      whole.insert(number)
    }
    try readTables()
    if fresh.objects != before.objects { writer.add(fresh.objects) }
    return whole
  }

  /// Takes over the tables that capture has restored.
  ///
  /// - Returns: the tables whose rows are all sent, because they are new.
  private func resume(hasSameSchema: Bool) throws -> Set<Int> {
    isResuming = false
    let capture = connection.capture
    for number in capture.numbers {
      guard let name = capture.name(of: number) else { continue }
      if let table = schema.tables.first(where: { isSameName($0.name, name) }) {
        tables[number] = table
      } else {
        capture.unfollow(number)
      }
    }
    let known = Set(tables.keys)
    for table in schema.tables where !tables.values.contains(where: { isSameName($0.name, table.name) }) {
      add(table)
    }
    try readTables()
    if !hasSameSchema { writer.add(schema.objects) }
    return Set(tables.keys).subtracting(known)
  }

  private func addHeader() throws {
    let now = try FileHeader(connection.raw)
    if now == header { return }
    header = now
    writer.add(.header)
    writer.add(now.userVersion)
    writer.add(now.applicationID)
  }

  /// - Parameter deltas: the changes from state to state, in order; rows are read from the last state.
  private func add(_ number: Int, _ deltas: [ChangedRows]) throws {
    guard let table = tables[number], !table.isSequence else { return }
    if deltas.contains(where: \.isUnknown) { return try addWhole(number) }
    writer.add(table.logged)
    let rows = deltas.lastOfEachRow
    // Deletions come first: a row may have taken a value that a deleted row had, and with a collation the two keys can
    // differ in bytes and still be equal to SQLite.
    for (row, delta) in rows where row.kind == .delete {
      writer.add(.delete)
      delta.forEachKeyField(of: row) { writer.add($1.packed) }
    }
    let statement = try statement(number, table)
    for (row, delta) in rows where row.kind != .delete {
      delta.forEachKeyField(of: row) { statement.bind(packed: $1.packed, connection.encoding, at: Int32($0 + 1)) }
      defer { statement.reset() }
      // A changed page may contain equal rows, but a row that was not deleted must exist.
      guard try statement.step() else { throw ReplicationFailure("a row of \(table.name) cannot be found by its key") }
      addRow(statement)
      try checkLength()
    }
    try checkLength()
  }

  /// Adds all rows of a table, which replace the former ones.
  private func addWhole(_ number: Int) throws {
    guard let table = tables[number], !table.isSequence else { return }
    writer.add(table.logged)
    writer.add(.clear)
    try addRows(of: table)
  }

  private func addRows(of table: PublishedTable) throws {
    let all = try PreparedStatement(connection.raw, table.selection, isPersistent: false)
    while try all.step() {
      addRow(all)
      try checkLength()
    }
  }

  /// Adds `sqlite_sequence` whole, because inserting rows writes it in a replica too, perhaps with other values.
  private func addSequence(_ changed: Set<Int>) throws {
    guard changed.contains(where: { tables[$0].map { $0.isSequence || $0.usesSequence } ?? false }),
      let sequence = schema.tables.first(where: \.isSequence)
    else { return }
    writer.add(sequence.logged)
    writer.add(.clear)
    try addRows(of: sequence)
  }

  private func statement(_ number: Int, _ table: PublishedTable) throws -> PreparedStatement {
    if let known = statements[number] { return known }
    let statement = try PreparedStatement(connection.raw, table.selectionByKey)
    statements[number] = statement
    return statement
  }

  private func addRow(_ statement: PreparedStatement) {
    writer.add(.put)
    writer.add(statement, 0..<statement.columnCount, connection.encoding)
  }
}

/// The settings in a file's header for the programs that use it.
struct FileHeader: Equatable {
  let userVersion: Int64
  let applicationID: Int64

  init(_ connection: OpaquePointer) throws(SQLiteFailure) {
    func number(_ pragma: String) throws(SQLiteFailure) -> Int64 {
      let statement = try PreparedStatement(connection, "PRAGMA main.\(pragma)", isPersistent: false)
      return try statement.step() ? statement.integer(0) : 0
    }
    userVersion = try number("user_version")
    applicationID = try number("application_id")
  }
}

extension StoredValue {
  fileprivate var packed: PackedValue {
    switch self {
    case .null, .missing: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let bytes): .text(bytes)
    case .blob(let bytes): .blob(bytes)
    }
  }
}
