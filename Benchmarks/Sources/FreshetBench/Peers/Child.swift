import Foundation

/// A process that this one started: a server, a baseline, a writer. Lines are its commands and its answers.
final class Child {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let folder: Folder
  private let log: String
  private var hasStopped = false
  private var buffer: [UInt8] = []
  private let name: String

  init(_ executable: String, _ arguments: [String]) throws {
    name = (executable as NSString).lastPathComponent
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    folder = try Folder()
    log = folder.path("log")
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    Watchdog.register(process.processIdentifier)
  }

  deinit { stop() }

  func stop() {
    if hasStopped { return }
    hasStopped = true
    if process.isRunning { kill(process.processIdentifier, SIGTERM) }
    let deadline = now() + 10_000_000_000
    while process.isRunning, now() < deadline { usleep(2_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    Watchdog.unregister(process.processIdentifier)
    folder.remove()
  }

  /// Its output to standard error.
  var logText: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  func failure(_ what: String) -> Failure {
    let state = process.isRunning ? "it is running" : "it ended with status \(process.terminationStatus)"
    return Failure("\(name): \(what); \(state)\n\(logText.suffix(2_000))")
  }

  var isRunning: Bool { process.isRunning }

  func tell(_ line: String) throws {
    guard process.isRunning else { throw failure("is not there any more") }
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// The next line of standard output.
  func hear(seconds: Int = 120) throws -> String {
    let deadline = now() + seconds * 1_000_000_000
    let descriptor = output.fileHandleForReading.fileDescriptor
    while true {
      if let end = buffer.firstIndex(of: 10) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&ready, 1, Int32(max(0, (deadline - now()) / 1_000_000))) <= 0 {
        throw failure("said nothing in \(seconds) s")
      }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(descriptor, &bytes, bytes.count)
      if count <= 0 { throw failure("ended") }
      buffer += bytes[..<count]
    }
  }

  /// Time on a processor so far, all threads, in nanoseconds.
  var cpu: Int { cpuByThread.values.reduce(0, +) }

  /// As above for each thread, by its number.
  var cpuByThread: [String: Int] {
    let folder = "/proc/\(process.processIdentifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.reduce(into: [:]) { times, thread in
      let line = (try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)) ?? ""
      times[thread] = Int(line.split(separator: " ").first ?? "") ?? 0
    }
  }

  /// Resident memory, in bytes.
  var memory: Int {
    let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
    return (status.firstMatch(of: /VmRSS:\s+(\d+)/).flatMap { Int($0.1) } ?? 0) * 1_024
  }
}

/// Where the programs under measure, and their baselines, are.
enum Programs {
  /// Next to this program.
  static func own(_ name: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name).path
  }

  static func built(_ name: String) -> String {
    let folder = ProcessInfo.processInfo.environment["FRESHET_BUILD"] ?? "../.build/release"
    return "\(folder)/\(name)"
  }
}
