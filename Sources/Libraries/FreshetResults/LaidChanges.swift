import LiveQuery
import Synchronization

/// The optimistic changes that are laid over one controller's list, and over those of its `updates`. Any thread.
///
/// A change is here from before its write is sent until all lists include the write, or the write is refused.
package final class LaidChanges: Sendable {
  fileprivate struct State {
    var changes: [LaidChange] = []
    var lastID = 0
    var feeds: [ObjectIdentifier: any ResultsFeed] = [:]
    /// By list, the changes that it includes.
    var settled: [ObjectIdentifier: Set<Int>] = [:]
    var newKey = Int64.min
  }

  private let state = Mutex(State())

  package init() {}

  var changes: [LaidChange] { state.withLock { $0.changes } }

  /// - Returns: the id for `commit` and `takeAway`.
  package func lay(_ changes: [OptimisticChange]) -> Int {
    let (id, feeds) = state.withLock { state in
      state.lastID += 1
      let keys = changes.indices.map { state.newKey + Int64($0) }
      state.newKey += Int64(changes.count)
      state.changes.append(LaidChange(id: state.lastID, changes: changes, newKeys: keys))
      return (state.lastID, Array(state.feeds.values))
    }
    for feed in feeds { feed.noteLaid() }
    return id
  }

  /// - Parameter rowid: the rowid of the inserted row, if exactly one was inserted.
  package func commit(_ id: Int, _ commit: Int64, rowid: Int64?) {
    change(id) { changes, index in
      changes[index].commit = commit
      let inserts = changes[index].changes.indices.filter {
        if case .insert = changes[index].changes[$0] { true } else { false }
      }
      if let rowid, inserts.count == 1 { changes[index].newKeys[inserts[0]] = rowid }
    }
  }

  package func takeAway(_ id: Int) { change(id) { $0.remove(at: $1) } }

  private func change(_ id: Int, _ body: (inout [LaidChange], Int) -> Void) {
    let feeds = state.withLock { state in
      if let index = state.changes.firstIndex(where: { $0.id == id }) { body(&state.changes, index) }
      return Array(state.feeds.values)
    }
    for feed in feeds { feed.noteLaid() }
  }

  func add(_ feed: any ResultsFeed) { state.withLock { $0.feeds[ObjectIdentifier(feed)] = feed } }

  func remove(_ feed: any ResultsFeed) {
    state.withLock { state in
      state.feeds[ObjectIdentifier(feed)] = nil
      state.settled[ObjectIdentifier(feed)] = nil
      state.forgetSettled()
    }
  }

  /// A list includes what these changes have written.
  func settle(_ ids: Set<Int>, by feed: any ResultsFeed) {
    if ids.isEmpty { return }
    state.withLock { state in
      state.settled[ObjectIdentifier(feed)] = ids
      state.forgetSettled()
    }
  }
}

extension LaidChanges.State {
  /// Forgets changes that no list shows any more. Without lists, none would report the write.
  fileprivate mutating func forgetSettled() {
    changes.removeAll { change in
      change.commit != nil && feeds.keys.allSatisfy { settled[$0]?.contains(change.id) == true }
    }
  }
}
