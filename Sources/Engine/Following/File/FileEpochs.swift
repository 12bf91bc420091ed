package import Store
import Synchronization

/// The epochs of a file's versions and commits, shared by all of its followers.
///
/// A new epoch begins when the file is replaced, which invalidates earlier versions. The first follower to notice this
/// begins the epoch, and the others join it. A replica's epochs are those of the writer, and are stored in the file
/// (`ReplicaPosition`).
///
/// Any thread.
package final class FileEpochs: Sendable {
  package struct Epoch: Equatable, Sendable {
    /// The epoch's number in this process; -1 for an epoch that no other connection has joined.
    let number: Int
    /// The name in version names: the same on all servers of the epoch.
    package let name: String
  }

  private struct State {
    var current: Epoch
    /// The file of the epoch; nil if no file was opened yet.
    var file: FileIdentity?
    /// Whether the -wal or -shm was deleted, so that opening the file again begins another epoch.
    var isLost = false
    /// The number of times that the commits of a replica's file decreased within the epoch.
    var falls = 0
    /// The ticket of the latest transaction that saw the file in this epoch.
    var seen: UInt64 = 0
    var tickets: UInt64 = 0

    mutating func begin(_ name: String) {
      current = Epoch(number: current.number + 1, name: name)
      falls = 0
      isLost = false
      tickets += 1
      seen = tickets
    }

    var greeting: String { falls == 0 ? current.name : "\(current.name).\(falls)" }
  }

  private let state: Mutex<State>
  private let newestNumber = Atomic<Int>(0)
  /// Called with the epoch that `hello` names from now on.
  private let renewed: (@Sendable (String) -> Void)?

  private static var newName: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// - Parameters:
  ///   - name: the first epoch's name; nil for a new, unique name.
  ///   - renewed: called when another epoch has begun, on the thread that has begun it.
  package init(startingWith name: String? = nil, renewed: (@Sendable (String) -> Void)? = nil) {
    state = Mutex(State(current: Epoch(number: 0, name: name ?? Self.newName)))
    self.renewed = renewed
  }

  package var current: Epoch { state.withLock { $0.current } }

  /// The epoch that `hello` names.
  package var greeting: String { state.withLock { $0.greeting } }

  /// Whether the epoch is the newest.
  func isNewest(_ epoch: Epoch) -> Bool { newestNumber.load(ordering: .acquiring) == epoch.number }

  /// Called when a file was opened. Returns the epoch of its states.
  package func opened(_ file: FileIdentity) -> (epoch: Epoch, isNew: Bool) {
    changing { state in
      defer { state.file = file }
      if state.file != nil, state.file != file || state.isLost { state.begin(Self.newName) }
    }
  }

  /// Called when a file was closed because its -wal or -shm was deleted.
  package func lost(_ epoch: Epoch) {
    state.withLock { if $0.current.number == epoch.number { $0.isLost = true } }
  }

  /// The newest epoch, if it belongs to this file.
  func joined(by file: FileIdentity) -> Epoch? {
    state.withLock { $0.file == file && !$0.isLost ? $0.current : nil }
  }

  /// Begins another epoch of the same file.
  package func begin(_ name: String?) { _ = changing { $0.begin(name ?? Self.newName) } }

  /// A ticket, which must be taken before a transaction that reads a position begins.
  func ticket() -> UInt64 {
    state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
  }

  /// Called when a transaction has read a position of another epoch than `epoch`, or an earlier position than the last
  /// one seen.
  ///
  /// States of a file follow one another, so a transaction that began after others had seen the newest epoch shows that
  /// epoch or a newer one. A transaction that began earlier may show a former epoch. Its reader then stays in that
  /// epoch alone, until it reads again.
  ///
  /// - Parameters:
  ///   - ticket: the ticket that was taken before the transaction.
  ///   - isOfFile: whether the file that was read still has its name.
  func read(
    _ name: String, hasFallen: Bool, in epoch: Epoch, ticket: UInt64, isOfFile: @autoclosure () -> Bool
  ) -> (epoch: Epoch, isNew: Bool) {
    let mayBegin = isOfFile()
    var isAlone = false
    var result = changing { state in
      if state.current.name == name {
        // Other followers that see the commits decrease join the epoch that is begun here.
        if hasFallen, state.current.number == epoch.number {
          let falls = state.falls + 1
          state.begin(name)
          state.falls = falls
        } else if state.falls > 0, !hasFallen, state.current.number != epoch.number, ticket <= state.seen {
          // The transaction may show a commit from before the decrease. In the new epoch it would see the decrease
          // again.
          isAlone = true
        }
      } else if mayBegin, ticket > state.seen {
        state.begin(name)
      } else {
        isAlone = true
      }
    }
    if isAlone { result.epoch = Epoch(number: -1, name: name) }
    return result
  }

  private func changing(_ change: (inout State) -> Void) -> (epoch: Epoch, isNew: Bool) {
    let (epoch, isNew, greeting) = state.withLock { state in
      let before = state.current.number
      change(&state)
      newestNumber.store(state.current.number, ordering: .releasing)
      return (state.current, state.current.number != before, state.greeting)
    }
    if isNew { renewed?(greeting) }
    return (epoch, isNew)
  }
}
