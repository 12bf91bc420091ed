import Ground
import Synchronization

/// Shared by all holders of a file in the process.
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

  /// A follower has opened the file.
  package func enter(_ number: Int) { state.withLock { _ = $0.followers.insert(number) } }

  /// A follower has closed the file because nothing is followed.
  ///
  /// - Returns: whether no other has it open.
  package func leave(_ number: Int) -> Bool {
    state.withLock { state in
      state.followers.remove(number)
      return state.followers.isEmpty
    }
  }

  /// Whether no follower has the file open. Readers work for followers, so they close it, too.
  package var isEmpty: Bool { state.withLock { $0.followers.isEmpty } }

  // MARK: - Files that are lost

  /// Wakes a thread whenever another one has closed files that were deleted or overwritten.
  func add(_ thread: any Wakeable) { state.withLock { $0.threads.append(thread) } }

  func remove(_ thread: any Wakeable) {
    state.withLock { state in
      if let index = state.threads.firstIndex(where: { $0 === thread }) { state.threads.remove(at: index) }
    }
  }

  /// How often that has happened. One atomic load.
  var lossCount: Int { losses.load(ordering: .acquiring) }

  /// All others have to let go of the files before anyone can open the new ones.
  func noteLoss() {
    losses.add(1, ordering: .acquiringAndReleasing)
    state.withLock { for thread in $0.threads { thread.signal() } }
  }

  // MARK: - Overwritten files

  /// The overwriting of the file, which only holders find that have followed every commit.
  struct Overwrite: Sendable {
    /// How often that has happened.
    fileprivate(set) var number = 0
    /// See `FileContents`.
    fileprivate(set) var staleGeneration: UInt64?
  }

  var overwrite: Overwrite { state.withLock { $0.overwrite } }

  /// Whether this is not the newest one. One atomic load.
  func hasOverwrite(after known: Overwrite) -> Bool { overwrites.load(ordering: .acquiring) != known.number }

  /// The file was found overwritten.
  ///
  /// - Parameter known: the last finding that the caller knew. A newer one takes its place.
  /// - Returns: the newest one.
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
