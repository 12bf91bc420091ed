/// The newest commits, within a bound of bytes: what readers that come back have missed.
///
/// Owner: the feed's thread.
struct ChangeLog {
  /// Nil: forgotten.
  private var entries: [LoggedCommit?] = []
  /// How many of the first entries are.
  private var forgotten = 0
  private(set) var byteCount = 0
  private let limit: Int
  /// The number of the last commit.
  private(set) var last: UInt64

  /// - Parameters:
  ///   - limit: bytes.
  ///   - last: the number from which numbers go on.
  init(limit: Int, last: UInt64 = 0) {
    self.limit = limit
    self.last = last
  }

  /// The oldest number after which everything is known.
  var oldest: UInt64 { last - UInt64(entries.count - forgotten) }

  mutating func append(_ commit: LoggedCommit) {
    entries.append(commit)
    last = commit.number
    byteCount += commit.byteCount
    // The newest stays, however large: readers that keep up get it.
    while byteCount > limit, entries.count - forgotten > 1 {
      byteCount -= entries[forgotten]!.byteCount
      entries[forgotten] = nil
      forgotten += 1
    }
    if forgotten > 1_024, forgotten > entries.count / 2 {
      entries.removeFirst(forgotten)
      forgotten = 0
    }
  }

  /// - Precondition: it is newer than `oldest`, and not newer than `last`.
  subscript(number: UInt64) -> LoggedCommit { entries[entries.count - 1 - Int(last - number)]! }

  /// Entries after a number, as far as they are remembered.
  func entries(after number: UInt64) -> [LoggedCommit] {
    entries.suffix(Int(last - max(number, oldest))).compactMap(\.self)
  }

  var newest: LoggedCommit? { entries.last ?? nil }

  /// Forgets everything.
  mutating func removeAll() {
    entries = []
    forgotten = 0
    byteCount = 0
  }
}
