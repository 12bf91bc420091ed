/// A row's payload: a stamp of its contents. Rows with equal stamps have equal contents (to one chance in 2^64).
///
/// So the difference of two trees also shows which rows changed in place, and a transaction that ends where it began
/// (A→B→A) makes no difference and sends nothing. The seed is random in every process, so that an attacker cannot make
/// two rows that agree.
package struct RowStamp: Equatable, Sendable {
  package var hash: UInt64
  package init(_ hash: UInt64) { self.hash = hash }
}

extension RowStamp: RankedPayload {
  var weight: Int { 1 }
  static var leafLimit: Int { NodeLimits.row }
  func isSame(as other: RowStamp) -> Bool { self == other }
}

/// A section's payload: its rows, its label (encoded name and index title), and its totals. This module does not
/// interpret labels and totals.
struct Section {
  var rows: RankedTree<RowStamp>
  var label: [UInt8]
  var totals: [UInt8] = []
}

extension Section: RankedPayload {
  var weight: Int { rows.count }
  static var leafLimit: Int { NodeLimits.section }
  func isSame(as other: Section) -> Bool {
    rows.root === other.rows.root && label == other.label && totals == other.totals
  }
}
