package import Logging
import Synchronization

/// Records log lines, with their metadata in the order of names.
package final class RecordedLog: Sendable {
  private struct Handler: LogHandler {
    let log: RecordedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let members = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
      log.recorded.withLock { $0.append("\(event.level): \(event.message) \(members)") }
    }
  }

  private let recorded = Mutex<[String]>([])

  package init() {}

  package var lines: [String] { recorded.withLock { $0 } }

  package func logger() -> Logger { Logger(label: "test") { _ in Handler(log: self) } }
}
