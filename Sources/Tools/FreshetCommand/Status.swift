import ArgumentParser
import Broker
import Foundation
import Replication

/// The servers that replicate a file or a folder, and how far each is.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the servers of a replicated file or folder: the writer's, its replicas, how far each is.",
    discussion: """
      Asks through the broker, and waits for answers for --wait milliseconds. The exit code is 0 when the writer's server publishes \
      and no replica lags by more than --lag seconds, and 1 otherwise.
      """)

  @Argument(help: ArgumentHelp("The log: nats://host:port/stream.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("How long to wait for answers, in milliseconds.", valueName: "ms"))
  var wait = 1_000

  @Option(help: ArgumentHelp("Seconds by which a replica may lag.", valueName: "s"))
  var lag = 10

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: ArgumentHelp("The broker's credentials file.", valueName: "file"))
  var credentials: String?

  func validate() throws {
    guard (1...60_000).contains(wait) else { throw ValidationError("--wait must be 1 to 60000.") }
  }

  func run() throws {
    guard let address = BrokerAddress(url) else {
      throw ValidationError("The log must be \(BrokerAddress.expectation).")
    }
    var credentials = BrokerCredentials()
    credentials.credentials = self.credentials
    let report: StatusReport
    do throws(BrokerError) {
      report = try StatusReport(of: BrokerConnection(address, credentials, name: "freshet status"), wait: wait)
    } catch { throw CommandFailure(error.message) }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(report), as: UTF8.self))
    } else {
      print(report.table)
    }
    if !report.isWell(lag: lag) { throw ExitCode(1) }
  }
}

extension StatusReport {
  /// The report as text.
  fileprivate var table: String {
    var rows = [["ROLE", "HOST", "FILE", "COMMIT", "BATCH", "LAG", "STATE"]]
    for server in servers {
      let lag = server.role == "replica" ? server.lag.map { $0 < 1_000 ? "\($0) ms" : "\($0 / 1_000) s" } ?? "?" : ""
      rows.append([
        server.role, "\(server.host):\(server.process)", server.database, server.commit.map { "\($0)" } ?? "-",
        server.batch.map { "\($0)" } ?? "-", lag, server.state,
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        .trimmingCharacters(in: .whitespaces)
    }
    // A folder has a log for each file: too many to list.
    if servers.contains(where: { $0.name != nil }) { return lines.joined(separator: "\n") }
    if let log {
      lines.append("log: \(log.messages) messages, \(log.bytes) bytes, from \(log.first) to \(log.last)")
    } else {
      lines.append("log: none")
    }
    lines.append(snapshot.map { "snapshot: batch \($0.batch), \($0.bytes) bytes" } ?? "snapshot: none")
    return lines.joined(separator: "\n")
  }
}
