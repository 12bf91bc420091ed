package import LiveQuery
package import RankedCollections

/// The result of a whole run of a query.
// @unchecked: it is made by one thread and handed to another. It shares only nodes of trees with other results, which
// are changed in place only by a single owner.
package struct FetchedResult: @unchecked Sendable {
  package var editor: SectionedTreeEditor
  package var memory: ReaderMemory
  /// In which columns rows changed, by identity; nil: that was not compared.
  package var changes: ConcernedUnits?
  package var alongside: [NamedValue]
  /// The contents of all rows, where they were asked for and are few.
  fileprivate let contents: FetchedContents?

  /// The contents of rows that the run has read on its way; nil: they have to be looked up.
  ///
  /// - Parameter first: the offset of the first row that is shown.
  package func contents(at offsets: Range<Int>, after first: Int) -> PackedRows? {
    guard let contents, first + offsets.upperBound <= contents.order.count else { return nil }
    var packed = PackedRows(columnCount: contents.columnCount)
    for offset in offsets { contents.append(first + offset, to: &packed) }
    return packed
  }
}

/// A reader's memory of the newest whole result of its query, apart from the tree.
// @unchecked: as `FetchedResult`.
package struct ReaderMemory: @unchecked Sendable {
  /// The keys of each unit's rows, for queries whose key is not their unit.
  var keys = UnitKeys()
  /// The contents, for queries whose rows cannot be looked up.
  var contents = FetchedContents()
  /// The groups of the plan's aggregates; nil: they are not known.
  package var groups: [AggregateGroups]?
  /// The rows under the groups of the result, where its plan has them; nil: they are not known.
  package var rows: KeptRows?
  /// The values of the plan's scalars with which the result was made.
  package var scalars: [SQLValue] = []
  /// Values of sections whose totals have changed, and are not shown yet.
  var touchedSections = ConcernedUnits()
  /// Whether a total could not be computed: then those of all sections are read after each change.
  var hasFailedTotals = false
  /// The cost of the run, in steps of SQLite's machine.
  var scanSteps = 0
}

extension ResultReader {
  /// Whether the contents of all rows of the newest result are kept.
  package func keepsContents(ofRows count: Int) -> Bool { plan.isRefetched && memory.contents.order.count == count }

  /// The cost of the last run, in steps of SQLite's machine.
  package var stepsOfRun: Int { memory.scanSteps }

  /// Runs the query and what is `alongside`. Parameters and errors as for `fetch`.
  package func run(
    into editor: SectionedTreeEditor?, keepingContents rows: Int = 0
  ) throws(FreshetError) -> FetchedResult {
    let values = try alongside(reads: true)
    if plan.scalars != nil { memory.scalars = try scalars(reads: true) }
    var (fetched, contents) = try fetch(into: editor, keepingContents: rows)
    memory.groups = try readGroups()
    memory.rows = try readKeptRows()
    if hasTotals { try totals.setTotals(of: &fetched, after: nil) }
    return FetchedResult(editor: fetched, memory: memory, changes: changes, alongside: values, contents: contents)
  }
}
