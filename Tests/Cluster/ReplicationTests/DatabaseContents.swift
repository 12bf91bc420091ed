import CSQLite
import Foundation
import Ground
import LiveQuery

@testable import Replication
@testable import Store

/// Everything that must be equal in two files: the schema's objects, and the rows of every table with their rowids.
struct DatabaseContents: Equatable {
  var objects: Set<SchemaObject> = []
  var rows: [String: [[UInt8]]] = [:]

  init(path: String) throws {
    let opened = try Connection(path)
    defer { withExtendedLifetime(opened) {} }
    let connection = opened.raw
    try PreparedStatement.run(connection, "BEGIN")
    let schema = try PublishedSchema(connection)
    objects = Set(schema.objects)
    let name = try PreparedStatement(connection, "PRAGMA encoding", isPersistent: false)
    let encoding = try name.step() ? TextEncoding(rawValue: name.text(0) ?? "") ?? .utf8 : .utf8
    for table in schema.tables {
      let statement = try PreparedStatement(connection, table.selection, isPersistent: false)
      var rows: [[UInt8]] = []
      while try statement.step() {
        var writer = ByteWriter()
        for column in 0..<statement.columnCount {
          if encoding != .utf8, statement.isText(column) {
            encoding.bytes(of: statement.handle, Int32(column)).withUnsafeBytes { writer.add(.text($0)) }
          } else {
            writer.add(statement.value(column))
          }
        }
        rows.append(writer.bytes)
      }
      self.rows[table.name] = rows.sorted { $0.lexicographicallyPrecedes($1) }
    }
    let header = try FileHeader(connection)
    rows["header"] = [Array("\(header)".utf8)]
  }

  /// The differences, in words.
  func differences(from other: DatabaseContents) -> [String] {
    var found: [String] = []
    for object in objects.symmetricDifference(other.objects) {
      found.append("\(objects.contains(object) ? "only here" : "only there"): \(object)")
    }
    for name in Set(rows.keys).union(other.rows.keys).sorted() where rows[name] != other.rows[name] {
      let (here, there) = (rows[name] ?? [], other.rows[name] ?? [])
      found.append("\(name): \(here.count) rows here, \(there.count) there")
    }
    return found
  }
}
