import Foundation
import LiveQuery
import Wire

/// A row's change as Debezium's connectors tell it: https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events.
///
/// `before` is the whole former row, and null where that is not known. A table that was altered, and a gap, have no envelope: they end the
/// command, for a consumer would have to read the tables again.
enum DebeziumEnvelope {
  static func lines(_ message: ChangesMessage) throws -> [[UInt8]] {
    switch message {
    case .position: return []
    case .gap(_, let reason): throw CommandFailure("what has changed is not known: \(reason)")
    case .changes(let position, let members):
      guard case .object(let object) = try JSONParser.parse(Array("{".utf8) + members + Array("}".utf8)),
        case .array(let changes)? = object["changes"]
      else { return [] }
      return try changes.map { try line($0, position, object["commit"] ?? .null) }
    }
  }

  private static func line(_ change: JSONValue, _ position: String, _ commit: JSONValue) throws -> [UInt8] {
    guard case .string(let table)? = change["table"], case .string(let operation)? = change["op"] else { return [] }
    let (old, new) = (change["old"]?.objectMembers, change["new"]?.objectMembers)
    let (code, before): (String, [String: JSONValue]?)
    switch operation {
    case "insert": (code, before) = ("c", nil)
    case "delete": (code, before) = ("d", old)
    case "update": (code, before) = ("u", old.map { (new ?? [:]).merging($0) { $1 } })
    default: throw CommandFailure("\(table) was altered: what a consumer has of it must be read again")
    }
    let milliseconds = Int64(Date().timeIntervalSince1970 * 1_000)
    let source: JSONValue = .object([
      "connector": .string("freshet"), "table": .string(table), "position": .string(position), "commit": commit,
      "ts_ms": .integer(milliseconds),
    ])
    let envelope: JSONValue = .object([
      "op": .string(code), "before": before.map { .object($0) } ?? .null,
      "after": operation == "delete" ? .null : new.map { .object($0) } ?? .null, "source": source,
      "ts_ms": .integer(milliseconds),
    ])
    var writer = JSONWriter()
    writer.json(envelope)
    return writer.bytes + [0x0A]
  }
}

extension JSONWriter {
  fileprivate mutating func json(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .real(let value): self.value(SQLValue.real(value))
    case .string(let value): string(value)
    case .array(let values): array { for value in values { $0.json(value) } }
    case .object(let members):
      object { object in
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          object.name(escaping: name)
          object.json(value)
        }
      }
    }
  }
}

extension JSONValue {
  fileprivate var objectMembers: [String: JSONValue]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}
