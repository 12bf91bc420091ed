/// A parsed JSON text. Integers that fit 64 bits stay exact.
package indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The kind of the value, for messages to people: "a number", "an array".
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .real: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  package subscript(member: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[member]
  }
}
