/// A set of columns, by index. Columns from 63 on share one member, so a set with one of them has all of them.
package struct ColumnSet: Hashable, Sendable {
  package private(set) var bits: UInt64

  package init(bits: UInt64 = 0) { self.bits = bits }

  package static let all = ColumnSet(bits: .max)

  package var isEmpty: Bool { bits == 0 }
  package func contains(_ column: Int) -> Bool { bits & (1 << UInt64(min(column, 63))) != 0 }
  package mutating func insert(_ column: Int) { bits |= 1 << UInt64(min(column, 63)) }
  package mutating func formUnion(_ other: ColumnSet) { bits |= other.bits }
}
