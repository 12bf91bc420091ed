/// A state of the file, as far as states can be distinguished.
enum FileState: Sendable {
  /// No state was read yet.
  case unknown
  case wal(WALIndexHeader, isBackfilled: Bool)
  /// A state in a rollback-journal mode.
  case journal(JournalState)
  /// A state in WAL mode with an index in SQLite's own memory: only the fact that something changed is known.
  case hidden(UInt32)

  var isUnknown: Bool { if case .unknown = self { true } else { false } }

  /// Whether pages can be read.
  var canBeRead: Bool {
    switch self {
    case .wal, .journal: true
    case .unknown, .hidden: false
    }
  }

  /// Whether the database file alone has the whole state.
  var isBackfilled: Bool {
    switch self {
    case .wal(_, let isBackfilled): isBackfilled
    case .journal, .hidden, .unknown: true
    }
  }

  /// Whether the file has no pages, and so no tables.
  var isEmpty: Bool { if case .journal(let state) = self { state.pageSize == nil } else { false } }

  /// The number of commits since an earlier state if the file says so, otherwise 1; 0 if a WAL has begun anew and has
  /// no commits yet.
  func commits(since before: FileState) -> Int64 {
    switch (before, self) {
    case (.wal(let before, _), .wal(let now, _)) where now.changes > before.changes:
      Int64(now.changes - before.changes)
    case (.wal(let before, _), .wal(let now, _)) where now.beginsAnew(after: before): 0
    case (.journal(let before), .journal(let now)) where now.changeCounter > before.changeCounter:
      Int64(now.changeCounter - before.changeCounter)
    default: 1
    }
  }

  func isSame(as other: FileState) -> Bool {
    switch (self, other) {
    case (.wal(let left, _), .wal(let right, _)): left == right
    case (.journal(let left), .journal(let right)): left == right
    case (.hidden(let left), .hidden(let right)): left == right
    default: false
    }
  }

  func pageSize(_ database: some ByteSource) -> Int? {
    switch self {
    case .wal(let header, _) where header.pageSize != 0: header.pageSize
    case .wal, .journal: (try? JournalState(database))?.pageSize
    case .hidden, .unknown: nil
    }
  }
}

/// A state of the file that transactions on several connections may see.
package struct StateName: Sendable {
  let state: FileState

  /// Whether both are the same state. False if that is unknown, as without a WAL-index.
  package func isSame(as other: StateName) -> Bool {
    // Each connection counts hidden states for itself, so the counts of two connections cannot be compared.
    if case .hidden = state { return false }
    return state.isSame(as: other.state)
  }

  /// Whether this one came later; false if unknown.
  package func isKnownAfter(_ other: StateName) -> Bool {
    switch (state, other.state) {
    case (.wal(let now, _), .wal(let before, _)):
      now.salts == before.salts ? now.frameCount > before.frameCount : now.isOfLaterGeneration(than: before)
    case (.journal(let now), .journal(let before)): now.changeCounter > before.changeCounter
    default: false
    }
  }
}

extension StateName {
  /// Whether this later state may have the same contents as the other one, because a WAL has begun anew and has no
  /// commits yet.
  package func mayHaveContents(of other: StateName) -> Bool {
    guard case (.wal(let now, _), .wal(let before, _)) = (state, other.state) else { return false }
    return now.beginsAnew(after: before)
  }
}

extension StateName: CustomStringConvertible {
  /// For logs: the WAL's generation and frame, or the file's change counter.
  package var description: String {
    switch state {
    case .unknown: "no state"
    case .wal(let header, _): "frame \(header.frameCount) of WAL \(String(header.generation, radix: 16))"
    case .journal(let state): "change \(state.changeCounter)"
    case .hidden(let version): "data version \(version)"
    }
  }
}

/// The states that were seen last, ordered from the oldest to the newest.
struct RecentStates {
  private var states: [FileState] = []
  private static let most = 64

  mutating func add(_ state: FileState) {
    if states.last?.isSame(as: state) == true { return }
    if states.count == Self.most { states.removeFirst(Self.most / 2) }
    states.append(state)
  }

  func contains(_ name: StateName) -> Bool {
    states.reversed().contains { name.isSame(as: StateName(state: $0)) }
  }
}

/// Fields of a database file's header: https://sqlite.org/fileformat2.html#the_database_header.
struct JournalState: Equatable, Sendable {
  /// The page size; nil for an empty file.
  private(set) var pageSize: Int?
  private(set) var isWAL = false
  /// A counter that grows with every transaction of a rollback journal.
  private(set) var changeCounter: UInt32 = 0

  init(pageSize: Int?, changeCounter: UInt32) {
    self.pageSize = pageSize
    self.changeCounter = changeCounter
  }

  /// - Throws: if the header cannot be read. A file that is too short for a header gives an empty state.
  init(_ database: some ByteSource) throws(Doubt) {
    var failure: Doubt?
    withUnsafeTemporaryAllocation(byteCount: 100, alignment: 8) { buffer in
      guard let start = buffer.baseAddress else { return }
      do throws(Doubt) { guard try database.read(into: start, 100, at: 0) else { return } } catch {
        failure = error
        return
      }
      let header = UnsafeRawPointer(start)
      let size = header.bigEndian16(16)
      pageSize = size == 1 ? 65_536 : size
      isWAL = header.byte(18) == 2
      changeCounter = header.bigEndian32(24)
    }
    if let failure { throw failure }
  }
}
