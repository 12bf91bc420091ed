import Foundation
import Synchronization
import TestSupport

/// The `freshet` command next to the test bundle, run as a process of its own.
package final class Program {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  /// The part of standard error that has been read.
  private var log = Data()

  package static let path = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .appending(path: "freshet").path

  /// - Parameter asNobody: whether as a user without rights; needs root.
  package init(_ arguments: [String], asNobody: Bool = false, environment: [String: String] = [:]) throws {
    let drop = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    let command = (asNobody ? drop : []) + [Program.path] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    // Tests leave nothing in the user's folder for states, unless they test it.
    process.environment = ProcessInfo.processInfo.environment.merging(["FRESHET_STATE": "none"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Runs the command to its end, for at most 20 seconds.
  package static func run(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
    try run(arguments)
  }

  package static func run(_ arguments: [String], asNobody: Bool = false) throws -> (
    status: Int32, output: String, errors: String
  ) {
    let program = try Program(arguments, asNobody: asNobody)
    let errors = Mutex(Data())
    let isRead = DispatchSemaphore(value: 0)
    let handle = program.errors.fileHandleForReading
    Thread.detachNewThread {
      let data = (try? handle.readToEnd()) ?? Data()
      errors.withLock { $0 = data }
      isRead.signal()
    }
    let process = program.process.processIdentifier
    let guardian = DispatchWorkItem { kill(process, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: guardian)
    let output = try program.output.fileHandleForReading.readToEnd() ?? Data()
    isRead.wait()
    program.process.waitUntilExit()
    guardian.cancel()
    try program.output.fileHandleForReading.close()
    try handle.close()
    return (
      program.process.terminationStatus, String(decoding: output, as: UTF8.self),
      String(decoding: errors.withLock { $0 }, as: UTF8.self)
    )
  }

  /// The port, from the log line with the server's address.
  package func port() throws -> Int {
    while true {
      if let match = String(decoding: log, as: UTF8.self).firstMatch(of: /serving .* at https?:\/\/[^ ]*:(\d+)\//) {
        return Int(match.1)!
      }
      let data = errors.fileHandleForReading.availableData
      if data.isEmpty {
        throw RawSocket.Failure(description: "it ended: \(String(decoding: log, as: UTF8.self))")
      }
      log += data
    }
  }

  /// Its output to standard error; to be called once it has ended.
  package func errorOutput() throws -> String {
    log += try errors.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: log, as: UTF8.self)
  }

  /// Its output to standard output; to be called once it has ended.
  package func standardOutput() throws -> String {
    String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// Whether the log has a text, or gets it in time.
  package func waits(forLog text: String, seconds: Double) throws -> Bool {
    let guardian = DispatchWorkItem { [process] in kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: guardian)
    defer { guardian.cancel() }
    while !String(decoding: log, as: UTF8.self).contains(text) {
      let data = errors.fileHandleForReading.availableData
      if data.isEmpty { return false }
      log += data
    }
    return true
  }

  package var processIdentifier: Int32 { process.processIdentifier }

  /// Whether a debugger, or strace, is attached to the process.
  package var isTraced: Bool { kernelStatus?.contains(/TracerPid:\t[1-9]/) == true }

  /// Whether its first thread has ended, even if a debugger holds others.
  package var hasExited: Bool { kernelStatus?.contains(/State:\tZ/) != false }

  private var kernelStatus: String? {
    try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
  }

  /// The signal that ended the process; nil if none has in time.
  package func endingSignal(within seconds: Double) -> Int32? {
    let hasEnded = comesTrue(within: .seconds(seconds)) { !process.isRunning }
    return hasEnded && process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
  }

  /// Memory that the process holds.
  package var residentBytes: Int {
    let fields = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8)
    return (fields?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
  }

  package func stop() {
    signal(SIGTERM)
    _ = status(within: 30)
  }

  package func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// The exit status, or nil when it has not ended within `seconds`.
  package func status(within seconds: Double) -> Int32? {
    let hasEnded = comesTrue(within: .seconds(seconds)) { !process.isRunning }
    return !hasEnded || process.terminationReason == .uncaughtSignal ? nil : process.terminationStatus
  }
}

/// A folder with a database in it, removed at the end.
package final class ProgramFolder {
  package let path: String
  package var database: String { path + "/a b.sqlite" }

  package init(_ schema: String = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x');") throws {
    path = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    if !schema.isEmpty { try SQLiteShell(path: database).run(schema) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
