package import LiveQuery
package import RankedCollections

/// The result of a whole run of a query.
/// @unchecked: one thread makes it and hands it to another. It shares only tree nodes with other results, and a node is
/// changed in place only while it has a single owner.
package struct FetchedResult: @unchecked Sendable {
  package var editor: SectionedTreeEditor
  package var memory: ReaderMemory
  /// The columns in which rows changed, by identity; nil if the results were not compared.
  package var changes: ConcernedUnits?
  package var alongside: [NamedValue]
  /// The contents of all rows, if they were requested and are few.
  fileprivate let contents: FetchedContents?

  /// The contents of rows that the run has kept; nil if they must be looked up.
  ///
  /// - Parameter first: the offset of the first row that is shown.
  package func contents(at offsets: Range<Int>, after first: Int) -> PackedRows? {
    guard let contents, first + offsets.upperBound <= contents.order.count else { return nil }
    var packed = PackedRows(columnCount: contents.columnCount)
    for offset in offsets { contents.append(first + offset, to: &packed) }
    return packed
  }
}

/// The memory that a reader has of the newest whole result of its query, in addition to the tree.
// @unchecked: as `FetchedResult`.
package struct ReaderMemory: @unchecked Sendable {
  /// The keys of each unit's rows, for queries whose key is not their unit.
  var keys = UnitKeys()
  /// The contents, for queries whose rows cannot be looked up.
  var contents = FetchedContents()
  /// The groups of the plan's aggregates; nil if they are unknown.
  package var groups: [AggregateGroups]?
  /// The rows under the groups of the result, if its plan keeps them; nil if they are unknown.
  package var rows: KeptRows?
  /// The values of the plan's scalars with which the result was made.
  package var scalars: [SQLValue] = []
  /// The values of sections whose totals have changed but were not read yet.
  var touchedSections = ConcernedUnits()
  /// Whether a total could not be computed. The totals of all sections are then read after each change.
  var hasFailedTotals = false
  /// The cost of the run, in steps of SQLite's machine.
  var scanSteps = 0
}

extension ResultReader {
  /// Whether the contents of all rows of the newest result are kept.
  package func keepsContents(ofRows count: Int) -> Bool { plan.isRefetched && memory.contents.order.count == count }

  /// The cost of the last run, in steps of SQLite's machine.
  package var stepsOfRun: Int { memory.scanSteps }

  /// Runs the query and reads its `alongside` values. Parameters and errors are those of `fetch`.
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
