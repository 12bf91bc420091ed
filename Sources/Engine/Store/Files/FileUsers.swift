import Ground
import Synchronization

/// State that all holders of a file in the process share.
///
/// Any thread.
package final class FileUsers: Sendable {
  private struct State {
    var followers: Set<Int> = []
    var overwrite = Overwrite()
    var threads: [any Wakeable] = []
  }

  /// Reports writes to the file.
  package let watcher: DatabaseWatcher
  private let state = Mutex(State())
  private let overwrites = Atomic<Int>(0)
  private let losses = Atomic<Int>(0)

  package init(path: String) { watcher = DatabaseWatcher(path: path) }

  // MARK: - Followers

  /// Called when a follower has opened the file.
  package func enter(_ number: Int) { state.withLock { _ = $0.followers.insert(number) } }

  /// Called when a follower has closed the file because it has no lists any more.
  ///
  /// - Returns: whether no other follower has it open.
  package func leave(_ number: Int) -> Bool {
    state.withLock { state in
      state.followers.remove(number)
      return state.followers.isEmpty
    }
  }

  /// Whether no follower has the file open. Readers then close it too, because they work for followers.
  package var isEmpty: Bool { state.withLock { $0.followers.isEmpty } }

  // MARK: - Files that are lost

  /// Wakes a thread from now on when another thread has closed files that were deleted or overwritten.
  func add(_ thread: any Wakeable) { state.withLock { $0.threads.append(thread) } }

  func remove(_ thread: any Wakeable) {
    state.withLock { state in
      if let index = state.threads.firstIndex(where: { $0 === thread }) { state.threads.remove(at: index) }
    }
  }

  /// The number of times that lost files were closed. Takes one atomic load.
  var lossCount: Int { losses.load(ordering: .acquiring) }

  /// Called when a holder has closed lost files. All other holders must close theirs before the new files can be
  /// opened.
  func noteLoss() {
    losses.add(1, ordering: .acquiringAndReleasing)
    state.withLock { for thread in $0.threads { thread.signal() } }
  }

  // MARK: - Overwritten files

  /// An overwrite of the file. Only holders that have followed every commit can find it.
  struct Overwrite: Sendable {
    /// The number of overwrites so far.
    fileprivate(set) var number = 0
    /// See `FileContents`.
    fileprivate(set) var staleGeneration: UInt64?
  }

  var overwrite: Overwrite { state.withLock { $0.overwrite } }

  /// Whether there is a newer overwrite. Takes one atomic load.
  func hasOverwrite(after known: Overwrite) -> Bool { overwrites.load(ordering: .acquiring) != known.number }

  /// Called when a holder has found the file overwritten.
  ///
  /// - Parameter known: the last overwrite that the caller knew. If there is a newer one already, no further one is
  ///   counted.
  /// - Returns: the newest overwrite.
  func noteOverwritten(_ staleGeneration: UInt64?, after known: Overwrite) -> Overwrite {
    state.withLock { state in
      if state.overwrite.number == known.number {
        state.overwrite = Overwrite(number: known.number + 1, staleGeneration: staleGeneration)
        overwrites.store(state.overwrite.number, ordering: .releasing)
      }
      return state.overwrite
    }
  }
}
