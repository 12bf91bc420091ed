import Ground
import LiveQuery
import RankedCollections

// Brings a result up to date from the rows that capture has read.
extension ResultReader {
  /// Evaluates the query over the changed rows, instead of looking them up, and makes the editor agree with the result.
  ///
  /// - Returns: false if the units must be looked up, which also corrects what this has changed already.
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
      // An error of the statement is also an error of looking up, or the two ways differ.
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

// Compares evaluating with looking up.
extension ResultReader {
  #if DEBUG
    private static let comparesUnlessAsked = true
  #else
    private static let comparesUnlessAsked = false
  #endif

  /// Whether rows that were evaluated are also looked up and compared: always in debug builds, otherwise if the
  /// environment has `FRESHET_COMPARE_ROWS=1`.
  package static let comparesRows =
    getenv("FRESHET_COMPARE_ROWS").map { String(cString: $0) == "1" } ?? comparesUnlessAsked

  /// Comparing reads every row of a list, so a list with more rows is compared only now and then.
  private static let comparedRows = 5_000

  /// Whether to compare now. Looking up begins a transaction if the tick has none, so only half of such ticks compare.
  ///
  /// - Parameter rows: the number of rows of the list.
  func mustCompare(_ rows: Int) -> Bool {
    guard Self.comparesRows, statements.hasTransaction || Bool.random() else { return false }
    return rows <= Self.comparedRows || Int.random(in: 0..<rows) < Self.comparedRows / 20
  }

  /// Ends the process if looking up the units gives another result than evaluating them.
  ///
  /// - Parameters:
  ///   - evaluated: the result of evaluating.
  ///   - before: the editor before evaluating.
  func compare(_ evaluated: SectionedTreeEditor, to units: ConcernedUnits, _ before: SectionedTreeEditor) {
    let contents = recent
    isComparing = true
    defer {
      recent = contents
      isComparing = false
    }
    var lookedUp = before
    // An error of reading proves nothing.
    guard (try? refresh(units, in: &lookedUp)) != nil else { return }
    let differing = lookedUp.tree.identities(differingFrom: evaluated.tree)
    if differing.isEmpty, lookedUp.tree.digest() == evaluated.tree.digest() { return }
    let keys = differing.map { identity in identity.withUnsafeBytes { KeyDecoder.describe($0) } }
    fatalError(
      "rows that were evaluated differ from those looked up: \(keys), of \(plan.unit?.capturedSQL ?? plan.rows.scanSQL)"
    )
  }
}
