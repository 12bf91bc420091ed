import Requests

/// Commands taken from the mailbox that are not performed yet. They keep the order within each session, and sessions
/// take turns.
///
/// Owner: the follower's thread.
struct Inbox {
  private unowned let thread: FollowerThread
  /// Commands without a session, in the order posted.
  private var control: [FollowerCommand] = []
  private var lanes: [UInt64: Lane] = [:]
  /// Sessions with commands, from `first` on, the least recently served first.
  private var order: [UInt64] = []
  private var first = 0

  /// One session's commands.
  private struct Lane {
    var commands: [FollowerCommand] = []
    var next = 0
  }

  init(_ thread: FollowerThread) { self.thread = thread }

  /// Takes commands from the mailbox.
  ///
  /// - Returns: whether a tick was requested.
  mutating func takeIn() -> Bool {
    add(thread.takeCommands())
    return thread.takeWish()
  }

  /// Reports the number of waiting commands to the thread.
  func report() { thread.noteTaken(count) }

  /// Takes all commands, including those that were posted since.
  mutating func takeEverything() -> [FollowerCommand] {
    _ = takeIn()
    return takeAll()
  }

  var isEmpty: Bool { control.isEmpty && lanes.isEmpty }
  /// Whether there are commands of sessions.
  var hasLanes: Bool { !lanes.isEmpty }
  /// Whether a command without a session meets a condition.
  func holdsControl(_ isFit: (FollowerCommand) -> Bool) -> Bool { control.contains(where: isFit) }

  /// The number of waiting commands. O(sessions with commands).
  var count: Int { lanes.values.reduce(control.count) { $0 + $1.commands.count - $1.next } }

  mutating func add(_ commands: [FollowerCommand]) {
    for command in commands {
      guard let session = command.lane else {
        // The commands of a closed session are dropped.
        if case .sessionClosed(let session) = command { lanes[session] = nil }
        if case .abandon(let request) = command { forget(request) }
        control.append(command)
        continue
      }
      if lanes[session] == nil { order.append(session) }
      lanes[session, default: Lane()].commands.append(command)
    }
  }

  /// Removes an abandoned request.
  private mutating func forget(_ request: UInt64) {
    let session = FollowerCommand.laneOfRequests
    guard var lane = lanes[session] else { return }
    lane.commands.removeFirst(lane.next)
    lane.next = 0
    lane.commands.removeAll { $0.isRequest(request) }
    lanes[session] = lane.commands.isEmpty ? nil : lane
    if lane.commands.isEmpty, let place = order[first...].firstIndex(of: session) { order.remove(at: place) }
  }

  /// Takes the commands without a session, which come first.
  mutating func takeControl() -> [FollowerCommand] {
    let taken = control
    control = []
    return taken
  }

  /// Takes the next command of the least recently served session.
  mutating func next() -> FollowerCommand? {
    while first < order.count {
      let session = order[first]
      first += 1
      if first > 1_024, first * 2 > order.count {
        order.removeFirst(first)
        first = 0
      }
      guard var lane = lanes.removeValue(forKey: session) else { continue }
      let command = lane.commands[lane.next]
      lane.next += 1
      if lane.next < lane.commands.count {
        lanes[session] = lane
        order.append(session)
      }
      return command
    }
    order = []
    first = 0
    return nil
  }

  /// Takes all commands.
  mutating func takeAll() -> [FollowerCommand] {
    var all = takeControl()
    while let command = next() { all.append(command) }
    return all
  }
}

extension FollowerCommand {
  /// The session in whose order the command is performed; nil if it is performed before all sessions' commands.
  fileprivate var lane: UInt64? {
    switch self {
    case .subscribe(let command): command.key.session
    case .request(let key, _, _), .unsubscribe(let key), .end(let key, _): key.session
    case .snapshot, .explain: Self.laneOfRequests
    // After a compilation the tick prepares statements, which takes long for many shapes, so these reports take turns
    // with sessions.
    case .report(let report): report.isOfCompiling ? Self.laneOfCompiling : nil
    default: nil
    }
  }

  /// The lane of requests without a session. No session has this number.
  fileprivate static let laneOfRequests = UInt64.max
  /// The lane of reports on compilations. No session has this number.
  private static let laneOfCompiling = UInt64.max - 1

  /// Whether it is the request for a snapshot or an explanation with this id.
  func isRequest(_ id: UInt64) -> Bool {
    switch self {
    case .explain(_, let request, _): request == id
    case .snapshot(let request): request.id == id
    default: false
    }
  }
}
