import LiveQuery
package import TestSupport
package import Wire

// The rows of a client, as one line: `'A'/A: 1,'x' 2,null | null/: 3,'y'`.
extension ClientModel {
  package var line: String {
    sections.map { section in
      let rows = section.rows.map { row in
        row.map { row in columns.map { (row[$0] ?? .null).short }.joined(separator: ",") } ?? "?"
      }
      let head = "\(section.name.short)/\(section.indexTitle):"
      return ([head] + rows).joined(separator: " ")
    }.joined(separator: " | ")
  }
}

extension JSONValue {
  /// Short and unambiguous: text in single quotes.
  package var short: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .string(let value): "'\(value)'"
    case .array(let values): "[\(values.map(\.short).joined(separator: " "))]"
    case .object(let members):
      "{\(members.keys.sorted().map { "\($0):\(members[$0]!.short)" }.joined(separator: " "))}"
    }
  }
}

extension LiveClient {
  /// The client's rows of a subscription, or the error that ended it.
  package func line(_ id: String) -> String {
    if let model = models[id] { return model.line }
    guard let error = errors[id] else { return "nothing" }
    return "\(error["code"]?.short ?? "") \(error["message"]?.short ?? "")"
  }

  /// The type of the last message that changed the model, or `nothing`.
  package func change(_ id: String) -> String {
    guard let message = last[id], case .string(let type)? = message["type"] else { return "nothing" }
    return type
  }
}
