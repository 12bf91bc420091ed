package import LiveQuery

/// How one value of an encoded key sorts.
package struct FieldOrder: Hashable, Sendable {
  package typealias Collation = LiveQuery.Collation

  package var collation: Collation
  package var isDescending: Bool
  /// Before inversion for DESC: whether NULL comes after everything.
  var isNullHigh: Bool
  package var areNullsFirst: Bool { isNullHigh == isDescending }

  /// - Parameter nullsFirst: nil for SQLite's default, first when ascending and last when descending.
  package init(collation: Collation = .binary, isDescending: Bool = false, nullsFirst: Bool? = nil) {
    self.collation = collation
    self.isDescending = isDescending
    isNullHigh = (nullsFirst ?? !isDescending) == isDescending
  }

  /// For values that must be read back: keys.
  package static let identity = FieldOrder()
}
