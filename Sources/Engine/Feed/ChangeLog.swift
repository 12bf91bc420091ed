/// The newest commits, with a limit of bytes. Reconnecting readers get the commits from here that they have missed.
///
/// Owner: the feed's thread.
struct ChangeLog {
  /// The entries in order. The first `forgotten` of them are nil.
  private var entries: [LoggedCommit?] = []
  /// The number of entries at the start that were forgotten.
  private var forgotten = 0
  private(set) var byteCount = 0
  private let limit: Int
  /// The number of the last commit.
  private(set) var last: UInt64

  /// - Parameters:
  ///   - limit: the most bytes of entries.
  ///   - last: the number of the last commit before this log.
  init(limit: Int, last: UInt64 = 0) {
    self.limit = limit
    self.last = last
  }

  /// The lowest number after which all entries are remembered.
  var oldest: UInt64 { last - UInt64(entries.count - forgotten) }

  mutating func append(_ commit: LoggedCommit) {
    entries.append(commit)
    last = commit.number
    byteCount += commit.byteCount
    // The newest entry stays, however large it is, because readers that keep up need it.
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

  /// - Precondition: the number is higher than `oldest`, and not higher than `last`.
  subscript(number: UInt64) -> LoggedCommit { entries[entries.count - 1 - Int(last - number)]! }

  /// The remembered entries after a number.
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
