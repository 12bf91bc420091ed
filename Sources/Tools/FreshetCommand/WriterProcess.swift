import Foundation

/// `freshet demo-writer` as a process of its own, which ends with this one.
///
/// Its standard input is a pipe without data. The system closes this process's end when it ends, however it
/// ends, and the writer stops at the end of its input.
final class WriterProcess {
  private let process = Process()
  private let input = Pipe()

  init(path: String, writesPerSecond: Double, target: Int) throws {
    guard let program = Bundle.main.executableURL else { throw CommandFailure("cannot find the program itself") }
    process.executableURL = program
    process.arguments = [
      "demo-writer", path, "--writes-per-second", "\(writesPerSecond)", "--target", "\(target)",
      // Each start makes different changes.
      "--seed", "\(UInt64(Date().timeIntervalSince1970))",
    ]
    process.standardInput = input
    do { try process.run() } catch {
      throw CommandFailure("cannot start the demo's writer: \(error.localizedDescription)")
    }
  }

  /// Ends it and waits until it has.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
