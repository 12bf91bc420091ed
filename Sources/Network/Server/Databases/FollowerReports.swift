import ChangeCapture
import Controllers
import Dispatch
import Following
import LiveQuery
import Requests
import Synchronization

/// Asks all followers for their counters. Busy ones are represented by their last answers.
///
/// Any thread: one lock.
final class FollowerReports: Sendable {
  private struct Request {
    /// Followers that have not answered.
    var missing: Set<Int>
    let reply: @Sendable (FollowerReport) -> Void
  }

  private struct State {
    /// By follower.
    var last: [Int: FollowerStatus] = [:]
    /// Followers that have been asked and have not answered: they are not asked twice.
    var asked: Set<Int> = []
    var requests: [Int: Request] = [:]
    var lastRequest = 0
  }

  private let state = Mutex(State())

  /// - Parameters:
  ///   - patience: how long a follower may take.
  ///   - reply: called once, on any thread.
  func request(
    of pool: ControllerPool, patience: Duration = .milliseconds(700),
    reply: @escaping @Sendable (FollowerReport) -> Void
  ) {
    let followers = Set(0..<pool.count)
    let (number, unasked) = state.withLock { state in
      state.lastRequest += 1
      state.requests[state.lastRequest] = Request(missing: followers, reply: reply)
      defer { state.asked = followers }
      return (state.lastRequest, followers.subtracting(state.asked))
    }
    for follower in unasked { pool.post(.status { [self] in add($0, of: follower) }, to: follower) }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [self] in end(number) }
  }

  private func add(_ status: FollowerStatus, of follower: Int) {
    let (report, done) = state.withLock { state in
      state.last[follower] = status
      state.asked.remove(follower)
      var done: [Request] = []
      for number in state.requests.keys {
        state.requests[number]!.missing.remove(follower)
        if state.requests[number]!.missing.isEmpty { done.append(state.requests.removeValue(forKey: number)!) }
      }
      return (FollowerReport(state.last, late: []), done)
    }
    for request in done { request.reply(report) }
  }

  /// Ends a request whose time is up.
  private func end(_ number: Int) {
    let late = state.withLock { state in
      state.requests.removeValue(forKey: number).map { ($0, FollowerReport(state.last, late: $0.missing)) }
    }
    if let (request, report) = late { request.reply(report) }
  }
}

/// The state of all followers together.
struct FollowerReport: Sendable {
  private let statuses: [FollowerStatus]
  /// The errors of those that have answered in time.
  private let failures: [FreshetError]
  /// Followers whose answers are old, because they have not answered in time.
  let unresponsive: Int

  /// - Parameter last: by follower.
  fileprivate init(_ last: [Int: FollowerStatus], late: Set<Int>) {
    statuses = Array(last.values)
    failures = last.filter { !late.contains($0.key) }.compactMap(\.value.readingFailure)
    unresponsive = late.count
  }

  /// The reports of several databases together.
  init(_ parts: [FollowerReport]) {
    statuses = parts.flatMap(\.statuses)
    failures = parts.flatMap(\.failures)
    unresponsive = parts.reduce(0) { $0 + $1.unresponsive }
  }

  /// The error that keeps clients' lists from being read; nil: none.
  var readingFailure: FreshetError? {
    if let failure = failures.first { return failure }
    if unresponsive == 0 { return nil }
    return FreshetError(.overloaded, "a follower does not answer in time: a query takes long, or the disk does")
  }

  var statistics: FollowerStatistics {
    statuses.reduce(into: FollowerStatistics()) { $0.add($1.statistics) }
  }

  var lists: OpenLists { statuses.reduce(into: OpenLists()) { $0.add($1.lists) } }
}

extension FollowerStatistics {
  fileprivate mutating func add(_ part: FollowerStatistics) {
    controllers += part.controllers
    subscriptions += part.subscriptions
    versions += part.versions
    ticks += part.ticks
    capture.add(part.capture)
    evaluatedUnits += part.evaluatedUnits
    lookedUpUnits += part.lookedUpUnits
    refetches += part.refetches
    snapshots += part.snapshots
    patches += part.patches
    selfChecks += part.selfChecks
    divergences += part.divergences
    tickDurations.add(part.tickDurations)
  }
}
