import Foundation
import GRDB
import LiveQuery
import TestSupport
import Wire

/// Tables as a reader of the feed has them: read once, with every change since.
struct ChangedCopy: Equatable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// The columns of each row, by table and by the text of the row's key.
  var tables: [String: [String: [String: JSONValue]]] = [:]
  /// Tables whose copy is known to be outdated.
  var unknown: Set<String> = []

  static func == (left: ChangedCopy, right: ChangedCopy) -> Bool { left.tables == right.tables }

  /// Applies a message, and checks the former rows in it.
  mutating func apply(_ message: JSONValue) throws {
    for change in try message.list("changes", { $0 }) {
      let table = try change.required("table").text()
      let operation = try change.required("op").text()
      if operation == "schema" {
        unknown.insert(table)
        continue
      }
      if unknown.contains(table) { continue }
      let key = try change.required("key").sorted
      let before = tables[table]?[key]
      if let old = change["old"]?.members {
        guard let before else { throw Failure(description: "\(operation) of a row that is not there: \(change)") }
        for (column, value) in old where before[column] != value {
          throw Failure(description: "\(column) was \(before[column] ?? .null) and not as \(change) says")
        }
        if operation == "delete", old.count != before.count {
          throw Failure(description: "old lacks columns of \(before): \(change)")
        }
      }
      switch operation {
      case "delete": tables[table]?[key] = nil
      case "insert":
        if before != nil { throw Failure(description: "a row that is there comes once more: \(change)") }
        tables[table, default: [:]][key] = change["new"]?.members
      case "update":
        guard let before, let new = change["new"]?.members else {
          throw Failure(description: "a row that is not there is updated: \(change)")
        }
        if let old = change["old"]?.members {
          let changed = Set(new.keys.filter { new[$0] != before[$0] })
          if changed != Set(old.keys) { throw Failure(description: "\(changed) changed, and not as \(change) says") }
        }
        tables[table]?[key] = new
      default: throw Failure(description: "what is \(operation)?")
      }
    }
  }

  /// The contents of the file.
  init(_ db: Database, keys: [String: [String]]) throws {
    for (table, key) in keys {
      let columns = key == ["rowid"] ? "rowid AS rowid, *" : "*"
      guard try db.tableExists(table) else { continue }
      var rows: [String: [String: JSONValue]] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table)") {
        var members: [String: JSONValue] = [:]
        for (name, value) in row { members[name] = JSONValue(value) }
        let name = JSONValue.object(Dictionary(uniqueKeysWithValues: key.map { ($0, members[$0] ?? .null) })).sorted
        if key == ["rowid"] { members["rowid"] = nil }
        rows[name] = members
      }
      tables[table] = rows
    }
  }
}

extension JSONValue {
  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number):
      self = number.magnitude < 1 << 53 ? .integer(number) : .object(["$int": .string(String(number))])
    case .double(let number): self = .real(number)
    case .string(let text): self = .string(text)
    case .blob(let data): self = .object(["$blob": .string(data.base64EncodedString())])
    }
  }

  /// A text that is the same for the same value.
  fileprivate var sorted: String {
    guard case .object(let members) = self else { return "\(self)" }
    return members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }
}
