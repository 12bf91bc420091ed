import Dispatch
import Foundation
import Ground
import Logging
import Synchronization
import Wire

/// Lines on their way to a file, which a thread of its own writes: no other thread waits for the disk unless it asks to.
///
/// Any thread. State: `state` is guarded by its mutex; the file belongs to the thread.
final class LogQueue: Sendable {
  /// What is to become of a line that cannot be written.
  fileprivate enum Fate: Sendable {
    /// It is left out, and counted.
    case dropped
    /// It is tried again, before all others.
    case kept
    /// It is left out, and who waits for it learns of that.
    case refused(LogReceipt)
  }

  fileprivate struct Line: Sendable {
    let bytes: [UInt8]
    let fate: Fate
  }

  fileprivate struct State {
    var lines: [Line] = []
    /// The size of `lines`.
    var bytes = 0
    var dropped = 0
    /// How many of `dropped` a line in the log has reported.
    var toldDropped = 0
    var mustReopen = false
    var isStopping = false
  }

  private let name: String
  private let logger: Logger
  /// Bytes of lines that may wait; more are dropped.
  private let limit: Int
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let file: Mutex<LogFile?>

  /// How long until lines that are kept are tried again.
  private static let retry = DispatchTimeInterval.seconds(1)

  /// Opens the file.
  ///
  /// - Parameter name: what sentences call the log.
  /// - Throws: one sentence for the operator.
  init(
    _ name: String, _ destination: LogDestination, limit: Int, logger: Logger
  ) throws(ServerError) {
    self.name = name
    self.limit = limit
    self.logger = logger
    do throws(SystemError) { file = Mutex(try LogFile(destination)) } catch {
      guard case .file(let path) = destination else { throw ServerError("cannot write the \(name): \(error)") }
      throw ServerError("cannot write the \(name) \(path): \(error)")
    }
  }

  /// Starts the thread. To be called once; lines that come before wait.
  func start() { Thread.detachNewThread { [self] in run() } }

  /// Lines that were dropped since the start.
  var dropped: Int { state.withLock { $0.dropped } }

  /// Queues a line, or drops it when too much waits. Never blocks.
  func append(_ line: [UInt8]) {
    let isFirst = state.withLock { state in
      if state.bytes + line.count > limit {
        state.dropped += 1
        return false
      }
      return state.add(Line(bytes: line, fate: .dropped))
    }
    if isFirst { wake.signal() }
  }

  /// Queues a line that is written sooner or later. Never blocks.
  func keep(_ line: [UInt8]) { if state.withLock({ $0.add(Line(bytes: line, fate: .kept)) }) { wake.signal() } }

  /// Writes a line, and everything queued before it, and waits until that is on the disk.
  ///
  /// - Returns: what became of the line.
  func write(_ line: [UInt8], within patience: Duration) -> LogReceipt.Outcome {
    let receipt = LogReceipt()
    _ = state.withLock { $0.add(Line(bytes: line, fate: .refused(receipt))) }
    // Also when lines wait that could not be written: now is the time to try again.
    wake.signal()
    return receipt.wait(for: patience)
  }

  /// Opens the file anew: it may have been renamed.
  func reopen() {
    state.withLock { $0.mustReopen = true }
    wake.signal()
  }

  /// Writes what is queued, for at most so long, and ends the thread.
  func stop(grace: Duration) {
    state.withLock { $0.isStopping = true }
    wake.signal()
    if ended.wait(timeout: .now() + grace) == .timedOut {
      logger.error("the \(name) takes no more lines: some are lost")
    }
  }

  // MARK: - The thread

  private func run() {
    var hasFailed = false
    while true {
      if hasFailed { _ = wake.wait(timeout: .now() + Self.retry) } else { wake.wait() }
      let (mustReopen, isStopping) = state.withLock { state in
        defer { state.mustReopen = false }
        return (state.mustReopen, state.isStopping)
      }
      if mustReopen { reopenFile() }
      let error = writeAll()
      noteChange(&hasFailed, error)
      if isStopping { break }
    }
    let left = state.withLock { $0.lines.count }
    if left > 0 { logger.error("\(left) lines of the \(name) could not be written") }
    file.withLock { $0 = nil }
    ended.signal()
  }

  private func reopenFile() {
    do throws(SystemError) { try file.withLock { file throws(SystemError) in try file?.reopen() } } catch {
      return logger.warning("the \(name) stays in the file that is open: \(error)")
    }
    logger.info("the \(name) was opened anew")
  }

  private func noteChange(_ hasFailed: inout Bool, _ error: SystemError?) {
    if let error, !hasFailed { logger.error("the \(name) cannot be written: \(error)") }
    if error == nil, hasFailed { logger.info("the \(name) can be written again") }
    hasFailed = error != nil
  }

  /// Writes what is queued.
  private func writeAll() -> SystemError? {
    var (lines, untold) = state.withLock { state in
      defer { (state.lines, state.bytes) = ([], 0) }
      return (state.lines, state.dropped - state.toldDropped)
    }
    if untold > 0 { lines.append(Line(bytes: Self.dropLine(untold), fate: .dropped)) }
    if lines.isEmpty { return nil }
    var (written, error) = file.withLock { $0?.write(lines.flatMap(\.bytes)) ?? (0, SystemError(code: EBADF)) }
    let hasWaiting = lines.contains { $0.receipt != nil }
    if error == nil, hasWaiting {
      do throws(SystemError) { try file.withLock { file throws(SystemError) in try file?.sync() } } catch let failure {
        for line in lines { line.receipt?.end(.uncertain) }
        error = failure
      }
    }
    var kept: [Line] = []
    for (index, line) in lines.enumerated() {
      let isWritten = written >= line.bytes.count
      written -= isWritten ? line.bytes.count : written
      switch line.fate {
      case .refused(let receipt): receipt.end(isWritten ? .written : .refused)
      case .kept where !isWritten: kept.append(line)
      case .dropped where untold > 0 && index == lines.count - 1:
        if isWritten { state.withLock { $0.toldDropped += untold } }
      case .dropped where !isWritten: state.withLock { $0.dropped += 1 }
      case .kept, .dropped: break
      }
    }
    if !kept.isEmpty { state.withLock { $0.putBack(kept) } }
    return error
  }

  private static func dropLine(_ count: Int) -> [UInt8] { LogLine.make("dropped") { $0.member("lines", count) } }
}

extension LogQueue.State {
  /// - Returns: whether the thread has to be woken.
  fileprivate mutating func add(_ line: LogQueue.Line) -> Bool {
    lines.append(line)
    bytes += line.bytes.count
    return lines.count == 1
  }

  fileprivate mutating func putBack(_ kept: [LogQueue.Line]) {
    lines = kept + lines
    bytes += kept.reduce(0) { $0 + $1.bytes.count }
  }
}

extension LogQueue.Line {
  fileprivate var receipt: LogReceipt? { if case .refused(let receipt) = fate { receipt } else { nil } }
}

/// Waits until a line is on the disk.
final class LogReceipt: Sendable {
  enum Outcome: Sendable {
    case written
    /// Nothing whole of it is in the file, nor will be.
    case refused
    /// It may be in the file, or come to be.
    case uncertain
  }

  private let outcome = Mutex<Outcome?>(nil)
  private let done = DispatchSemaphore(value: 0)

  /// The first time counts.
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
