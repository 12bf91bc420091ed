import Dispatch
import Synchronization
import Testing

@testable import Ground

/// A few threads that step many things.
@Suite(.timeLimit(.minutes(1))) struct WorkersTests {
  /// Something that is stepped by calling a closure.
  private final class Steps: Stepped {
    private let body: @Sendable () -> Rest
    private let look: @Sendable () -> Nanoseconds?

    init(look: @escaping @Sendable () -> Nanoseconds? = { nil }, _ body: @escaping @Sendable () -> Rest) {
      self.body = body
      self.look = look
    }

    func step() -> Rest { body() }

    func postpone() -> Nanoseconds? { look() }
  }

  private final class Count: Sendable {
    private let value = Atomic<Int>(0)

    var now: Int { value.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func add(_ amount: Int = 1) -> Int { value.add(amount, ordering: .sequentiallyConsistent).newValue }
  }

  private final class Order: Sendable {
    let list = Mutex<[Int]>([])
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }

    func set() { value.store(true, ordering: .sequentiallyConsistent) }
  }

  private func start(
    _ workers: Workers, look: @escaping @Sendable () -> Nanoseconds? = { nil }, _ body: @escaping @Sendable () -> Rest
  ) -> WorkItem {
    let item = WorkItem(workers)
    item.start(Steps(look: look, body))
    return item
  }

  @Test func `Nothing is stepped by two threads at once, however often it is woken`() {
    let (workers, inside, most, steps, isOver) = (Workers(threads: 4), Count(), Count(), Count(), Flag())
    let items = (0..<3).map { _ in
      let ownInside = Count()
      return start(workers) {
        inside.add()
        if ownInside.add() > 1 { most.add() }
        sched_yield()
        ownInside.add(-1)
        steps.add()
        return isOver.isSet ? .ended : .pause(.max)
      }
    }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<5_000 { for item in items { item.signal() } }
    }
    isOver.set()
    for item in items {
      item.signal()
      item.join()
    }
    #expect(most.now == 0 && steps.now >= 3 && workers.threadCount <= 4)
    workers.stop()
  }

  @Test func `A wake during a step leads to another one`() {
    let (workers, steps, isInside, mayLeave) = (
      Workers(threads: 2), Count(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let item = start(workers) {
      if steps.add() == 3 { return .ended }
      isInside.signal()
      mayLeave.wait()
      return .pause(.max)
    }
    for _ in 0..<2 {
      isInside.wait()
      item.signal()
      item.signal()
      mayLeave.signal()
    }
    item.join()
    #expect(steps.now == 3)
    workers.stop()
  }

  @Test func `Deadlines are kept, and come in their order`() {
    let (workers, order, clock) = (Workers(threads: 1), Order(), MonotonicClock.system)
    let start = clock.now
    let items = [30, 10, 50, 20, 40].map { milliseconds in
      let steps = Count()
      return self.start(workers) {
        if steps.add() == 1 { return .pause(.milliseconds(UInt64(milliseconds * 4))) }
        order.list.withLock { $0.append(milliseconds) }
        return .ended
      }
    }
    for item in items { item.join() }
    #expect(order.list.withLock { $0 } == [10, 20, 30, 40, 50])
    #expect(clock.now - start >= .milliseconds(200))
    workers.stop()
  }

  @Test func `A wake comes before the deadline, which is forgotten`() {
    let (workers, steps) = (Workers(threads: 1), Count())
    let item = start(workers) { steps.add() == 1 ? .pause(.milliseconds(60_000)) : .ended }
    while steps.now < 1 { sched_yield() }
    item.signal()
    item.join()
    workers.stop()
  }

  @Test func `Something busy does not starve a hundred others`() {
    let (workers, busySteps, isOver, mayBegin) = (Workers(threads: 1), Count(), Flag(), DispatchSemaphore(value: 0))
    // A gate: no step runs before all items are ready.
    let gate = start(workers) {
      mayBegin.wait()
      return .ended
    }
    let busy = start(workers) {
      busySteps.add()
      return isOver.isSet ? .ended : .pause(.zero)
    }
    let most = Count()
    let items = (0..<100).map { _ in
      let turns = Count()
      return start(workers) {
        // The busy item may run at most once between two turns of another.
        if busySteps.now - turns.add() > 1 { most.add() }
        return turns.now == 50 ? .ended : .pause(.zero)
      }
    }
    mayBegin.signal()
    for item in [gate] + items { item.join() }
    #expect(most.now == 0)
    isOver.set()
    busy.join()
    workers.stop()
  }

  @Test func `Threads that are never idle still see events and deadlines`() throws {
    let source = try PipeSource()
    let (workers, isOver, timed, woken) = (Workers(threads: 2, source: source), Flag(), Count(), Count())
    let busy = (0..<4).map { _ in start(workers) { isOver.isSet ? .ended : .pause(.zero) } }
    let byTime = start(workers) { timed.add() == 1 ? .pause(.milliseconds(5)) : .ended }
    let byEvent = start(workers) { woken.add() == 1 ? .pause(.max) : .ended }
    source.item.withLock { $0 = byEvent }
    byTime.join()
    while woken.now < 1 { sched_yield() }
    source.put()
    byEvent.join()
    isOver.set()
    for item in busy { item.join() }
    workers.stop()
  }

  @Test func `While one has a long step others have their events`() throws {
    let source = try PipeSource()
    let (workers, woken) = (Workers(threads: 3, source: source), Count())
    let (isInside, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let long = start(workers) {
      isInside.signal()
      mayLeave.wait()
      return .ended
    }
    let other = start(workers) { woken.add() == 1 ? .pause(.max) : .ended }
    source.item.withLock { $0 = other }
    isInside.wait()
    while woken.now < 1 { sched_yield() }
    source.put()
    other.join()
    mayLeave.signal()
    long.join()
    workers.stop()
  }

  @Test func `Slow steps take no threads from others`() throws {
    let workers = Workers(threads: 1, source: try PipeSource())
    let (mayLeave, inside) = (DispatchSemaphore(value: 0), Count())
    let slow = (0..<3).map { _ in
      let steps = Count()
      return start(workers) {
        if steps.add() == 1 {
          usleep(60_000)
          return .pause(.milliseconds(1))
        }
        inside.add()
        mayLeave.wait()
        return .ended
      }
    }
    while inside.now < 3 { sched_yield() }
    // Each has a thread of its own.
    start(workers) { .ended }.join()
    #expect(workers.threadCount == 4)
    for _ in slow { mayLeave.signal() }
    for item in slow { item.join() }
    workers.stop()
  }

  @Test func `A look may put a step off, and a wake meanwhile does not wait for it`() {
    let (workers, looks, steps) = (Workers(threads: 1), Count(), Count())
    let put = start(workers, look: { looks.add() < 5 ? .milliseconds(1) : nil }) {
      steps.add() == 1 ? .pause(.milliseconds(1)) : .ended
    }
    put.join()
    #expect(looks.now == 5 && steps.now == 2)

    let (isLooking, mayLeave, turns) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Count())
    let look = { @Sendable () -> Nanoseconds? in
      isLooking.signal()
      mayLeave.wait()
      return .max
    }
    let woken = start(workers, look: look) { turns.add() == 1 ? .pause(.milliseconds(1)) : .ended }
    isLooking.wait()
    woken.signal()
    mayLeave.signal()
    woken.join()
    workers.stop()
  }

  @Test func `Whoever joins goes on when what was stepped is released`() {
    let (workers, isOver) = (Workers(threads: 2), Flag())
    let item = WorkItem(workers)
    weak var weakly: Steps?
    do {
      let steps = Steps { isOver.isSet ? .ended : .pause(.max) }
      weakly = steps
      item.start(steps)
    }
    isOver.set()
    item.signal()
    item.join()
    #expect(weakly == nil)
    // The item has ended, so the signal does nothing.
    item.signal()
    item.join()
    workers.stop()
  }

  @Test func `A thousand that rest need neither a thread nor a step`() {
    let (workers, steps) = (Workers(threads: 4), Count())
    let items = (0..<1_000).map { _ in
      start(workers) { steps.add() > 1_000 ? .ended : .pause(.milliseconds(60_000)) }
    }
    while steps.now < 1_000 { sched_yield() }
    #expect(workers.threadCount <= 4)
    for item in items { item.signal() }
    for item in items { item.join() }
    #expect(steps.now == 2_000)
    workers.stop()
  }

  @Test func `A thread that does not step it is found out`() async {
    await #expect(processExitsWith: .failure) {
      let item = WorkItem(Workers(threads: 1))
      item.assertIsCurrent()
    }
    await #expect(processExitsWith: .success) {
      // Its owner steps it.
      WorkItem(nil).assertIsCurrent()
      let item = WorkItem(Workers(threads: 1))
      item.start(
        Steps { [unowned item] in
          item.assertIsCurrent()
          return .ended
        })
      item.join()
    }
  }

  /// Wakes an item when something is written.
  private final class PipeSource: EventSource {
    let item = Mutex<WorkItem?>(nil)
    private let ends: (read: Int32, write: Int32)

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      self.ends = (ends[0], ends[1])
    }

    deinit {
      close(ends.read)
      close(ends.write)
    }

    var descriptor: Int32 { ends.read }
    var isShared: Bool { true }

    func put() {
      var byte: UInt8 = 1
      _ = write(ends.write, &byte, 1)
    }

    func drain() {
      var byte: UInt8 = 0
      _ = read(ends.read, &byte, 1)
      item.withLock { $0?.signal() }
    }
  }
}
