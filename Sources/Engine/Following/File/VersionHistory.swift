package import Ground
package import LiveQuery
import Store

/// The versions of a result that clients may name in `since`: those that were sent, or all if servers share the epoch.
///
/// A version is kept while it is the newest, then for at least `age` and until it is not among the newest `count`. It
/// is released sooner when the follower's histories together exceed their memory bound. Versions share nodes, so a
/// version takes only the memory of its changes.
///
/// Owner: the follower's thread.
package struct VersionHistory {
  private struct Entry {
    let version: ResultVersion
    let bytes: Int
    /// When the next version replaced it; nil for the newest.
    var supersededAt: Instant?
    /// The commits at which the version was the result.
    var known = KnownCommits()
    /// The highest known commit of this or any earlier version; `max` for the newest.
    var last = Int64.max
  }

  /// The memory that all histories of a follower may hold together.
  package final class Budget {
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

  /// The commits of the newest version, whether or not it is held.
  package private(set) var newest = KnownCommits()
  /// The highest known commit of an older version.
  package private(set) var superseded = Int64.min
  private var entries: [Entry] = []
  /// Entries before this index are released. They are removed from the array in batches.
  private var start = 0
  private let budget: Budget

  package init(_ budget: Budget) { self.budget = budget }

  package var count: Int { entries.count - start }

  /// Called when a version was sent to a client.
  ///
  /// - Parameter bytes: the estimated memory that it takes in addition to the previous version.
  package mutating func add(_ version: ResultVersion, bytes: Int, now: Instant) {
    if count > 0, let last = entries.last, last.version.number >= version.number { return }
    if count > 0 { entries[entries.count - 1].supersededAt = now }
    entries.append(Entry(version: version, bytes: bytes, supersededAt: nil))
    budget.used += bytes
    trim(now)
  }

  /// Releases versions that need not be kept any longer.
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
    // Another version replaces the released one in the array, so that its nodes are freed at once.
    entries[start] = Entry(version: entries[entries.count - 1].version, bytes: 0, supersededAt: .distantPast)
    start += 1
  }

  /// Called when the newest version is the result at this tick's state. From now on it counts as the result at all
  /// states that ticks see.
  package mutating func begin(at commit: Int64) { newest.begin(at: commit) }

  /// Called when the newest version has been the result since an earlier commit, unless another version was in between.
  package mutating func extend(to first: Int64) {
    newest.extend(to: superseded == .min ? first : max(first, superseded + 1))
  }

  /// Called when it is unknown whether the newest version is the result after this commit.
  package mutating func end(at commit: Int64) { newest.end(at: commit) }

  /// Called when the newest version was the result at this commit.
  package mutating func note(_ commit: Int64) { newest.add(commit) }

  /// Called when a new version, whose commits are not known yet, becomes the newest.
  ///
  /// - Parameter number: the former newest version's number.
  package mutating func supersede(_ number: Int) {
    superseded = max(superseded, newest.last ?? superseded)
    if count > 0, entries[entries.count - 1].version.number == number {
      entries[entries.count - 1].known = newest
      entries[entries.count - 1].last = superseded
    }
    newest = KnownCommits()
  }

  /// The older version that certainly was the result at a commit, if it is still held. O(log n).
  package func version(at commit: Int64, _ seen: SeenCommits) -> ResultVersion? {
    var low = start
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].last < commit { low = middle + 1 } else { high = middle }
    }
    // Several versions are tried, because some have names that are not commits.
    return entries[low...].prefix(4).first { $0.known.contains(commit, seen) }?.version
  }

  /// The version with a number, if it is still held. O(log n).
  package func version(_ number: Int) -> ResultVersion? {
    var low = start
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].version.number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].version.number == number ? entries[low].version : nil
  }

  package mutating func removeAll() {
    while count > 0 { dropFirst() }
    entries = []
    start = 0
    newest = KnownCommits()
    superseded = .min
  }
}
