/// Commands that wait to be performed, in the order of each session and fairly between sessions: those that were taken out of
/// the mailbox.
///
/// Owner: the follower's thread.
struct Inbox {
  private unowned let thread: FollowerThread
  /// What no session asked, in the order posted.
  private var control: [FollowerCommand] = []
  private var lanes: [UInt64: Lane] = [:]
  /// Sessions with commands, the one served longest ago first; `first` is where it begins.
  private var order: [UInt64] = []
  private var first = 0

  /// Commands of one session.
  private struct Lane {
    var commands: [FollowerCommand] = []
    var next = 0
  }

  init(_ thread: FollowerThread) { self.thread = thread }

  /// Takes in what was posted.
  ///
  /// - Returns: whether a tick was asked for.
  mutating func takeIn() -> Bool {
    add(thread.takeCommands())
    return thread.takeWish()
  }

  /// Tells the mailbox how much waits here.
  func report() { thread.noteTaken(count) }

  /// Everything, also what has been posted meanwhile.
  mutating func takeEverything() -> [FollowerCommand] {
    _ = takeIn()
    return takeAll()
  }

  var isEmpty: Bool { control.isEmpty && lanes.isEmpty }

  /// Commands that wait. O(sessions with commands).
  var count: Int { lanes.values.reduce(control.count) { $0 + $1.commands.count - $1.next } }

  mutating func add(_ commands: [FollowerCommand]) {
    for command in commands {
      guard let session = command.lane else {
        // Nothing that a closed session asked is wanted any more.
        if case .sessionClosed(let session) = command { lanes[session] = nil }
        if case .abandon(let request) = command { forget(request) }
        control.append(command)
        continue
      }
      if lanes[session] == nil { order.append(session) }
      lanes[session, default: Lane()].commands.append(command)
    }
  }

  /// Takes out a request whose client has left.
  private mutating func forget(_ request: UInt64) {
    let session = FollowerCommand.laneOfRequests
    guard var lane = lanes[session] else { return }
    lane.commands.removeFirst(lane.next)
    lane.next = 0
    lane.commands.removeAll { $0.isRequest(request) }
    lanes[session] = lane.commands.isEmpty ? nil : lane
    if lane.commands.isEmpty, let place = order[first...].firstIndex(of: session) { order.remove(at: place) }
  }

  /// What is to be done first.
  mutating func takeControl() -> [FollowerCommand] {
    let taken = control
    control = []
    return taken
  }

  /// The next command of the session that was served longest ago.
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

  /// Everything.
  mutating func takeAll() -> [FollowerCommand] {
    var all = takeControl()
    while let command = next() { all.append(command) }
    return all
  }
}

extension FollowerCommand {
  /// The session that asked, whose commands keep their order; nil: it is done before all those.
  fileprivate var lane: UInt64? {
    switch self {
    case .subscribe(let command): command.key.session
    case .request(let key, _, _), .unsubscribe(let key), .end(let key, _): key.session
    case .snapshot, .explain: Self.laneOfRequests
    // Statements are prepared in the tick, which takes long for many shapes.
    case .report(let report): report.isOfCompiling ? Self.laneOfCompiling : nil
    default: nil
    }
  }

  /// Of what is asked without a session; no session has this number.
  fileprivate static let laneOfRequests = UInt64.max
  /// Likewise, for what readers have compiled.
  private static let laneOfCompiling = UInt64.max - 1

  /// Whether it is the request with an id, for a snapshot or an explanation.
  func isRequest(_ id: UInt64) -> Bool {
    switch self {
    case .explain(_, let request, _): request == id
    case .snapshot(let request): request.id == id
    default: false
    }
  }
}
