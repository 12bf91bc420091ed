import Ground
import LiveQuery
import RankedCollections

// Bringing a result up to date from the rows that capture has read.
extension ResultReader {
  /// Evaluates the query over the changed rows instead of looking these up, and makes the editor agree with what it
  /// gives.
  ///
  /// - Returns: false when the units must be looked up, which makes up for whatever this has done.
  func refresh(
    _ units: ConcernedUnits, evaluating captured: CapturedRows, in editor: inout SectionedTreeEditor
  ) throws(FreshetError) -> Bool {
    guard plan.unit?.isKey == true, !statements.isClosed, captured.load(),
      statements.prepareCaptured(),
      let statement = statements.captured
    else { return false }
    bind()
    do {
      let isDone = try captured.withRows(of: units) {
        defer { statement.reset() }
        return try units.count == 1
          ? evaluateOne(units, statement, in: &editor) : evaluateTogether(units, statement, in: &editor)
      }
      if isDone == true {
        try editor.refreshLabels { identity in
          try checkSnapshot()
          return try withRow(identity: identity) { row.label($0) }
        }
        return true
      }
    } catch let error as FreshetError { throw error } catch {
      // An error of the statement is an error of looking up as well, or a difference between the two.
    }
    forgetContents()
    return false
  }

  private func evaluateOne(
    _ units: ConcernedUnits, _ statement: PreparedStatement, in editor: inout SectionedTreeEditor
  ) throws -> Bool {
    guard try statement.step() else {
      units.forEach { unit, _ in editor.remove(unit) }
      return true
    }
    row.readWhole(statement)
    let isUnit = try row.withParts { section, label, entry in
      let identity = RankedEntry.identity(of: entry)
      guard units.number(of: identity) != nil else { return false }
      recent.keep(identity, row)
      editor.put(section: section, label: label, entry: entry, stamp: row.stamp)
      try check(rows: editor.tree.count, bytes: 0)
      return true
    }
    return try isUnit && !statement.step()
  }

  func evaluateTogether(
    _ units: ConcernedUnits, _ statement: PreparedStatement, in editor: inout SectionedTreeEditor
  ) throws -> Bool {
    recent.reserve(units.count)
    var changes = RowBatch(reserving: units.count)
    var isThere = [Bool](repeating: false, count: units.count)
    while try statement.step() {
      row.readWhole(statement)
      let isNew = row.withParts { section, label, entry in
        let identity = RankedEntry.identity(of: entry)
        guard let number = units.number(of: identity), !isThere[number] else { return false }
        isThere[number] = true
        changes.put(section: section, label: label, entry: entry, stamp: row.stamp, in: editor)
        recent.keep(identity, row)
        return true
      }
      if !isNew { return false }
    }
    for number in isThere.indices where !isThere[number] {
      units.withUnit(number) { changes.remove($0, from: editor) }
    }
    editor.apply(changes)
    try check(rows: editor.tree.count, bytes: 0)
    return true
  }
}

// The other way as an oracle.
extension ResultReader {
  #if DEBUG
    private static let comparesUnlessAsked = true
  #else
    private static let comparesUnlessAsked = false
  #endif

  /// Whether rows that were evaluated are looked up as well and compared: always in debug builds, and otherwise where
  /// the environment says `FRESHET_COMPARE_ROWS=1`.
  package static let comparesRows =
    getenv("FRESHET_COMPARE_ROWS").map { String(cString: $0) == "1" } ?? comparesUnlessAsked

  /// Comparing takes a look at every row of a list: one with more rows is compared now and then.
  private static let comparedRows = 5_000

  /// Whether to compare now. Looking up begins the transaction of a tick that has none, so only half of such ticks
  /// compare.
  ///
  /// - Parameter rows: the number of rows of the list.
  func mustCompare(_ rows: Int) -> Bool {
    guard Self.comparesRows, statements.hasTransaction || Bool.random() else { return false }
    return rows <= Self.comparedRows || Int.random(in: 0..<rows) < Self.comparedRows / 20
  }

  /// Ends the process where looking the units up gives something else than evaluating them did.
  ///
  /// - Parameters:
  ///   - evaluated: the result of evaluating.
  ///   - before: the tree that it was made of.
  func compare(_ evaluated: SectionedTreeEditor, to units: ConcernedUnits, _ before: SectionedTreeEditor) {
    let contents = recent
    isComparing = true
    defer {
      recent = contents
      isComparing = false
    }
    var lookedUp = before
    // An error of reading says nothing.
    guard (try? refresh(units, in: &lookedUp)) != nil else { return }
    let differing = lookedUp.tree.identities(differingFrom: evaluated.tree)
    if differing.isEmpty, lookedUp.tree.digest() == evaluated.tree.digest() { return }
    let keys = differing.map { identity in identity.withUnsafeBytes { KeyDecoder.describe($0) } }
    fatalError(
      "rows that were evaluated differ from those looked up: \(keys), of \(plan.unit?.capturedSQL ?? plan.rows.scanSQL)"
    )
  }
}
