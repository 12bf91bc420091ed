import CSQLite
import ChangeCapture
import LiveQuery
import Store

/// A table whose rows the log carries.
struct PublishedTable: Equatable {
  let captured: CapturedTable
  let logged: LogTable
  /// Whether it is `sqlite_sequence`. SQLite writes it when it writes to other tables, so all of its rows are sent
  /// whenever it or one of those tables changed.
  let isSequence: Bool
  let usesSequence: Bool
  /// The SELECT that rows are looked up with.
  let selection: String

  var name: String { captured.name }
}

/// The part of a schema that the log carries, and the part that it cannot.
struct PublishedSchema {
  private(set) var objects: [SchemaObject] = []
  private(set) var tables: [PublishedTable] = []

  /// Whether a table is logged: not Freshet's own tables, nor statistics that SQLite's planner may have gathered with
  /// build options that replicas lack.
  static func isLogged(_ name: String) -> Bool {
    let name = name.lowercased()
    return !name.hasPrefix(ReservedNames.prefix) && name != "sqlite_stat4" && name != "sqlite_stat3"
  }

  /// Reads the schema of the state that the connection's transaction sees.
  ///
  /// - Throws: `ReplicationFailure` for what the log cannot carry.
  init(_ connection: OpaquePointer) throws {
    sqlite_disable_triggers(connection)
    let list = try PreparedStatement(
      connection,
      """
      SELECT master.type, master.name, master.tbl_name, master.rootpage, master.sql, list.wr
      FROM main.sqlite_schema AS master
      LEFT JOIN pragma_table_list AS list ON list.schema = 'main' AND list.name = master.name AND master.type = 'table'
      ORDER BY master.rowid
      """, isPersistent: false)
    var stored: [(name: String, rootPage: UInt32, definition: String, isWithoutRowid: Bool)] = []
    while try list.step() {
      guard let type = list.text(0), let name = list.text(1), let table = list.text(2),
        Self.isLogged(name), Self.isLogged(table)
      else { continue }
      let rootPage = UInt32(clamping: list.integer(3))
      objects.append(
        SchemaObject(type: type, name: name, table: table, sql: list.text(4), isStored: rootPage > 0))
      if type == "table", rootPage > 0 { stored.append((name, rootPage, list.text(4) ?? "", list.integer(5) == 1)) }
    }
    for (name, rootPage, definition, isWithoutRowid) in stored {
      tables.append(
        try PublishedTable(
          connection, name: name, rootPage: rootPage, definition: definition, isWithoutRowid: isWithoutRowid))
    }
  }
}

extension PublishedTable {
  fileprivate init(
    _ connection: OpaquePointer, name: String, rootPage: UInt32, definition: String, isWithoutRowid: Bool
  ) throws {
    let info = try PreparedStatement(
      connection, "SELECT name, pk, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid", isPersistent: false)
    info.bind(.text(name), at: 1)
    var columns: [(name: String, isKey: Bool)] = []
    var all: [String] = []
    while try info.step() {
      let column = info.text(0) ?? ""
      all.append(column)
      // Generated columns are left out: replicas compute them.
      if info.integer(2) < 2 { columns.append((column, info.integer(1) > 0)) }
    }
    var layout = RecordLayout(isWithoutRowid: isWithoutRowid)
    let key: [String]
    let index = try PreparedStatement(
      connection,
      """
      SELECT info.name FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS info
      WHERE list.origin = 'pk' AND info."key" ORDER BY info.seqno
      """, isPersistent: false)
    index.bind(.text(name), at: 1)
    var indexed: [String] = []
    while try index.step() { indexed.append(index.text(0) ?? "") }
    if isWithoutRowid {
      key = indexed
      layout.keyFieldCount = indexed.count
    } else if indexed.isEmpty, let alias = columns.first(where: \.isKey) {
      key = [alias.name]
    } else {
      let free = TableKey.rowidNames.first { name in !all.contains { isSameName($0, name) } }
      guard let free else {
        throw ReplicationFailure(
          "the table \(name) cannot be replicated: it has columns named rowid, _rowid_ and oid, so nothing names its rows"
        )
      }
      key = [free]
    }
    let others = columns.map(\.name).filter { column in !key.contains { isSameName($0, column) } }
    captured = CapturedTable(name: name, rootPage: rootPage, definition: definition, layout: layout)
    logged = LogTable(name: name, columns: key + others, keyCount: key.count)
    isSequence = isSameName(name, "sqlite_sequence")
    // A valid definition contains AUTOINCREMENT only as a keyword or in a comment; the latter costs a few bytes.
    usesSequence = definition.lowercased().contains("autoincrement")
    selection = logged.selectStatement
    do { _ = try PreparedStatement(connection, logged.putStatement, isPersistent: false) } catch {
      throw ReplicationFailure("the table \(name) cannot be replicated: \(error.message)")
    }
  }

  /// The SELECT of one row, whose key is given by parameters.
  var selectionByKey: String { "\(selection) WHERE \(logged.keyCondition)" }
}

extension LogTable {
  var keyCondition: String {
    columns.prefix(keyCount).enumerated().map { "\(quotedIdentifier($1)) = ?\($0 + 1)" }.joined(separator: " AND ")
  }

  var selectStatement: String {
    "SELECT \(columns.map(quotedIdentifier).joined(separator: ", ")) FROM main.\(quotedIdentifier(name))"
  }

  var putStatement: String {
    let names = columns.map(quotedIdentifier).joined(separator: ", ")
    let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    return "INSERT OR REPLACE INTO main.\(quotedIdentifier(name))(\(names)) VALUES (\(values))"
  }

  var deleteStatement: String { "DELETE FROM main.\(quotedIdentifier(name)) WHERE \(keyCondition)" }
  var clearStatement: String { "DELETE FROM main.\(quotedIdentifier(name))" }
}
