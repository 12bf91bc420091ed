package import LiveQuery
package import RankedCollections

/// How a followed result differs from a fresh one. It contains no values of the database.
package struct ResultDivergence: Sendable {
  package var heldRows: Int
  package var freshRows: Int
  package var heldSections: Int
  package var freshSections: Int
  /// The number of rows that differ; 0 if only totals or values alongside differ.
  package var differingRows: Int
}

// Checks whether a result is what a fresh run gives.
extension ResultReader {
  /// Runs the query and compares the result with the followed one.
  ///
  /// - Returns: nil if both are the same. Otherwise `confirm` must check the difference, because SQLite may give a row
  ///   other values in a run than in a look-up, for example in the last digits of a sum.
  package func suspect(_ held: SectionedTree, _ alongside: [NamedValue]) throws(FreshetError) -> ResultDivergence? {
    let fresh = try run(into: nil)
    let hasSameValues = ResultReader.agree(alongside, fresh.alongside)
    let hasSameTotals = ResultReader.agreeInTotals(held, fresh.editor.tree)
    if hasSameValues, hasSameTotals, held.count == fresh.editor.tree.count,
      held.digest() == fresh.editor.tree.digest()
    {
      return nil
    }
    return divergence(held, fresh.editor.tree, held.identities(differingFrom: fresh.editor.tree).count)
  }

  /// Compares a result with a fresh run of the same state, and looks up the rows that differ. If the look-up leaves the
  /// result as it was, both are right: SQLite may answer the query in more than one way.
  ///
  /// - Parameter editor: an editor of the result, to which `memory` belongs.
  package func confirm(
    _ editor: SectionedTreeEditor, _ alongside: [NamedValue]
  ) throws(FreshetError) -> ResultDivergence? {
    let (held, heldMemory) = (editor.tree, memory)
    let fresh = try run(into: nil)
    let identities = held.identities(differingFrom: fresh.editor.tree)
    let divergence = divergence(held, fresh.editor.tree, identities.count)
    if !ResultReader.agree(alongside, fresh.alongside) { return divergence }
    if !ResultReader.agreeInTotals(held, fresh.editor.tree) { return divergence }
    if identities.isEmpty, held.digest() == fresh.editor.tree.digest() { return nil }
    guard let unit = plan.unit else { return divergence }
    var units = ConcernedUnits(reserving: identities.count)
    for identity in identities {
      let known = unit.isKey ? [identity] : [heldMemory.keys.unit(of: identity), memory.keys.unit(of: identity)]
      for unit in known.compactMap(\.self) { unit.withUnsafeBytes { units.add($0, .all) } }
    }
    var editor = editor
    memory = heldMemory
    try refresh(units, in: &editor)
    return editor.tree.digest() == held.digest() ? nil : divergence
  }

  private func divergence(_ held: SectionedTree, _ fresh: SectionedTree, _ rows: Int) -> ResultDivergence {
    ResultDivergence(
      heldRows: held.count, freshRows: fresh.count, heldSections: held.sectionCount, freshSections: fresh.sectionCount,
      differingRows: rows)
  }

  private static func agreeInTotals(_ left: SectionedTree, _ right: SectionedTree) -> Bool {
    func agree(_ left: [UInt8], _ right: [UInt8]) -> Bool {
      left == right || Self.agree([NamedValue](totals: left), [NamedValue](totals: right))
    }
    return left.sectionCount == right.sectionCount && agree(left.totals, right.totals)
      && (0..<left.sectionCount).allSatisfy { agree(left.totals(ofSection: $0), right.totals(ofSection: $0)) }
  }

  /// Whether values are equal, up to rounding: sums of reals depend on the order in which SQLite reads the rows.
  private static func agree(_ left: [NamedValue], _ right: [NamedValue]) -> Bool {
    left.count == right.count
      && zip(left, right).allSatisfy { left, right in
        guard case (.real(let one), .real(let other)) = (left.value, right.value) else { return left == right }
        return one == other || abs(one - other) <= 1e-9 * max(abs(one), abs(other))
      }
  }
}
