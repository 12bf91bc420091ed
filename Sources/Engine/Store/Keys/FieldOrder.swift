package import LiveQuery

/// How one value of an encoded key sorts.
package struct FieldOrder: Hashable, Sendable {
  package typealias Collation = LiveQuery.Collation

  package var collation: Collation
  package var isDescending: Bool
  /// Whether NULL comes after everything else, before DESC inverts the order.
  var isNullHigh: Bool
  package var areNullsFirst: Bool { isNullHigh == isDescending }

  /// - Parameter nullsFirst: nil for SQLite's default, first when ascending and last when descending.
  package init(collation: Collation = .binary, isDescending: Bool = false, nullsFirst: Bool? = nil) {
    self.collation = collation
    self.isDescending = isDescending
    isNullHigh = (nullsFirst ?? !isDescending) == isDescending
  }

  /// The order of keys, whose values must be read back.
  package static let identity = FieldOrder()
}
