package import ChangeCapture
package import Ground
import LiveQuery
package import Logging
import Synchronization

/// Keeps the followers' state for the next process, in a journal for each follower. **Numbers.** Names of versions have
/// the epoch and a commit, so within an epoch no two states may have the same number. If all journals have the last
/// state of their process, no higher number was given, and the next process continues with the next one. Otherwise the
/// process was killed, and higher numbers may have been given to states that are lost. The next process then leaves out
/// at least as many numbers as could have been given (`leftOut`), and a random number more, because a machine that is
/// set back continues from the same state twice. Names with numbers in between are not honored. **Promises.** A server
/// that has sent clients the outcomes of their transactions (`once`) must know them as long as the epoch lasts. The
/// last state contains them, and until then their owner keeps them. If the owner cannot write them, all states are
/// removed from the disk before the next such transaction (`promise`), so that the epoch ends if the process is killed.
///
/// Any thread. Mutable state, in a mutex: promises, and the last states.
package final class StateKeeper: Sendable {
  /// The state of one follower.
  package typealias Part = Journal<KeptMemory>.Kept

  private struct Work {
    /// The last state of each follower that has ended.
    var last: [Int: Part] = [:]
    /// The outcomes of repeatable transactions.
    var promises: [UInt8]
    var hasPromised = false
  }

  private let journals: [Journal<KeptMemory>]
  private let work: Mutex<Work>
  private let logger: Logger
  /// The epoch to continue; nil to begin a new one.
  package let epoch: String?
  /// The number of the file's next state; nil if a new epoch begins.
  package let first: Int64?
  /// The previous process's outcomes of repeatable transactions, encoded.
  package let promises: [UInt8]
  /// The time between two writes while the file changes.
  package let interval: Nanoseconds

  /// A higher number than the count of numbers that are given while no state can be written.
  private static let leftOut: Int64 = 1 << 32
  /// The highest number with which a process begins. It leaves a margin below 2^53, the limit of JavaScript's integers.
  private static let highest: Int64 = 1 << 52

  /// Locks the files of a database's states, and reads them.
  ///
  /// - Parameters:
  ///   - room: how many numbers to leave for states before the first that followers see.
  ///   - continues: whether the epoch with this highest number can be continued, and these promises be kept.
  /// - Throws: an error message why states cannot be kept.
  package init(
    of database: String, in folder: String, followers: Int, interval: Duration = .seconds(60), room: Int64 = 0,
    logger: Logger, continues: (_ epoch: String, _ highest: Int64, _ promises: [UInt8]) -> Bool = { $2.isEmpty }
  ) throws(StateFailure) {
    self.logger = logger
    self.interval = Nanoseconds(interval)
    var journals: [Journal<KeptMemory>] = []
    for number in 0..<followers {
      journals.append(try Journal(of: database, part: "\(number)", in: folder, logger: logger))
    }
    self.journals = journals
    let found = journals.map(\.found)
    let newest = found.compactMap { $0?.kept.memory }.max { $0.highest < $1.highest }
    if let newest, newest.highest < Self.highest, let memory = found.first??.kept.memory, memory.epoch == newest.epoch,
      continues(memory.epoch, newest.highest, memory.promises)
    {
      let areLast = found.allSatisfy { $0?.isLast == true }
      epoch = memory.epoch
      first = newest.highest + 1 + (areLast ? 0 : Self.leftOut + .random(in: 0..<Self.leftOut)) + room
      promises = memory.promises
    } else {
      (epoch, first, promises) = (nil, nil, [])
    }
    work = Mutex(Work(promises: promises))
  }

  /// The state that a follower starts from; nil if no state of the epoch was kept. The follower may have written it in
  /// an earlier epoch.
  package func restored(_ follower: Int) -> Part? {
    for journal in journals { journal.begin() }
    guard journals.indices.contains(follower), let kept = journals[follower].found?.kept else { return nil }
    return kept.memory.epoch == epoch ? kept : nil
  }

  /// Frees the restored state, once the follower has started from it or cannot.
  package func forgetRestored(_ follower: Int) {
    if journals.indices.contains(follower) { journals[follower].forgetFound() }
  }

  /// Has a follower's state written, on another thread.
  package func keep(_ part: Part, of follower: Int) {
    let promises: [UInt8]? = work.withLock { work in
      // The promises belong to another epoch.
      if part.memory.epoch != epoch { work.promises = [] }
      return work.hasPromised ? nil : work.promises
    }
    if let promises { journals[follower].keep(with(promises, part, of: follower)) }
  }

  /// Called when a follower has ended with this state, which `finish` writes.
  package func end(with part: Part, of follower: Int) { work.withLock { $0.last[follower] = part } }

  /// Called before a client gets the outcome of a transaction that is kept nowhere else. Removes states from the disk
  /// that do not contain it.
  package func promise() {
    let isFirst = work.withLock { work in
      defer { work.hasPromised = true }
      return !work.hasPromised
    }
    if isFirst { for journal in journals { journal.remove() } }
  }

  /// Sets the outcomes of repeatable transactions at the end; nil if not all are known, so that nothing is kept.
  package func end(withPromises promises: [UInt8]?) {
    work.withLock { work in
      work.promises = promises ?? []
      // If all outcomes are known, the last states contain them, and may be written.
      work.hasPromised = promises == nil
    }
    if promises != nil { return }
    logger.warning("what came of the last transactions is not known: the next start begins another epoch")
    for journal in journals { journal.remove() }
  }

  /// Writes the last states. To be called once, after everything that gives numbers has ended.
  ///
  /// - Parameter highest: the highest number that was given.
  package func finish(highest: Int64) {
    let work = work.withLock { $0 }
    for (follower, journal) in journals.enumerated() {
      if !work.hasPromised, var part = work.last[follower] {
        part.memory.highest = max(part.memory.highest, highest)
        journal.finish(with: with(work.promises, part, of: follower))
      }
      journal.release()
    }
  }

  private func with(_ promises: [UInt8], _ part: Part, of follower: Int) -> Part {
    var part = part
    // The promises belong to all followers, so only the state of the first one contains them.
    part.memory.promises = follower == 0 ? promises : []
    return part
  }
}
