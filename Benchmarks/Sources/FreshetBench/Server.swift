import Foundation

/// The built command serving a file, as a process of its own, and what it costs the machine.
final class Server {
  private let process = Process()
  private(set) var port = 0

  /// - Parameters:
  ///   - path: the database.
  ///   - isTracked: whether the change capture is installed first.
  init(_ path: String, isTracked: Bool = true) throws {
    let command = ProcessInfo.processInfo.environment["FRESHET_BIN"] ?? "../.build/release/freshet"
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = ["serve", path, "--port", "0"] + (isTracked ? ["--track"] : [])
    let log = Pipe()
    process.standardError = log
    try process.run()
    var text = ""
    while port == 0, let data = try log.fileHandleForReading.read(upToCount: 1), !data.isEmpty {
      text += String(decoding: data, as: UTF8.self)
      if text.hasSuffix("/\n"), let match = text.firstMatch(of: /:(\d+)\/\n/) { port = Int(match.1)! }
    }
    precondition(port > 0, "the server did not start: \(text)")
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Time on a processor so far, all threads, in nanoseconds.
  var cpu: Int {
    let folder = "/proc/\(process.processIdentifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.reduce(0) { sum, thread in
      let line = (try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)) ?? ""
      return sum + (Int(line.split(separator: " ").first ?? "") ?? 0)
    }
  }

  /// Resident memory, in bytes.
  var memory: Int {
    let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
    return (status.firstMatch(of: /VmRSS:\s+(\d+)/).flatMap { Int($0.1) } ?? 0) * 1_024
  }
}
