import Foundation

/// The program that writes a file in every way that SQLite has (`Tests/CHostileWriter`), next to the test bundle.
package final class HostileWriter {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  package static let path = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .appending(path: "hostile-writer").path

  /// Returns when it is ready to write.
  package init(_ file: String, seed: UInt64, _ options: [String]) throws {
    // What is written to one that was killed fails, and nothing more.
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = URL(fileURLWithPath: Self.path)
    process.arguments = [file, String(seed)] + options
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    isAlive = readLine()
  }

  deinit { kill() }

  /// Whether it has not ended, as far as is known.
  package private(set) var isAlive = true

  /// Runs some transactions.
  ///
  /// - Returns: false when it died of it.
  package func run(_ transactions: Int) -> Bool {
    guard isAlive else { return false }
    send(transactions)
    isAlive = readLine()
    return isAlive
  }

  /// Writes from now on, until it is killed.
  package func runForEver() { send(0) }

  package func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    isAlive = false
  }

  private func send(_ number: Int) {
    let line = Array("\(number)\n".utf8)
    _ = line.withUnsafeBytes { write(input.fileHandleForWriting.fileDescriptor, $0.baseAddress!, $0.count) }
  }

  /// - Returns: false when it has ended.
  private func readLine() -> Bool {
    var byte: UInt8 = 0
    while true {
      let count = read(output.fileHandleForReading.fileDescriptor, &byte, 1)
      if count == 1, byte == 0x0A { return true }
      if count <= 0, errno != EINTR || count == 0 { return false }
    }
  }
}
