package import Ground
package import LiveQuery
import Store
import Synchronization

/// A client's wait until all followers have reached a commit.
///
/// Any thread.
package final class CommitWaiter: Sendable {
  let commit: Int64
  let epoch: String
  let deadline: Instant
  private struct State {
    var left: Int
    var reply: (@Sendable (Result<Int64, FreshetError>) -> Void)?
  }
  private let state: Mutex<State>

  /// - Parameters:
  ///   - followers: the number of followers.
  ///   - reply: called once, on a follower's thread, with the commit.
  package init(
    _ commit: Int64, epoch: String, deadline: Instant, followers: Int,
    reply: @escaping @Sendable (Result<Int64, FreshetError>) -> Void
  ) {
    self.commit = commit
    self.epoch = epoch
    self.deadline = deadline
    state = Mutex(State(left: followers, reply: reply))
  }

  /// The followers have ended.
  deinit { refuse(Self.stopping) }

  /// Called when one more follower has reached the commit.
  func reached() {
    let reply = state.withLock { state in
      state.left -= 1
      return state.left == 0 ? state.reply.take() : nil
    }
    reply?(.success(commit))
  }

  package func refuse(_ error: FreshetError) { state.withLock { $0.reply.take() }?(.failure(error)) }

  var isOver: Bool { state.withLock { $0.reply == nil } }

  package static let stopping = FreshetError(.overloaded, "the server is stopping")
  static let overdue = FreshetError(.timeout, "the database has not reached the commit in time: it may come later")
}

/// Clients that wait for a follower to reach commits.
///
/// Owner: the follower's thread.
package struct AwaitedCommits {
  /// The waiters of each epoch, in ascending order of commits.
  private var waiters: [String: [CommitWaiter]] = [:]
  /// The earliest deadline of a waiter.
  package private(set) var nextDeadline = Instant.distantFuture

  package var isEmpty: Bool { waiters.isEmpty }

  /// Adds a waiter. O(log n + waiters for higher commits).
  package mutating func add(_ waiter: CommitWaiter) {
    let list = waiters[waiter.epoch] ?? []
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle].commit <= waiter.commit { low = middle + 1 } else { high = middle }
    }
    waiters[waiter.epoch, default: []].insert(waiter, at: low)
    nextDeadline = min(nextDeadline, waiter.deadline)
  }

  /// Called when the follower has reached this commit.
  package mutating func reached(_ commit: Int64, in epoch: String) {
    guard !waiters.isEmpty, let list = waiters[epoch], let first = list.first, first.commit <= commit else { return }
    let count = list.firstIndex { $0.commit > commit } ?? list.count
    for waiter in list[..<count] { waiter.reached() }
    waiters[epoch] = count == list.count ? nil : Array(list[count...])
    noteDeadline()
  }

  package mutating func refuseOverdue(_ now: Instant) {
    for (epoch, list) in waiters {
      for waiter in list where waiter.deadline <= now { waiter.refuse(CommitWaiter.overdue) }
      let left = list.filter { $0.deadline > now && !$0.isOver }
      waiters[epoch] = left.isEmpty ? nil : left
    }
    noteDeadline()
  }

  package mutating func refuseAll(_ error: FreshetError) {
    for waiter in waiters.values.joined() { waiter.refuse(error) }
    waiters = [:]
    nextDeadline = .distantFuture
  }

  private mutating func noteDeadline() {
    nextDeadline = waiters.values.joined().map(\.deadline).min() ?? .distantFuture
  }
}
