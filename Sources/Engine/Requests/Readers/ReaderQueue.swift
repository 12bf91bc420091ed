import Ground
import Store
import Synchronization

/// The jobs for readers, shared fairly between requesters.
///
/// The next job belongs to the requester with the fewest running jobs, and among those to the one least recently
/// served. A requester never has more than half of the readers while others wait. A job that runs longer than `quantum`
/// while others wait is interrupted once, and done again as a long job. At least one reader takes no long jobs, so a
/// short job waits at most for one quantum.
///
/// Readers have a low priority. A job whose reader starves on a busy machine is interrupted once, and done again: one more reader, the
/// brisk one, has the process's own priority, and takes such jobs alone.
final class ReaderQueue: Sendable {
  private struct State {
    /// By requester, in the order posted.
    var waiting: [Requester: [ReaderJob]] = [:]
    /// Requesters with waiting jobs, least recently served first.
    var order: [Requester] = []
    /// Keyed by reader.
    var running: [Int: Running] = [:]
    var idle: [Int] = []
    var isStopping = false
    /// How long jobs waited before they began.
    var waits = DurationHistogram()
  }

  private struct Running {
    let job: ReaderJob
    let interruption: Interruption
  }

  private static let quantum = Nanoseconds.milliseconds(500)

  private let state = Mutex(State())
  private let waitingCount = Atomic<Int>(0)
  private let readers: Int
  private let clock: MonotonicClock
  private let processorTime: @Sendable () -> Nanoseconds

  init(
    readers: Int, clock: MonotonicClock = .system,
    processorTime: @escaping @Sendable () -> Nanoseconds = ProcessorShare.ofThisThread
  ) {
    self.readers = max(1, readers)
    self.clock = clock
    self.processorTime = processorTime
  }

  /// The number of the reader for jobs that starved.
  var brisk: Int { readers }

  enum Addition {
    case waits
    /// This waiting reader must be woken.
    case wakes(Int)
    /// Too many jobs wait.
    case refused
  }

  /// The most waiting jobs of all requesters.
  private static let mostWaiting = 10_000

  func add(_ job: ReaderJob) -> Addition {
    var job = job
    job.postedAt = clock.now
    return state.withLock { state in
      if !job.isLong, !job.hasStarved, waitingCount.load(ordering: .relaxed) >= Self.mostWaiting { return .refused }
      if state.waiting[job.requester] == nil { state.order.append(job.requester) }
      state.waiting[job.requester, default: []].append(job)
      waitingCount.add(1, ordering: .relaxed)
      return idleReader(for: job, &state).map { .wakes($0) } ?? .waits
    }
  }

  private func idleReader(for job: ReaderJob, _ state: inout State) -> Int? {
    guard let place = state.idle.lastIndex(where: { job.hasStarved || $0 != brisk }) else { return nil }
    let isBriskIdle = job.hasStarved ? state.idle.firstIndex(of: brisk) : nil
    return state.idle.remove(at: isBriskIdle ?? place)
  }

  /// The next job for a reader; nil: none, and the reader will be woken.
  func next(for reader: Int) -> (job: ReaderJob, interruption: Interruption)? {
    state.withLock { state in
      guard !state.isStopping, let job = take(&state, isBrisk: reader == brisk) else {
        if !state.idle.contains(reader) { state.idle.append(reader) }
        return nil
      }
      state.idle.removeAll { $0 == reader }
      waitingCount.subtract(1, ordering: .relaxed)
      state.waits.note(clock.now - job.postedAt)
      let interruption = interruption(of: job, reader)
      state.running[reader] = Running(job: job, interruption: interruption)
      return (job, interruption)
    }
  }

  /// On the reader's thread.
  private func interruption(of job: ReaderJob, _ reader: Int) -> Interruption {
    let now = clock.now
    let share =
      job.hasStarved || reader == brisk ? nil : ProcessorShare(since: now, processorTime: processorTime)
    if job.isLong { return Interruption(share: share) }
    return Interruption(
      givesWayAt: now + Self.quantum, others: { [self] in waitingCount.load(ordering: .relaxed) }, share: share)
  }

  private func take(_ state: inout State, isBrisk: Bool) -> ReaderJob? {
    var running: [Requester: Int] = [:]
    for job in state.running.values { running[job.job.requester, default: 0] += 1 }
    let isAlone = state.order.count == 1
    let mayRunLong = readers == 1 || state.running.values.count { $0.job.isLong } < readers - 1
    var best: (turn: Int, place: Int, count: Int)?
    for (turn, requester) in state.order.enumerated() {
      let count = running[requester, default: 0]
      if !isAlone, !isBrisk, count >= max(1, readers / 2) { continue }
      let isFit = { (job: ReaderJob) in isBrisk ? job.hasStarved : mayRunLong || !job.isLong }
      guard let place = state.waiting[requester]?.firstIndex(where: isFit) else { continue }
      if best.map({ count < $0.count }) ?? true { best = (turn, place, count) }
      if count == 0 { break }
    }
    guard let best else { return nil }
    let requester = state.order.remove(at: best.turn)
    let job = state.waiting[requester]!.remove(at: best.place)
    if state.waiting[requester]!.isEmpty {
      state.waiting[requester] = nil
    } else {
      state.order.append(requester)
    }
    return job
  }

  /// A reader's job has ended.
  ///
  /// - Returns: a reader to wake, if the job that ended kept it waiting.
  func end(_ reader: Int) -> Int? {
    state.withLock { state in
      state.running[reader] = nil
      guard !state.order.isEmpty, let place = state.idle.lastIndex(where: { $0 != brisk }) else { return nil }
      return state.idle.remove(at: place)
    }
  }

  /// Removes the job, or interrupts it if it runs.
  func cancel(_ id: UInt64) {
    state.withLock { state in
      for running in state.running.values where running.job.id == id { running.interruption.stop() }
      for (requester, jobs) in state.waiting {
        guard let place = jobs.firstIndex(where: { $0.id == id }) else { continue }
        state.waiting[requester]!.remove(at: place)
        waitingCount.subtract(1, ordering: .relaxed)
        if state.waiting[requester]!.isEmpty {
          state.waiting[requester] = nil
          state.order.removeAll { $0 == requester }
        }
        return
      }
    }
  }

  /// Cancels all jobs of a requester.
  func cancel(of requester: Requester) {
    state.withLock { state in
      for running in state.running.values where running.job.requester == requester { running.interruption.stop() }
      guard let jobs = state.waiting.removeValue(forKey: requester) else { return }
      waitingCount.subtract(jobs.count, ordering: .relaxed)
      state.order.removeAll { $0 == requester }
    }
  }

  /// Begins no more jobs, and interrupts the running ones.
  func stop() {
    state.withLock { state in
      state.isStopping = true
      for running in state.running.values { running.interruption.stop() }
    }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  var waits: DurationHistogram { state.withLock { $0.waits } }

  /// How long the oldest waiting job has waited. O(requesters).
  var longestWait: Nanoseconds {
    let now = clock.now
    return state.withLock { state in
      state.waiting.values.compactMap { $0.first.map { now - $0.postedAt } }.max() ?? .zero
    }
  }

  /// The numbers of waiting and of running jobs.
  var counts: (waiting: Int, running: Int) {
    state.withLock { state in (state.waiting.values.reduce(0) { $0 + $1.count }, state.running.count) }
  }
}
