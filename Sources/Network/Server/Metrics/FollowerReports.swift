import ChangeCapture
import Controllers
import Dispatch
import Synchronization

/// Asks followers for their numbers, and does without those that are busy: their last numbers stand for them.
///
/// Any thread: one lock.
final class FollowerReports: Sendable {
  fileprivate struct Request {
    /// Followers that have not answered.
    var missing: Set<Int>
    let reply: @Sendable (FollowerReport) -> Void
  }

  fileprivate struct State {
    /// By follower.
    var last: [Int: FollowerStatistics] = [:]
    /// Followers that have been asked and have not answered: they are not asked twice.
    var asked: Set<Int> = []
    var requests: [Int: Request] = [:]
    var lastRequest = 0
  }

  /// How long a follower may take: whoever asks for metrics gets them within a second.
  static let patience = Duration.milliseconds(700)

  private let state = Mutex(State())

  /// - Parameter reply: called once, on any thread.
  func request(of pool: ControllerPool, reply: @escaping @Sendable (FollowerReport) -> Void) {
    let followers = Set(0..<pool.count)
    let (number, unasked) = state.withLock { state in
      state.lastRequest += 1
      state.requests[state.lastRequest] = Request(missing: followers, reply: reply)
      defer { state.asked = followers }
      return (state.lastRequest, followers.subtracting(state.asked))
    }
    for follower in unasked { pool.post(.statistics { [self] in add($0, of: follower) }, to: follower) }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in end(number) }
  }

  private func add(_ statistics: FollowerStatistics, of follower: Int) {
    let (report, done) = state.withLock { state in
      state.last[follower] = statistics
      state.asked.remove(follower)
      var done: [Request] = []
      for number in state.requests.keys {
        state.requests[number]!.missing.remove(follower)
        if state.requests[number]!.missing.isEmpty { done.append(state.requests.removeValue(forKey: number)!) }
      }
      return (state.report(unresponsive: 0), done)
    }
    for request in done { request.reply(report) }
  }

  /// Time is up.
  private func end(_ number: Int) {
    let late = state.withLock { state in
      state.requests.removeValue(forKey: number).map { ($0, state.report(unresponsive: $0.missing.count)) }
    }
    if let (request, report) = late { request.reply(report) }
  }
}

extension FollowerReports.State {
  fileprivate func report(unresponsive: Int) -> FollowerReport {
    var sum = FollowerStatistics()
    for part in last.values { sum.add(part) }
    return FollowerReport(statistics: sum, unresponsive: unresponsive)
  }
}

/// What followers do, all together.
struct FollowerReport: Sendable {
  let statistics: FollowerStatistics
  /// Followers whose numbers are old, because they have not answered in time.
  let unresponsive: Int
}

extension FollowerStatistics {
  fileprivate mutating func add(_ part: FollowerStatistics) {
    controllers += part.controllers
    subscriptions += part.subscriptions
    versions += part.versions
    ticks += part.ticks
    capture.add(part.capture)
    refetches += part.refetches
    snapshots += part.snapshots
    patches += part.patches
    selfChecks += part.selfChecks
    divergences += part.divergences
    tickDurations.add(part.tickDurations)
  }
}
