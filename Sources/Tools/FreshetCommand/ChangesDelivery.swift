import COpenSSL
import Foundation
import LiveQuery
import Wire

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Handles a commit's changes.
protocol ChangesHandler {
  /// - Parameters:
  ///   - position: identifies the commit; the same for a retry.
  /// - Returns: nil when the handler has taken it; otherwise the reason why not.
  func take(_ line: [UInt8], position: String) -> String?
}

/// Hands each message to the handler until it takes it, and notes the position.
struct ChangesDelivery {
  private let handler: any ChangesHandler
  private let position: ChangesPosition?

  /// Seconds.
  private static let (shortest, longest) = (0.5, 60.0)

  init(_ handler: any ChangesHandler, _ position: ChangesPosition?) {
    self.handler = handler
    self.position = position
  }

  /// - Parameter taken: called when the queue has room again.
  /// - Throws: `CommandFailure` with the reason of the end.
  func run(_ queue: ChangesQueue, taken: () -> Void) throws {
    while true {
      switch queue.take() {
      case .stop: return
      case .caughtUp(let last):
        if let last { try position?.note(last) }
        return
      case .failure(let error): throw CommandFailure(error.description)
      case .message(let message):
        if let line = line(message) {
          guard handOver(line, message.position, queue) else { return }
        }
        try position?.note(message.position)
        taken()
      }
    }
  }

  /// - Returns: false when it was interrupted before the line was taken.
  private func handOver(_ line: [UInt8], _ position: String, _ queue: ChangesQueue) -> Bool {
    var pause = Self.shortest
    while let problem = handler.take(line, position: position) {
      FileHandle.standardError.write(Data("\(problem); again in \(pause) s\n".utf8))
      let end = Date(timeIntervalSinceNow: pause)
      var later: [ChangesQueue.Item] = []
      defer { for item in later.reversed() { queue.giveBack(item) } }
      while case let left = end.timeIntervalSinceNow, left > 0, let item = queue.take(within: left) {
        if case .stop = item { return false }
        later.append(item)
      }
      pause = min(pause * 2, Self.longest)
    }
    return true
  }

  /// - Returns: nil where nothing has changed.
  private func line(_ message: ChangesMessage) -> [UInt8]? {
    if case .position = message { return nil }
    var writer = JSONWriter()
    ServerMessage.changes(message).writeLine(to: &writer)
    return writer.bytes
  }
}

/// Writes lines to standard output.
struct LineHandler: ChangesHandler {
  func take(_ line: [UInt8], position: String) -> String? {
    FileHandle.standardOutput.write(Data(line))
    return nil
  }
}

/// Runs a shell command with each line at its standard input.
struct CommandHandler: ChangesHandler {
  private let command: String

  init(_ command: String) { self.command = command }

  func take(_ line: [UInt8], position: String) -> String? {
    let process = Process()
    let input = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = ProcessInfo.processInfo.environment.merging(["FRESHET_POSITION": position]) { $1 }
    process.standardInput = input
    do {
      try process.run()
      // The command may end without reading all of its input. SIGPIPE is restored before the next command runs.
      let former = signal(SIGPIPE, SIG_IGN)
      defer { signal(SIGPIPE, former) }
      try? input.fileHandleForWriting.write(contentsOf: Data(line))
      try? input.fileHandleForWriting.close()
    } catch { return "the command cannot be run: \(error.localizedDescription)" }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : "the command ended with \(process.terminationStatus)"
  }
}

/// Posts to an address, as https://www.standardwebhooks.com specifies.
struct WebhookHandler: ChangesHandler {
  private let url: URL
  private let secret: [UInt8]?

  init(_ url: URL, secret: String?) {
    self.url = url
    self.secret = secret.map { secret in
      if secret.hasPrefix("whsec_"), let decoded = Data(base64Encoded: String(secret.dropFirst(6))) {
        return Array(decoded)
      }
      return Array(secret.utf8)
    }
  }

  func take(_ line: [UInt8], position: String) -> String? {
    let timestamp = "\(Int(Date().timeIntervalSince1970))"
    var request = URLRequest(url: url, timeoutInterval: 30)
    request.httpMethod = "POST"
    request.httpBody = Data(line)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(position, forHTTPHeaderField: "webhook-id")
    request.setValue(timestamp, forHTTPHeaderField: "webhook-timestamp")
    if let secret {
      let signature = Self.signature(of: Array("\(position).\(timestamp).".utf8) + line, secret)
      request.setValue("v1,\(signature)", forHTTPHeaderField: "webhook-signature")
    }
    let done = DispatchSemaphore(value: 0)
    let outcome = WebhookOutcome()
    let session = URLSession(configuration: .ephemeral)
    session.dataTask(with: request) { _, response, error in
      outcome.problem =
        error.map { "\(url): \($0.localizedDescription)" }
        ?? Self.problem((response as? HTTPURLResponse)?.statusCode ?? 0, url)
      done.signal()
    }.resume()
    done.wait()
    session.finishTasksAndInvalidate()
    return outcome.problem
  }

  private static func problem(_ status: Int, _ url: URL) -> String? {
    (200..<300).contains(status) ? nil : "\(url) answers \(status)"
  }

  static func signature(of bytes: [UInt8], _ secret: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    HMAC(EVP_sha256(), secret, Int32(secret.count), bytes, bytes.count, &digest, &length)
    return Data(digest.prefix(Int(length))).base64EncodedString()
  }
}

/// Written before the semaphore is signalled, and read after.
private final class WebhookOutcome: @unchecked Sendable {
  var problem: String?
}
