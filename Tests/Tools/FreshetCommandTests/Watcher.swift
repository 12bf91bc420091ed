import Foundation
import ServerSupport
import Synchronization
import TestSupport

/// `freshet watch` running, and what it has printed.
final class Watcher {
  private let process = Process()
  /// Filled by threads of their own.
  private final class Text: Sendable {
    let bytes = Mutex(Data())
    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  }

  private let printed = Text()
  private let errors = Text()
  let input = Pipe()

  /// - Parameter terminal: run it on a terminal of this size, columns and rows, by `script`.
  init(_ arguments: [String], terminal: (Int, Int)? = nil, environment: [String: String] = [:]) throws {
    if let (columns, rows) = terminal {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      let words = ([Program.path, "watch"] + arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
      let command = "stty cols \(columns) rows \(rows); exec " + words.joined(separator: " ")
      process.arguments = ["script", "-qec", command, "/dev/null"]
    } else {
      process.executableURL = URL(fileURLWithPath: Program.path)
      process.arguments = ["watch"] + arguments
    }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, errorOutput) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errorOutput
    try process.run()
    Self.collect(output, into: printed)
    Self.collect(errorOutput, into: errors)
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  private static func collect(_ pipe: Pipe, into text: Text) {
    let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
    Thread.detachNewThread {
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      while case let data = handle.availableData, !data.isEmpty { text.bytes.withLock { $0 += data } }
    }
  }

  var output: String { printed.text }
  var errorOutput: String { errors.text }

  /// Whether it has printed the text, or does in time.
  func prints(_ text: String) -> Bool { comesTrue { self.output.contains(text) } }
  func warns(_ text: String) -> Bool { comesTrue { self.errorOutput.contains(text) } }

  func type(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

  /// The exit status after a signal, within 5 seconds.
  func status(after signal: Int32? = nil) -> Int32? {
    if let signal { kill(process.processIdentifier, signal) }
    return !comesTrue(within: .seconds(5)) { !process.isRunning } || process.terminationReason == .uncaughtSignal
      ? nil : process.terminationStatus
  }
}
