package import Store
import Synchronization

/// The epochs of a file's versions and commits, on which all that follow it agree.
///
/// A new one begins when the file is another one: with it, what was known of before is worth nothing. Whoever notices first begins
/// it, and the others join. A replica's epochs are the writer's: the file says which (`ReplicaPosition`).
///
/// Any thread.
package final class FileEpochs: Sendable {
  package struct Epoch: Equatable, Sendable {
    /// Counts the epochs of this process; -1: one that nobody else has joined.
    let number: Int
    /// What versions are named by: the same on all servers of the epoch.
    package let name: String
  }

  private struct State {
    var current: Epoch
    /// The file that it is the epoch of; nil: none was opened yet.
    var file: FileIdentity?
    /// The -wal or -shm was deleted: who opens the file anew begins another epoch.
    var isLost = false
    /// How often the commits of a replica's file fell back within the epoch.
    var falls = 0
    /// The ticket after which it is known that the file was in this epoch.
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
  /// Called with what `hello` says from now on.
  private let renewed: (@Sendable (String) -> Void)?

  private static var newName: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// - Parameters:
  ///   - name: of the first one; nil for one that no other has.
  ///   - renewed: called when another one has begun, on the thread that has begun it.
  package init(startingWith name: String? = nil, renewed: (@Sendable (String) -> Void)? = nil) {
    state = Mutex(State(current: Epoch(number: 0, name: name ?? Self.newName)))
    self.renewed = renewed
  }

  package var current: Epoch { state.withLock { $0.current } }

  /// What `hello` says.
  package var greeting: String { state.withLock { $0.greeting } }

  /// Whether the epoch is the newest.
  func isNewest(_ epoch: Epoch) -> Bool { newestNumber.load(ordering: .acquiring) == epoch.number }

  /// A file was opened: the epoch that its states belong to.
  package func opened(_ file: FileIdentity) -> (epoch: Epoch, isNew: Bool) {
    changing { state in
      defer { state.file = file }
      if state.file != nil, state.file != file || state.isLost { state.begin(Self.newName) }
    }
  }

  /// A file was closed whose -wal or -shm was deleted.
  package func lost(_ epoch: Epoch) {
    state.withLock { if $0.current.number == epoch.number { $0.isLost = true } }
  }

  /// The newest epoch, if it is one of this file.
  func joined(by file: FileIdentity) -> Epoch? {
    state.withLock { $0.file == file && !$0.isLost ? $0.current : nil }
  }

  /// Begins another epoch of the same file.
  func begin(_ name: String?) { _ = changing { $0.begin(name ?? Self.newName) } }

  /// To be taken before a transaction begins that reads a position.
  func ticket() -> UInt64 {
    state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
  }

  /// A transaction has read another position than one of `epoch`, or one before the last that was seen in it.
  ///
  /// States of a file follow one another, so a transaction that began after others had seen the newest epoch shows that one or a
  /// newer one. What an earlier one shows may be of before: its reader is in that epoch alone until it reads again.
  ///
  /// - Parameters:
  ///   - ticket: taken before the transaction.
  ///   - isOfFile: whether the file that was read has its name still.
  func read(
    _ name: String, hasFallen: Bool, in epoch: Epoch, ticket: UInt64, isOfFile: @autoclosure () -> Bool
  ) -> (epoch: Epoch, isNew: Bool) {
    let mayBegin = isOfFile()
    var isAlone = false
    var result = changing { state in
      if state.current.name == name {
        // Others who saw it fall have joined, or join.
        if hasFallen, state.current.number == epoch.number {
          let falls = state.falls + 1
          state.begin(name)
          state.falls = falls
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
