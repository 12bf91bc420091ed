package import Ground
package import LiveQuery
package import RankedCollections

/// Units of a result that changes can concern, with the result's columns that may have changed.
package struct ConcernedUnits {
  private var numbers: IdentityNumbers
  /// The columns of each unit, by the unit's number.
  private var columns: [ColumnSet] = []

  package init() { numbers = IdentityNumbers() }

  package init(reserving count: Int) {
    numbers = IdentityNumbers(reserving: count)
    columns.reserveCapacity(count)
  }

  /// Creates a set of units that have numbers already, and their columns by number.
  package init(_ numbers: IdentityNumbers, _ columns: [ColumnSet]) {
    self.numbers = numbers
    self.columns = columns
  }

  package var count: Int { columns.count }
  package var isEmpty: Bool { columns.isEmpty }

  package mutating func add(_ unit: Bytes, _ more: ColumnSet) {
    let (number, isNew) = numbers.insert(unit)
    if isNew { columns.append(more) } else { columns[number].formUnion(more) }
  }

  package mutating func add(_ other: ConcernedUnits) { other.forEach { add($0, $1) } }

  /// The columns that may have changed in a unit's rows; nil if the set does not contain the unit.
  package func columns(of unit: Bytes) -> ColumnSet? { numbers.number(of: unit).map { columns[$0] } }

  /// Calls `body` with each unit, in the order in which they were added.
  package func forEach(_ body: (_ unit: Bytes, _ columns: ColumnSet) throws -> Void) rethrows {
    for number in columns.indices { try withUnit(number) { try body($0, columns[number]) } }
  }

  /// As above, for the unit that is a row's identity.
  package func columns(of row: SectionedTree.Row) -> ColumnSet? { numbers.number(of: row).map { columns[$0] } }

  /// A unit's number, in the order in which units were added; nil if the set does not contain the unit.
  func number(of unit: Bytes) -> Int? { numbers.number(of: unit) }

  func withUnit(_ number: Int, _ body: (Bytes) throws -> Void) rethrows {
    try numbers.withIdentity(number, body)
  }
}
