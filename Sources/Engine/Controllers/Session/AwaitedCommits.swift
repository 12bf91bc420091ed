package import LiveQuery
import Store
import Synchronization

/// Somebody who waits until all followers have reached a commit.
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
  ///   - followers: how many there are.
  ///   - reply: called once, on a follower's thread, with the commit.
  init(
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

  /// A follower has reached it.
  func reached() {
    let reply = state.withLock { state in
      state.left -= 1
      return state.left == 0 ? state.reply.take() : nil
    }
    reply?(.success(commit))
  }

  func refuse(_ error: FreshetError) { state.withLock { $0.reply.take() }?(.failure(error)) }

  var isOver: Bool { state.withLock { $0.reply == nil } }

  static let stopping = FreshetError(.overloaded, "the server is stopping")
  static let overdue = FreshetError(.timeout, "the database has not reached the commit in time: it may come later")
}

/// Those who wait for a follower to reach a commit.
///
/// Owner: the follower's thread.
struct AwaitedCommits {
  /// By epoch, by commit ascending.
  private var waiters: [String: [CommitWaiter]] = [:]
  /// When one of them has waited long enough.
  private(set) var nextDeadline = Instant.distantFuture

  var isEmpty: Bool { waiters.isEmpty }

  /// O(log n), and as much again as there are who wait for higher commits.
  mutating func add(_ waiter: CommitWaiter) {
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

  /// The follower is at this commit.
  mutating func reached(_ commit: Int64, in epoch: String) {
    guard !waiters.isEmpty, let list = waiters[epoch], let first = list.first, first.commit <= commit else { return }
    let count = list.firstIndex { $0.commit > commit } ?? list.count
    for waiter in list[..<count] { waiter.reached() }
    waiters[epoch] = count == list.count ? nil : Array(list[count...])
    noteDeadline()
  }

  mutating func refuseOverdue(_ now: Instant) {
    for (epoch, list) in waiters {
      for waiter in list where waiter.deadline <= now { waiter.refuse(CommitWaiter.overdue) }
      let left = list.filter { $0.deadline > now && !$0.isOver }
      waiters[epoch] = left.isEmpty ? nil : left
    }
    noteDeadline()
  }

  mutating func refuseAll(_ error: FreshetError) {
    for waiter in waiters.values.joined() { waiter.refuse(error) }
    waiters = [:]
    nextDeadline = .distantFuture
  }

  private mutating func noteDeadline() {
    nextDeadline = waiters.values.joined().map(\.deadline).min() ?? .distantFuture
  }
}

extension ControllerPool {
  /// Calls back when all followers have reached a commit of an epoch or a later one: from then on everybody who asks sees it. Any
  /// thread; any number may wait.
  ///
  /// - Parameters:
  ///   - epoch: the name that versions have it by.
  ///   - timeout: how long to wait at most.
  ///   - reply: called once, on a follower's thread: with the commit; `timeout`, or `overloaded` when the server stops.
  package func whenReached(
    _ commit: Int64, epoch: String, timeout: Duration,
    reply: @escaping @Sendable (Result<Int64, FreshetError>) -> Void
  ) {
    let waiter = CommitWaiter(
      commit, epoch: epoch, deadline: clock.now + timeout, followers: count, reply: reply)
    post(.awaitCommit(waiter))
  }
}
