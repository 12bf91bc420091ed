import Dispatch
import Ground
import Logging
import Synchronization
import Wire

/// Lines on their way to a file, which a thread of its own writes: no other thread waits for the disk unless it asks
/// to.
///
/// Any thread, where nothing else is said. Mutable state: the file is the thread's once it runs; the rest is atomic.
final class LogQueue: Sendable {
  fileprivate enum Command: Sendable {
    case write(Line)
    /// The file may have been renamed.
    case reopen
  }

  /// The fate of a line that cannot be written.
  fileprivate enum Fate: Sendable {
    /// It is left out, and counted.
    case dropped
    /// It is tried again, before all others.
    case kept
    /// The line is left out, and its waiting caller gets the error.
    case refused(LogReceipt)
  }

  fileprivate struct Line: Sendable {
    let bytes: [UInt8]
    let fate: Fate

    var receipt: LogReceipt? { if case .refused(let receipt) = fate { receipt } else { nil } }
  }

  /// The state of the thread.
  fileprivate struct Work: ~Copyable {
    var file: LogFile
    /// Not written yet.
    var lines: [Line] = []
    /// How many dropped lines a line in the log has reported.
    var toldDropped = 0
    var hasFailed = false
    var nextTry = Instant.distantPast
  }

  private let name: String
  private let logger: Logger
  /// Bytes of lines that may wait. Further lines are dropped, except one for each thread that queues at the same time.
  private let limit: Int
  /// Bytes of lines that wait.
  private let waiting = Atomic<Int>(0)
  private let dropCount = Atomic<Int>(0)
  private let worker = Worker()
  private let mailbox: Mailbox<Command>
  private let ended = DispatchSemaphore(value: 0)
  /// Nil: the thread has it.
  private let file: Mutex<LogFile?>

  /// How long until lines that could not be written are tried again.
  private static let retry = Nanoseconds.milliseconds(1_000)

  /// Opens the file.
  ///
  /// - Parameter name: the log's name in messages.
  /// - Throws: one sentence for the operator.
  init(
    _ name: String, _ destination: LogDestination, limit: Int, logger: Logger
  ) throws(ServerError) {
    self.name = name
    self.limit = limit
    self.logger = logger
    mailbox = Mailbox(worker.wake)
    do throws(SystemError) { file = Mutex(try LogFile(destination)) } catch {
      guard case .file(let path) = destination else { throw ServerError("cannot write the \(name): \(error)") }
      throw ServerError("cannot write the \(name) \(path): \(error)")
    }
  }

  /// Starts the thread. To be called once; lines that come before wait.
  func start() {
    worker.start { [self] in
      if let file = file.withLock({ $0.take() }) { run(Work(file: file)) }
      ended.signal()
    }
  }

  /// Lines that were dropped since the start.
  var dropped: Int { dropCount.load(ordering: .relaxed) }

  /// Queues a line, or drops it when too much waits. Never blocks.
  func append(_ line: [UInt8]) {
    if waiting.load(ordering: .relaxed) + line.count > limit {
      dropCount.add(1, ordering: .relaxed)
    } else {
      post(Line(bytes: line, fate: .dropped))
    }
  }

  /// Queues a line that is written sooner or later. Never blocks.
  func keep(_ line: [UInt8]) { post(Line(bytes: line, fate: .kept)) }

  /// Writes a line, and everything queued before it, and waits until that is on the disk.
  ///
  /// - Returns: the fate of the line.
  func write(_ line: [UInt8], within patience: Duration) -> LogReceipt.Outcome {
    let receipt = LogReceipt()
    post(Line(bytes: line, fate: .refused(receipt)))
    return receipt.wait(for: patience)
  }

  private func post(_ line: Line) {
    waiting.add(line.bytes.count, ordering: .relaxed)
    mailbox.post(.write(line))
  }

  /// Opens the file anew: it may have been renamed.
  func reopen() { mailbox.post(.reopen) }

  /// Writes what is queued, for at most so long, and ends the thread.
  func stop(grace: Duration) {
    worker.requestStop()
    if ended.wait(timeout: .now() + grace) == .timedOut {
      // The thread may be blocked forever by a pipe that no program reads.
      logger.error("the \(name) takes no more lines: some are lost")
    } else {
      worker.join()
    }
  }

