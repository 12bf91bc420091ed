import CFreshetSystem

/// A source of events that wake items.
package protocol EventSource: AnyObject, Sendable {
  /// A file descriptor that is readable while there are events; -1 if there will be no events.
  var descriptor: Int32 { get }
  /// Reads the events and wakes the items that they concern. Any thread.
  func drain()
  /// Whether events may concern other items than the one that was woken last.
  var isShared: Bool { get }
}

/// A few threads that take the steps of any number of items; no thread belongs to an item. **Leader and followers.**
/// One idle thread, the leader, waits for events, for the wake signal and for the earliest deadline. The leader takes
/// the step of the item that it was woken for itself, which saves waking a second thread. It wakes another idle thread
/// only if more items are ready, or if the step may take long. A thread that has finished its step takes the next ready
/// item; the first that finds no item leads.
///
/// **Order.** Items that are ready are stepped first in, first out; an item that is ready again after its step goes to
/// the end. So no item is stepped twice while another item is ready. While no thread is idle, threads check for events
/// and deadlines every millisecond.
///
/// **Slow steps.** A step may wait for seconds for a lock that another program holds. So one more thread may be started
/// for each item that is being stepped and whose last steps took long. Locked files do not delay the others then.
///
/// Threads are started when they are needed first, and stay.
// @unchecked: all that changes is guarded by `lock`.
package final class Workers: @unchecked Sendable {
  private enum Leader {
    /// No thread waits.
    case none
    /// The leader waits in `poll`; a signal of `wakeSignal` wakes it.
    case polling
    /// The leader is awake, and will take the ready items.
    case awake
  }

  private let most: Int
  private let source: (any EventSource)?
  private let clock = MonotonicClock.system
  private let lock = HeldLock()
  /// Idle threads wait for this.
  private let work = LockCondition()
  /// Threads in `join` wait for this until their item has ended.
  private let endings = LockCondition()
  private let wakeSignal = WakeSignal()
  private var ready = ReadyItems()
  private var deadlines = WorkDeadlines()
  private var threads: [JoinedThread] = []
  private var idle = 0
  /// The number of threads that are taking a step of a slow item.
  private var slow = 0
  private var leader = Leader.none
  /// When the leader's wait in `poll` ends if nothing wakes it.
  private var leaderReturns = Instant.distantFuture
  private var lastPoll = Instant.distantPast
  private var isStopping = false

  /// How often threads check for events and deadlines while no thread is idle.
  private static let pollInterval = Nanoseconds.milliseconds(1)
  /// If an item's steps take longer than this, another thread is woken to lead during a step.
  private static let longStep = Nanoseconds.microseconds(250)
  /// An item with longer steps is slow.
  private static let slowStep = Nanoseconds.milliseconds(50)
  /// The most threads for slow items, in addition to the others.
  private static let mostSlow = 60
  /// The longest wait of the leader, in case a wake is lost.
  private static let patience = Nanoseconds.milliseconds(1_000)

  /// - Parameters:
  ///   - threads: the most threads, without those for slow items.
  ///   - source: the events to wait for, in addition to deadlines and wakes.
  package init(threads: Int, source: (any EventSource)? = nil) {
    most = max(1, threads)
    self.source = source
  }

  /// As many threads as processors and two more, because steps also wait for disks; four at least.
  package static var usualCount: Int { max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 2) }

  /// The number of threads started.
  package var threadCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return threads.count
  }

  /// Waits for events from now on, even if no item has been started yet.
  package func start() {
    lock.lock()
    if threads.isEmpty { startThread() }
    lock.unlock()
  }

  /// Ends the threads and waits for them. Items that have not ended are not stepped any more. Must not be called from a
  /// worker.
  package func stop() {
    lock.lock()
    isStopping = true
    let threads = threads
    work.broadcast()
    lock.unlock()
    wakeSignal.signal()
    for thread in threads { thread.join() }
  }

  // MARK: - Items

  func start(_ item: WorkItem, _ stepped: any Stepped) {
    lock.lock()
    precondition(item.state == .unstarted, "an item is started once")
    item.stepped = stepped
    let summons = makeReady(item)
    lock.unlock()
    summon(summons)
  }

  func wake(_ item: WorkItem) {
    var summons = Summons.nobody
    lock.lock()
    switch item.state {
    case .idle:
      deadlines.remove(item)
      summons = makeReady(item)
    case .ready: item.isTimed = false
    case .stepping: item.state = .steppingAgain
    case .unstarted, .steppingAgain, .ended: break
    }
    lock.unlock()
    summon(summons)
  }

  func join(_ item: WorkItem) {
    lock.lock()
    while item.state != .ended, item.state != .unstarted { endings.wait(lock) }
    lock.unlock()
  }

  private func makeReady(_ item: WorkItem) -> Summons {
    item.state = .ready
    item.isTimed = false
    ready.append(item)
    return summons
  }

  /// Which thread has to be woken: the leader, or an idle thread to become the leader. It is woken after the lock is
  /// released, because it needs the lock.
  private enum Summons {
    case nobody, leader, idle
  }

  private var summons: Summons {
    switch leader {
    case .awake: return .nobody
    case .polling: return .leader
    case .none:
      if idle > 0 { return .idle }
      if threads.count < most + min(slow, Self.mostSlow) { startThread() }
      return .nobody
    }
  }

  private func summon(_ summons: Summons) {
    switch summons {
    case .nobody: break
    case .leader: wakeSignal.signal()
    case .idle: work.signal()
    }
  }

  private func startThread() {
    let thread = JoinedThread()
    threads.append(thread)
    thread.start { [self] in run() }
  }

  // MARK: - Threads

  private func run() {
    lock.lock()
    var isLeader = false
    while !isStopping {
      if !isLeader, leader == .none, ready.isEmpty || mustPoll { isLeader = true }
      if isLeader, ready.isEmpty || leader == .none {
        lead()
        continue
      }
      guard let item = ready.popFirst() else {
        idle += 1
        work.wait(lock)
        idle -= 1
        continue
      }
      item.state = .stepping
      if item.isTimed, postpones(item) { continue }
      if isLeader { leader = .none }
      isLeader = false
      if item.longestStep > Self.slowStep { slow += 1 }
      let needsOthers = !ready.isEmpty || (item.longestStep > Self.longStep && source?.isShared == true)
      step(item, needsOthers ? summons : .nobody)
    }
    if isLeader { leader = .none }
    lock.unlock()
  }

  private var mustPoll: Bool { clock.now - lastPoll >= Self.pollInterval }

  /// Waits until something is ready or due, and moves what is due to the ready ones. The thread is the leader, and
  /// awake, when it returns.
  private func lead() {
    var now = clock.now
    leaderReturns = ready.isEmpty ? min(deadlines.next, now + Self.patience) : now
    leader = .polling
    lock.unlock()
    let source = source?.descriptor ?? -1
    var descriptors = (
      pollfd(fd: wakeSignal.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: source, events: Int16(POLLIN), revents: 0)
    )
    _ = withUnsafeMutablePointer(to: &descriptors) { pair in
      pair.withMemoryRebound(to: pollfd.self, capacity: 2) { system_poll($0, 2, (leaderReturns - now).count) }
    }
    lock.lock()
    leader = .awake
    if descriptors.0.revents != 0 || descriptors.1.revents != 0 {
      lock.unlock()
      if descriptors.0.revents != 0 { wakeSignal.clear() }
      if descriptors.1.revents != 0 { self.source?.drain() }
      lock.lock()
    }
    now = clock.now
    lastPoll = now
    while let item = deadlines.popFirst(before: now) {
      item.state = .ready
      item.isTimed = true
      ready.append(item)
    }
  }

  /// Whether an item whose deadline has passed rests for longer. Called with the lock held; releases it during
  /// `postpone`.
  private func postpones(_ item: WorkItem) -> Bool {
    lock.unlock()
    item.enter()
    let pause = item.stepped?.postpone()
    item.leave()
    lock.lock()
    guard let pause, item.state == .stepping else {
      item.state = .stepping
      return false
    }
    rest(item, pause, clock.now)
    return true
  }

  /// Takes a step of the item. Called with the lock held; releases it during the step.
  private func step(_ item: WorkItem, _ summons: Summons) {
    lock.unlock()
    summon(summons)
    item.enter()
    let start = clock.now
    let rest = item.stepped?.step() ?? .ended
    let end = clock.now
    if rest == .ended { item.stepped = nil }
    item.leave()
    lock.lock()
    if item.longestStep > Self.slowStep { slow -= 1 }
    item.longestStep = max(end - start, item.longestStep - item.longestStep / 8)
    switch rest {
    case .ended:
      item.state = .ended
      endings.broadcast()
    case .pause(let pause): self.rest(item, pause, end)
    }
  }

  private func rest(_ item: WorkItem, _ pause: Nanoseconds, _ now: Instant) {
    if item.state == .steppingAgain || pause == .zero {
      item.state = .ready
      item.isTimed = false
      return ready.append(item)
    }
    item.state = .idle
    item.due = now + pause
    if item.due == .distantFuture { return }
    deadlines.insert(item)
    if leader == .polling, item.due < leaderReturns { wakeSignal.signal() }
  }
}
