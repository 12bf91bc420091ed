import Foundation

/// The program that writes a file in every way that SQLite has (`Tests/CHostileWriter`), next to the test bundle.
package final class HostileWriter {
  /// Notes the outcomes of the numbers that a writer put into the table `written`, one in each transaction.
  package struct Ledger {
    /// The first number.
    let first: Int
    /// A number and its outcome, as in `scripts/history.py`.
    let note: (_ id: Int, _ outcome: String) -> Void

    package init(first: Int, note: @escaping (_ id: Int, _ outcome: String) -> Void) {
      self.first = first
      self.note = note
    }
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let ledger: Ledger?
  /// The number of the present transaction.
  private var nextID: Int
  /// Output that was read and not handled yet.
  private var received: [UInt8] = []

  package static let path = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .appending(path: "hostile-writer").path

  /// Returns when it is ready to write.
  package init(_ file: String, seed: UInt64, _ options: [String], ledger: Ledger? = nil) throws {
    self.ledger = ledger
    nextID = ledger?.first ?? 0
    // Writing to a killed process must be an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = URL(fileURLWithPath: Self.path)
    process.arguments = [file, String(seed)] + options + (ledger.map { ["ledger=\($0.first)"] } ?? [])
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    read(untilLine: true)
  }

  deinit { kill() }

  /// Whether the process is still running, as far as is known.
  package private(set) var isAlive = true

  /// Runs some transactions.
  ///
  /// - Returns: false if it died meanwhile.
  package func run(_ transactions: Int) -> Bool {
    guard isAlive else { return false }
    send(transactions)
    read(untilLine: true)
    return isAlive
  }

  /// Writes from now on, until it is killed.
  package func runForEver() { send(0) }

  /// Notes the lines written by now. A writer that runs forever would block if its lines were not read.
  package func takeNotes() { if ledger != nil, isAlive { read(untilLine: false) } }

  package func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    // Read its earlier lines.
    while isAlive { read(untilLine: true) }
  }

  private func send(_ number: Int) {
    let line = Array("\(number)\n".utf8)
    _ = line.withUnsafeBytes { write(input.fileHandleForWriting.fileDescriptor, $0.baseAddress!, $0.count) }
  }

  /// Reads its output up to a line that is not a note, or otherwise as much as is available. Notes when it has ended.
  private func read(untilLine: Bool) {
    while isAlive {
      while let end = received.firstIndex(of: 0x0A) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end + 1)
        if !take(line), untilLine { return }
      }
      if !untilLine, !hasOutput { return }
      var chunk = [UInt8](repeating: 0, count: 4_096)
      let count = Foundation.read(output.fileHandleForReading.fileDescriptor, &chunk, chunk.count)
      if count > 0 { received += chunk[..<count] } else if count == 0 || errno != EINTR { end() }
    }
  }

  private var hasOutput: Bool {
    var descriptor = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) > 0
  }

  /// - Returns: whether the line was a note.
  private func take(_ line: String) -> Bool {
    guard let ledger, let id = Int(line.dropFirst()), line.hasPrefix("+") || line.hasPrefix("-") else { return false }
    ledger.note(id, line.hasPrefix("+") ? "acknowledged" : "refused")
    nextID = id + 1
    return true
  }

  private func end() {
    isAlive = false
    // The writer may have ended in the middle of a commit.
    ledger?.note(nextID, "unknown")
  }
}
