// Totals of a result and of its sections in the form that a `SectionedTree` keeps: packed names, values and errors in
// turn, in the order of the names.

extension PackedValues {
  package mutating func appendTotal(_ name: String, _ value: PackedValue) {
    append(SQLValue.text(name))
    append(value)
    append(SQLValue.null)
  }

  /// - Parameter error: why the total cannot be computed.
  package mutating func appendTotal(_ name: String, _ value: SQLValue, error: String?) {
    append(SQLValue.text(name))
    append(value)
    append(error.map { .text($0) } ?? SQLValue.null)
  }
}

extension [NamedValue] {
  /// Decodes the bytes that a `SectionedTree` keeps.
  package init(totals bytes: [UInt8]) {
    // Most lists have no totals.
    if bytes.isEmpty { self = [] } else { self = Self.all(bytes) }
  }

  private static func all(_ bytes: [UInt8]) -> [NamedValue] {
    bytes.withUnsafeBytes { bytes in
      var reader = PackedValueReader(bytes)
      var values: [NamedValue] = []
      while !reader.isAtEnd { values.append(reader.nextTotal()) }
      return values
    }
  }

  /// The totals that differ, bit by bit, from former totals of the same names; all of them if there were no former
  /// totals.
  init(totals bytes: [UInt8], changedSince former: [UInt8]) {
    if former.isEmpty {
      self.init(totals: bytes)
    } else {
      self = former == bytes ? [] : Self.changes(bytes, former)
    }
  }

  private static func changes(_ bytes: [UInt8], _ former: [UInt8]) -> [NamedValue] {
    bytes.withUnsafeBytes { bytes in
      former.withUnsafeBytes { former in
        var (reader, formerReader) = (PackedValueReader(bytes), PackedValueReader(former))
        var values: [NamedValue] = []
        while !reader.isAtEnd {
          var start = reader
          let isSame = (0..<3).map { _ in reader.skipEqual(&formerReader) }
          if isSame != [true, true, true] { values.append(start.nextTotal()) }
        }
        return values
      }
    }
  }
}

extension PackedValueReader {
  fileprivate mutating func nextTotal() -> NamedValue {
    guard case .text(let name) = next().value else { preconditionFailure("a total without a name") }
    var total = NamedValue(name: name, value: next().value)
    if case .text(let error) = next().value { total.error = error }
    return total
  }
}
