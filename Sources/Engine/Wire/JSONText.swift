import LiveQuery

extension JSONValue {
  /// The value as JSON text, with members in the order of their names.
  package var jsonText: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let number): integer(number)
    case .real(let number): self.value(SQLValue.real(number))
    case .string(let text): string(text)
    case .array(let elements): array { writer in for element in elements { writer.write(element) } }
    case .object(let members):
      object { writer in
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          writer.name(escaping: name)
          writer.write(value)
        }
      }
    }
  }
}
