/// A table according to the schema: where its tree begins, and how its records are laid out.
package struct CapturedTable: Equatable, Sendable {
  package var name: String
  package var rootPage: UInt32
  /// The table's CREATE statement. If its text differs, records of the same bytes may mean other values.
  package var definition: String
  /// The layout of the records, without remembered fields.
  package var layout: RecordLayout

  package init(name: String, rootPage: UInt32, definition: String, layout: RecordLayout) {
    self.name = name
    self.rootPage = rootPage
    self.definition = definition
    self.layout = layout
  }
}

/// How changes of a table are found now.
package enum CaptureForm: String, Sendable {
  /// A hash of each row is remembered.
  case rows
  /// The table is large: a hash of each page is remembered, and former rows are read from the page's former image.
  case pages
  /// The table's pages are being read. Until all are read, any commit may have changed the table.
  case reading
  /// There is no WAL: the whole table is compared whenever the file changed.
  case comparison
  /// The table cannot be read, so any commit may have changed it.
  case none
}

/// Which records of changed rows ticks contain.
package enum KeptRecords: Sendable {
  case none
  /// The records as they are now.
  case present
  /// The former records too, if the page's former image still exists.
  case all
}

/// The result of one tick of a capture.
package struct CapturedTick {
  /// The number of commits since the last tick; at least 1 if tables had to be compared.
  package internal(set) var commits: Int64 = 0
  /// The schema may have changed.
  package internal(set) var hasSchemaChanged = false
  /// The changes of tables, by number. A tick that passed intermediate states may have several for a table, the oldest
  /// first.
  package internal(set) var deltas: [(table: Int, delta: ChangedRows)] = []
  /// The tick went through intermediate states, so records of changed rows need not be those of its last state.
  package internal(set) var hasStopped = false
  /// Intermediate states whose changes are all known, each with the number of `deltas` and commits that lead to it.
  package internal(set) var stops: [(state: StateName, deltas: Int, commits: Int64)] = []
  /// No state was seen before this tick.
  package internal(set) var isFirst = false
  /// The state that was added last; the next addition starts from it.
  var end: StateName?
  /// Why everything was compared; nil if it was not.
  package internal(set) var comparison: Doubt.Reason?

  /// The step that a delta belongs to: one step leads to each stop, and a last one to the tick's state.
  package func step(ofDelta index: Int) -> Int { stops.firstIndex { index < $0.deltas } ?? stops.count }

  package var isQuiet: Bool { commits == 0 && !hasSchemaChanged && deltas.isEmpty }
}

/// Counters of capture since its start, for `/metrics`.
package struct CaptureStatistics: Sendable {
  package internal(set) var rows = 0
  package internal(set) var frames = 0
  /// The number of transactions that were given up because a commit came while their state was identified.
  package internal(set) var retries = 0
  /// Comparisons of whole tables, by reason.
  package internal(set) var comparisons: [Doubt.Reason: Int] = [:]
  /// The approximate memory, in bytes.
  package internal(set) var bytes = 0

  package init() {}

  /// Adds the counters of another capture.
  package mutating func add(_ other: CaptureStatistics) {
    rows += other.rows
    frames += other.frames
    retries += other.retries
    comparisons.merge(other.comparisons, uniquingKeysWith: +)
    bytes += other.bytes
  }
}