  // MARK: - The thread

  private func run(_ work: consuming Work) {
    worker.assertIsCurrent()
    while true {
      let isStopping = worker.mustStop
      let mustTry = take(&work)
      if !work.hasFailed || mustTry || isStopping || MonotonicClock.system.now >= work.nextTry {
        noteOutcome(writeAll(&work), &work)
      }
      if isStopping { break }
      worker.rest(milliseconds: WakeSignal.patience)
    }
    if !work.lines.isEmpty { logger.error("\(work.lines.count) lines of the \(name) could not be written") }
  }

  /// Takes the queued lines.
  ///
  /// - Returns: whether lines that could not be written are tried again now: a caller waits, or the file was replaced.
  private func take(_ work: inout Work) -> Bool {
    var mustTry = false
    for command in mailbox.takeAll() {
      switch command {
      case .write(let line):
        work.lines.append(line)
        mustTry = mustTry || line.receipt != nil
      case .reopen:
        reopen(&work.file)
        mustTry = true
      }
    }
    return mustTry
  }

  private func reopen(_ file: inout LogFile) {
    do throws(SystemError) { try file.reopen() } catch {
      return logger.warning("the \(name) stays in the file that is open: \(error)")
    }
    logger.info("the \(name) was opened anew")
  }

  private func noteOutcome(_ error: SystemError?, _ work: inout Work) {
    if let error, !work.hasFailed { logger.error("the \(name) cannot be written: \(error)") }
    if error == nil, work.hasFailed { logger.info("the \(name) can be written again") }
    work.hasFailed = error != nil
    if error != nil { work.nextTry = MonotonicClock.system.now + Self.retry }
  }

  /// Writes the queued lines.
  private func writeAll(_ work: inout Work) -> SystemError? {
    var lines = work.lines
    work.lines = []
    waiting.subtract(Self.size(lines), ordering: .relaxed)
    let untold = dropped - work.toldDropped
    if untold > 0 { lines.append(Line(bytes: Self.dropLine(untold), fate: .dropped)) }
    if lines.isEmpty { return nil }
    var (written, error) = work.file.write(lines.flatMap(\.bytes))
    if error == nil, lines.contains(where: { $0.receipt != nil }) {
      do throws(SystemError) { try work.file.sync() } catch let failure {
        for line in lines { line.receipt?.end(.uncertain) }
        error = failure
      }
    }
    for (index, line) in lines.enumerated() {
      let isWritten = written >= line.bytes.count
      written -= isWritten ? line.bytes.count : written
      switch line.fate {
      case .refused(let receipt): receipt.end(isWritten ? .written : .refused)
      case .kept where !isWritten: work.lines.append(line)
      case .dropped where untold > 0 && index == lines.count - 1: if isWritten { work.toldDropped += untold }
      case .dropped where !isWritten: dropCount.add(1, ordering: .relaxed)
      case .kept, .dropped: break
      }
    }
    waiting.add(Self.size(work.lines), ordering: .relaxed)
    return error
  }

  private static func size(_ lines: [Line]) -> Int { lines.reduce(0) { $0 + $1.bytes.count } }

  private static func dropLine(_ count: Int) -> [UInt8] { LogLine.make("dropped") { $0.member("lines", count) } }
}

/// Waits until a line is on the disk.
final class LogReceipt: Sendable {
  enum Outcome: Sendable {
    case written
    /// The line is not in the file, and never will be.
    case refused
    /// The line may be in the file, or may still be written.
    case uncertain
  }

  private let outcome = Mutex<Outcome?>(nil)
  private let done = DispatchSemaphore(value: 0)

  /// The first result counts.
  fileprivate func end(_ result: Outcome) {
    let isFirst = outcome.withLock { outcome in
      defer { outcome = outcome ?? result }
      return outcome == nil
    }
    if isFirst { done.signal() }
  }

  fileprivate func wait(for patience: Duration) -> Outcome {
    if done.wait(timeout: .now() + patience) == .timedOut { return .uncertain }
    return outcome.withLock { $0 } ?? .uncertain
  }
}
