import LiveQuery
import Store

/// The versions of a result that clients may still name in `since`: those that were sent, and on servers that share an epoch with
/// others all.
///
/// A version is kept for as long as it is the newest, and then for at least `age` and until it is not among the newest
/// `count`; sooner when all histories of the follower together have grown beyond the memory bound. Versions share what they
/// have in common, so one costs what its changes cost.
///
/// Owner: the follower's thread.
struct VersionHistory {
  private struct Entry {
    let version: ResultVersion
    let bytes: Int
    /// When another version came after it; nil for the newest.
    var supersededAt: Instant?
    /// At which commits it was the result.
    var known = KnownCommits()
    /// The highest of these, and of those of all versions before; `max` for the newest.
    var last = Int64.max
  }

  /// What the histories of a follower may hold together.
  final class Budget {
    var used = 0
    let limit: Int
    let age: Nanoseconds
    let count: Int

    init(bytes: Int, age: Nanoseconds, count: Int) {
      limit = bytes
      self.age = age
      self.count = count
    }
  }

  /// Of the newest version, whether or not it is held.
  private(set) var newest = KnownCommits()
  /// The highest commit that is known of an older version.
  private(set) var superseded = Int64.min
  private var entries: [Entry] = []
  /// Entries before are gone: taken out of the array now and then.
  private var start = 0
  private let budget: Budget

  init(_ budget: Budget) { self.budget = budget }

  var count: Int { entries.count - start }

  /// A version was sent to somebody.
  ///
  /// - Parameter bytes: about what it takes beside the one before.
  mutating func add(_ version: ResultVersion, bytes: Int, now: Instant) {
    if count > 0, let last = entries.last, last.version.number >= version.number { return }
    if count > 0 { entries[entries.count - 1].supersededAt = now }
    entries.append(Entry(version: version, bytes: bytes, supersededAt: nil))
    budget.used += bytes
    trim(now)
  }

  /// Lets go of what need not be kept any more.
  mutating func trim(_ now: Instant) {
    while count > 1, isDispensable(entries[start], now) { dropFirst() }
    if start > 64, start * 2 > entries.count {
      entries.removeFirst(start)
      start = 0
    }
  }

  private func isDispensable(_ entry: Entry, _ now: Instant) -> Bool {
    if budget.used > budget.limit { return true }
    guard let supersededAt = entry.supersededAt, count > budget.count else { return false }
    return now - supersededAt > budget.age
  }

  private mutating func dropFirst() {
    budget.used -= entries[start].bytes
    // An empty version in its place, so that its nodes are free at once.
    entries[start] = Entry(version: entries[entries.count - 1].version, bytes: 0, supersededAt: .distantPast)
    start += 1
  }

  /// The newest version is the result at a state: of a tick, from now on at all that ticks see.
  mutating func begin(at commit: Int64) { newest.begin(at: commit) }

  /// It is not known to be after this one.
  mutating func end(at commit: Int64) { newest.end(at: commit) }

  /// It was at this one.
  mutating func note(_ commit: Int64) { newest.add(commit) }

  /// There is another version, of which nothing is known yet.
  ///
  /// - Parameter number: of the one that was the newest.
  mutating func supersede(_ number: Int) {
    superseded = max(superseded, newest.last ?? superseded)
    if count > 0, entries[entries.count - 1].version.number == number {
      entries[entries.count - 1].known = newest
      entries[entries.count - 1].last = superseded
    }
    newest = KnownCommits()
  }

  /// The older version that was the result at a commit for certain, when it is still here. O(log n).
  func version(at commit: Int64, _ seen: SeenCommits) -> ResultVersion? {
    var low = start
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].last < commit { low = middle + 1 } else { high = middle }
    }
    // Some have names of their own alone.
    return entries[low...].prefix(4).first { $0.known.contains(commit, seen) }?.version
  }

  /// The version of a number, when it is still here. O(log n).
  func version(_ number: Int) -> ResultVersion? {
    var low = start
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].version.number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].version.number == number ? entries[low].version : nil
  }

  mutating func removeAll() {
    while count > 0 { dropFirst() }
    entries = []
    start = 0
    newest = KnownCommits()
    superseded = .min
  }
}
