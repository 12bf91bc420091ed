import Foundation

/// SQLite's own command line shell, run as another process: the writer that Freshet knows nothing about.
package struct SQLiteShell {
  package let path: String

  package init(path: String) { self.path = path }

  /// The shell's standard output and error.
  @discardableResult
  package func run(_ sql: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-init", "/dev/null", "-cmd", ".timeout 10000", path]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    input.fileHandleForWriting.write(Data(sql.utf8))
    try input.fileHandleForWriting.close()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    try output.fileHandleForReading.close()
    process.waitUntilExit()
    return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// One shell that stays and is fed statements through a pipe: thousands of commits a second instead of a few hundred.
package final class SQLiteSession {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  package init(path: String) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-init", "/dev/null", path]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Output of statements is discarded, because it must not be taken for the echo that marks their end. The timeout
    // waits for readers' locks.
    input.fileHandleForWriting.write(Data(".output /dev/null\n.timeout 10000\n".utf8))
  }

  /// Runs the statements; the last one needs no semicolon. Failing statements are skipped, as the shell does. Returns
  /// when all are done.
  package func run(_ sql: String) throws {
    // The echo comes from a child process, because the shell buffers its own output.
    input.fileHandleForWriting.write(Data((sql + "\n;\n.shell echo\n").utf8))
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([0x0A]) {}
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    // Foundation may keep the pipe open longer, and may crash when it starts a process while 1,300 files are open.
    try? output.fileHandleForReading.close()
  }
}
