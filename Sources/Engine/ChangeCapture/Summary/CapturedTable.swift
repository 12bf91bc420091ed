/// A table as the schema has it: where its tree begins, and what its records are.
package struct CapturedTable: Equatable, Sendable {
  package var name: String
  package var rootPage: UInt32
  /// The statement that made it. With another text, records of the same bytes may mean other values.
  package var definition: String
  /// Without anything remembered.
  package var layout: RecordLayout

  package init(name: String, rootPage: UInt32, definition: String, layout: RecordLayout) {
    self.name = name
    self.rootPage = rootPage
    self.definition = definition
    self.layout = layout
  }
}

/// How changes of a table are found at the moment.
package enum CaptureForm: String, Sendable {
  /// By a hash of each row.
  case rows
  /// By what is remembered of each page, and the page's former image: the table is large.
  case pages
  /// Its pages are being read; until they all are, any commit may have changed it.
  case reading
  /// The whole table is compared whenever the file changed: there is no WAL.
  case comparison
  /// It cannot be read; any commit may have changed it.
  case none
}

/// Which records of rows that changed ticks hand on.
package enum KeptRecords: Sendable {
  case none
  /// As the rows are now.
  case present
  /// As they were, too: where the page's former image is still there.
  case all
}

/// The result of one look at the file.
package struct CapturedTick {
  /// How many commits came since the last one; at least 1 when tables had to be compared.
  package internal(set) var commits: Int64 = 0
  /// The schema may have changed.
  package internal(set) var hasSchemaChanged = false
  /// The changes by the table's number, without unchanged tables. A tick that passed intermediate states has several
  /// for a table, the oldest first.
  package internal(set) var deltas: [(table: Int, delta: ChangedRows)] = []
  /// It went through other states: records of rows that changed on the way need not be those of its state.
  package internal(set) var hasStopped = false
  /// Intermediate states whose changes are all known, each with the number of `deltas` and commits that lead to it.
  package internal(set) var stops: [(state: StateName, deltas: Int, commits: Int64)] = []
  /// Nothing was seen before.
  package internal(set) var isFirst = false
  /// The state that the next addition leads to.
  var end: StateName?
  /// Why everything was compared; nil: it was not.
  package internal(set) var comparison: Doubt.Reason?

  /// The step that a delta belongs to: the tick makes one to each of its stops, and a last one.
  package func step(ofDelta index: Int) -> Int { stops.firstIndex { index < $0.deltas } ?? stops.count }

  package var isQuiet: Bool { commits == 0 && !hasSchemaChanged && deltas.isEmpty }
}

/// Counters of capture since its start, for `/metrics`.
package struct CaptureStatistics: Sendable {
  package internal(set) var rows = 0
  package internal(set) var frames = 0
  /// Snapshots that were given up because a commit came while they were identified.
  package internal(set) var retries = 0
  /// Comparisons of whole tables, by reason.
  package internal(set) var comparisons: [Doubt.Reason: Int] = [:]
  /// The approximate memory, in bytes.
  package internal(set) var bytes = 0

  package init() {}

  /// Adds those of another capture.
  package mutating func add(_ other: CaptureStatistics) {
    rows += other.rows
    frames += other.frames
    retries += other.retries
    comparisons.merge(other.comparisons, uniquingKeysWith: +)
    bytes += other.bytes
  }
}
