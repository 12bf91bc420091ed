/// A set of columns of one table.
///
/// Bit i stands for column i of the table, generated columns included; columns from 62 on share bit 62. Inserted and
/// deleted rows have every bit (`all`), because all of their columns changed.
package struct ColumnMask: Sendable, Equatable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static let all = ColumnMask(rawValue: -1)
  package static let none = ColumnMask(rawValue: 0)

  /// The bit that all further columns share.
  package static let lastBit = 62

  /// The bit that stands for column `index`.
  package static func bit(_ index: Int) -> Int64 { 1 << Int64(min(index, lastBit)) }

  /// Whether column `index` may have changed. For the first 62 columns this is exact.
  package func contains(_ index: Int) -> Bool {
    rawValue & Self.bit(index) != 0
  }

  package func intersects(_ other: ColumnMask) -> Bool {
    rawValue & other.rawValue != 0
  }
}
