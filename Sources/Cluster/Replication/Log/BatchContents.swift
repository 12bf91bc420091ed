import Ground
import LiveQuery

/// The items of a batch, one after the other.
enum BatchItem: UInt8 {
  /// All of the schema's objects, as they are from here on.
  case schema = 1
  /// The table to which the following items belong.
  case table = 2
  /// A row was deleted: its key.
  case delete = 3
  /// A row was inserted or updated: its values, with the key's first.
  case put = 4
  /// All rows of the table are deleted.
  case clear = 5
  /// `user_version` and `application_id` of the file.
  case header = 6
  /// A digest of some rows of the table at this place of the log.
  case digest = 7
}

/// A table in the log, with all that is needed to write its rows.
struct LogTable: Hashable, Sendable {
  var name: String
  /// Columns that have values of their own; the key's first.
  var columns: [String]
  var keyCount: Int
}

/// An object of a schema, as `sqlite_schema` has it.
struct SchemaObject: Hashable, Sendable {
  var type: String
  var name: String
  var table: String
  /// Nil for the indexes that SQLite makes by itself.
  var sql: String?
  /// Whether it has rows of its own.
  var isStored: Bool

  var isVirtual: Bool { type == "table" && !isStored }
}

extension ByteWriter {
  mutating func add(_ item: BatchItem) { add(byte: item.rawValue) }

  mutating func add(_ table: LogTable) {
    add(.table)
    add(table.name)
    add(table.keyCount)
    add(table.columns.count)
    for column in table.columns { add(column) }
  }

  mutating func add(_ objects: [SchemaObject]) {
    add(.schema)
    add(objects.count)
    for object in objects {
      add(object.type)
      add(object.name)
      add(object.table)
      add(byte: object.sql == nil ? 0 : 1)
      if let sql = object.sql { add(sql) }
      add(byte: object.isStored ? 1 : 0)
    }
  }

  /// A value; text in the database's own encoding.
  @inline(__always)
  mutating func add(_ value: PackedValue) {
    switch value {
    case .null: add(byte: 0)
    case .integer(let number):
      add(byte: 1)
      add(number)
    case .real(let number):
      add(byte: 2)
      withUnsafeBytes(of: number.bitPattern.littleEndian) { add(plain: $0) }
    case .text(let bytes):
      add(byte: 3)
      add(bytes)
    case .blob(let bytes):
      add(byte: 4)
      add(bytes)
    }
  }
}

extension ByteReader {
  mutating func item() throws(Malformed) -> BatchItem {
    guard let item = BatchItem(rawValue: try byte()) else { throw Malformed() }
    return item
  }

  mutating func table() throws(Malformed) -> LogTable {
    let name = try text()
    let keyCount = try number()
    var columns: [String] = []
    for _ in 0..<(try count()) { columns.append(try text()) }
    guard (1...max(1, columns.count)).contains(keyCount), keyCount <= columns.count else { throw Malformed() }
    return LogTable(name: name, columns: columns, keyCount: keyCount)
  }

  mutating func objects() throws(Malformed) -> [SchemaObject] {
    var objects: [SchemaObject] = []
    for _ in 0..<(try count()) {
      let (type, name, table) = (try text(), try text(), try text())
      let sql = try byte() == 1 ? try text() : nil
      objects.append(SchemaObject(type: type, name: name, table: table, sql: sql, isStored: try byte() == 1))
    }
    return objects
  }

  mutating func value() throws(Malformed) -> PackedValue {
    switch try byte() {
    case 0: return .null
    case 1: return .integer(try signed())
    case 2: return .real(Double(bitPattern: try word()))
    case 3: return .text(try counted())
    case 4: return .blob(try counted())
    default: throw Malformed()
    }
  }
}
