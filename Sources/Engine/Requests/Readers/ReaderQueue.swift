import Ground
import Store
import Synchronization

/// The jobs for readers, shared fairly between files, and for each file between requesters.
///
/// The next job belongs to the file with the fewest readers working for it. If several files have the fewest, it
/// belongs to the one that was served least recently. `FileJobs` has the order within a file. A file never has more
/// than half of the readers while other files wait, and a requester never has more than half while other requesters of
/// its file wait. A job that runs longer than `quantum` while others wait is interrupted once, and done again as a long
/// job. At least one reader takes no long jobs, so a short job waits at most for one quantum.
///
/// Readers have a low priority. If a reader gets too little processor time on a busy machine, its job is interrupted
/// once, and done again by one more reader, the brisk one. This reader has the process's own priority, and takes only
/// such jobs.
final class ReaderQueue: Sendable {
  private struct State {
    var files: [Int: FileJobs] = [:]
    /// Files with waiting jobs, the least recently served first.
    var order: [Int] = []
    /// Keyed by reader.
    var running: [Int: Running] = [:]
    var idle: [Int] = []
    var isStopping = false
    /// The number of files added so far.
    var lastFile = 0
  }

  private struct Running {
    let file: Int
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

  /// The number of the reader for jobs whose readers got too little processor time.
  var brisk: Int { readers }

  /// Takes jobs of one more file from now on.
  ///
  /// - Returns: the file's number.
  func addFile() -> Int {
    state.withLock { state in
      state.lastFile += 1
      state.files[state.lastFile] = FileJobs()
      return state.lastFile
    }
  }

  /// The number of files whose jobs are taken.
  var fileCount: Int { state.withLock { $0.files.count } }

  enum Addition {
    case waits
    /// The job was added, and this waiting reader must be woken.
    case wakes(Int)
    /// The job was refused, because too many jobs wait.
    case refused
  }

  /// The most waiting jobs of all requesters of a file.
  private static let mostWaiting = 10_000

  /// Adds a job of a file. If the file was stopped, the job is dropped.
  func add(_ job: ReaderJob, of file: Int) -> Addition {
    var job = job
    job.postedAt = clock.now
    return state.withLock { state in
      guard var jobs = state.files.removeValue(forKey: file) else { return .waits }
      defer { state.files[file] = jobs }
      if jobs.stopped != nil { return .waits }
      if !job.isLong, !job.hasStarved, jobs.count >= Self.mostWaiting { return .refused }
      if jobs.isEmpty { state.order.append(file) }
      jobs.append(job)
      waitingCount.add(1, ordering: .relaxed)
      return idleReader(for: job, &state).map { .wakes($0) } ?? .waits
    }
  }

  private func idleReader(for job: ReaderJob, _ state: inout State) -> Int? {
    guard let place = state.idle.lastIndex(where: { job.hasStarved || $0 != brisk }) else { return nil }
    let isBriskIdle = job.hasStarved ? state.idle.firstIndex(of: brisk) : nil
    return state.idle.remove(at: isBriskIdle ?? place)
  }

  /// The next job for a reader; nil if it must wait to be woken.
  func next(for reader: Int) -> (job: ReaderJob, interruption: Interruption)? {
    state.withLock { state in
      guard !state.isStopping, let (file, job) = take(&state, isBrisk: reader == brisk) else {
        if !state.idle.contains(reader) { state.idle.append(reader) }
        return nil
      }
      state.idle.removeAll { $0 == reader }
      waitingCount.subtract(1, ordering: .relaxed)
      let interruption = interruption(of: job, reader)
      state.running[reader] = Running(file: file, job: job, interruption: interruption)
      return (job, interruption)
    }
  }

  /// The interruption of a job, which is made on the reader's thread.
  private func interruption(of job: ReaderJob, _ reader: Int) -> Interruption {
    let now = clock.now
    let share =
      job.hasStarved || reader == brisk ? nil : ProcessorShare(since: now, processorTime: processorTime)
    if job.isLong { return Interruption(share: share) }
    return Interruption(
      givesWayAt: now + Self.quantum, others: { [self] in waitingCount.load(ordering: .relaxed) }, share: share)
  }

