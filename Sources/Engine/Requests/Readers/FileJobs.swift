import Ground

/// The jobs of one file that wait for readers.
///
/// The next job belongs to the requester with the fewest running jobs of the file. If several have the fewest, it
/// belongs to the one that was served least recently.
struct FileJobs {
  /// The waiting jobs of each requester, in the order in which they were posted.
  private var waiting: [Requester: [ReaderJob]] = [:]
  /// Requesters with waiting jobs, the least recently served first.
  private var order: [Requester] = []
  /// How many wait.
  private(set) var count = 0
  /// The number of readers that work for the file.
  var running = 0
  /// How long jobs waited before they began.
  var waits = DurationHistogram()
  /// Set if no job may begin any more. Signaled when the last running job has ended.
  var stopped: WakeSignal?

  var isEmpty: Bool { order.isEmpty }

  mutating func append(_ job: ReaderJob) {
    if waiting[job.requester] == nil { order.append(job.requester) }
    waiting[job.requester, default: []].append(job)
    count += 1
  }

  /// The position of the next job.
  struct Place {
    fileprivate let turn: Int
    fileprivate let index: Int
  }

  /// - Parameters:
  ///   - running: the number of running jobs of the file, by requester.
  ///   - most: the most running jobs of a requester while other requesters of the file wait.
  ///   - isFit: returns whether the reader may do a job.
  func next(_ running: [Requester: Int], most: Int, isFit: (ReaderJob) -> Bool) -> Place? {
    let isAlone = order.count == 1
    var best: (place: Place, count: Int)?
    for (turn, requester) in order.enumerated() {
      let count = running[requester, default: 0]
      if !isAlone, count >= most { continue }
      guard let index = waiting[requester]?.firstIndex(where: isFit) else { continue }
      if best.map({ count < $0.count }) ?? true { best = (Place(turn: turn, index: index), count) }
      if count == 0 { break }
    }
    return best?.place
  }

  mutating func remove(at place: Place) -> ReaderJob {
    let requester = order.remove(at: place.turn)
    let job = waiting[requester]!.remove(at: place.index)
    count -= 1
    if waiting[requester]!.isEmpty { waiting[requester] = nil } else { order.append(requester) }
    return job
  }

  /// - Returns: whether the job waited.
  mutating func remove(_ id: UInt64) -> Bool {
    for (requester, jobs) in waiting {
      guard let index = jobs.firstIndex(where: { $0.id == id }) else { continue }
      waiting[requester]!.remove(at: index)
      count -= 1
      if waiting[requester]!.isEmpty { forget(requester) }
      return true
    }
    return false
  }

  /// - Returns: the number of waiting jobs of the requester that were removed.
  mutating func removeAll(of requester: Requester) -> Int {
    guard let jobs = waiting[requester] else { return 0 }
    count -= jobs.count
    forget(requester)
    return jobs.count
  }

  private mutating func forget(_ requester: Requester) {
    waiting[requester] = nil
    order.removeAll { $0 == requester }
  }

  /// When the oldest waiting job was posted. O(requesters).
  var oldest: Instant? { waiting.values.compactMap { $0.first?.postedAt }.min() }
}
