import LiveQuery
package import Wire

extension JSONValue {
  /// As JSON text.
  package var json: String {
    var writer = JSONWriter()
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let value): writer.bool(value)
    case .integer(let value): writer.integer(value)
    case .real(let value): writer.value(SQLValue.real(value))
    case .string(let value): writer.string(value)
    case .array(let values): writer.array { list in for value in values { value.write(to: &list) } }
    case .object(let members):
      writer.object { object in
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          object.name(escaping: name)
          value.write(to: &object)
        }
      }
    }
  }
}