  private func take(_ state: inout State, isBrisk: Bool) -> (file: Int, job: ReaderJob)? {
    let mayRunLong = readers == 1 || state.running.values.count { $0.job.isLong } < readers - 1
    let isFit = { (job: ReaderJob) in isBrisk ? job.hasStarved : mayRunLong || !job.isLong }
    let most = isBrisk ? Int.max : max(1, readers / 2)
    var best: (turn: Int, place: FileJobs.Place, running: Int)?
    for (turn, file) in state.order.enumerated() {
      guard let jobs = state.files[file] else { continue }
      if state.order.count > 1, jobs.running >= most { continue }
      if let best, jobs.running >= best.running { continue }
      guard let place = jobs.next(runningJobs(of: file, state), most: most, isFit: isFit) else { continue }
      best = (turn, place, jobs.running)
      if jobs.running == 0 { break }
    }
    guard let best else { return nil }
    let file = state.order.remove(at: best.turn)
    let job = state.files[file]!.remove(at: best.place)
    state.files[file]!.running += 1
    state.files[file]!.waits.note(clock.now - job.postedAt)
    if !state.files[file]!.isEmpty { state.order.append(file) }
    return (file, job)
  }

  private func runningJobs(of file: Int, _ state: State) -> [Requester: Int] {
    var running: [Requester: Int] = [:]
    for job in state.running.values where job.file == file { running[job.job.requester, default: 0] += 1 }
    return running
  }

  /// Called when a reader's job has ended.
  ///
  /// - Returns: a reader to wake, if it was waiting for the end of this job.
  func end(_ reader: Int) -> Int? {
    state.withLock { state in
      if let file = state.running.removeValue(forKey: reader)?.file {
        state.files[file]?.running -= 1
        if let jobs = state.files[file], jobs.running == 0 { jobs.stopped?.signal() }
      }
      guard !state.order.isEmpty, let place = state.idle.lastIndex(where: { $0 != brisk }) else { return nil }
      return state.idle.remove(at: place)
    }
  }

  /// Removes the job, or interrupts it if it runs.
  func cancel(_ id: UInt64, of file: Int) {
    state.withLock { state in
      for running in state.running.values where running.file == file && running.job.id == id {
        running.interruption.stop()
      }
      guard state.files[file]?.remove(id) == true else { return }
      noteRemoved(1, of: file, &state)
    }
  }

  /// Cancels all jobs of a requester.
  func cancel(of requester: Requester, _ file: Int) {
    state.withLock { state in
      for running in state.running.values where running.file == file && running.job.requester == requester {
        running.interruption.stop()
      }
      guard let count = state.files[file]?.removeAll(of: requester), count > 0 else { return }
      noteRemoved(count, of: file, &state)
    }
  }

  private func noteRemoved(_ count: Int, of file: Int, _ state: inout State) {
    waitingCount.subtract(count, ordering: .relaxed)
    if state.files[file]?.isEmpty != false { state.order.removeAll { $0 == file } }
  }

  /// Begins no more jobs of a file, interrupts the running ones, and waits for them.
  func stop(_ file: Int) {
    let stopped = WakeSignal()
    var mustWait = state.withLock { state in
      for running in state.running.values where running.file == file { running.interruption.stop() }
      guard let jobs = state.files[file] else { return false }
      waitingCount.subtract(jobs.count, ordering: .relaxed)
      state.order.removeAll { $0 == file }
      var rest = FileJobs()
      (rest.running, rest.stopped, rest.waits) = (jobs.running, stopped, jobs.waits)
      state.files[file] = rest
      return rest.running > 0
    }
    while mustWait {
      stopped.wait()
      mustWait = state.withLock { $0.files[file].map { $0.running > 0 } ?? false }
    }
    state.withLock { _ = $0.files.removeValue(forKey: file) }
  }

  /// Begins no more jobs, and interrupts the running ones.
  func stop() {
    state.withLock { state in
      state.isStopping = true
      for running in state.running.values { running.interruption.stop() }
    }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  func waits(of file: Int) -> DurationHistogram { state.withLock { $0.files[file]?.waits ?? DurationHistogram() } }

  /// How long the oldest waiting job of a file has waited. O(requesters).
  func longestWait(of file: Int) -> Nanoseconds {
    let now = clock.now
    return state.withLock { state in state.files[file]?.oldest.map { now - $0 } ?? .zero }
  }

  /// The numbers of waiting and of running jobs of a file.
  func counts(of file: Int) -> (waiting: Int, running: Int) {
    state.withLock { state in state.files[file].map { ($0.count, $0.running) } ?? (0, 0) }
  }
}
