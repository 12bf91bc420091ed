import Following
import Foundation
import Logging
package import Server
package import TestSupport

/// A folder of databases, and a server of it on a free port.
package final class LiveFolder {
  package let folder: TemporaryFolder
  package let server: FreshetServer
  package let log = RecordedLog()

  /// - Parameter databases: SQL by the path of the file in the folder.
  package init(_ databases: [String: String], configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    let path = folder.path("data")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, sql) in databases { try Self.make("\(path)/\(name)", sql) }
    var configuration = ServerConfiguration(places: try DatabasePlaces([path]))
    configuration.listening.port = 0
    configuration.ending.grace = .milliseconds(50)
    configuration.lists.selfCheck = .off
    configure(&configuration)
    server = try FreshetServer(configuration, logger: log.logger())
  }

  deinit { server.stop() }

  private static func make(_ path: String, _ sql: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try SQLiteShell(path: path).run("PRAGMA journal_mode = WAL;\n\(sql)")
  }

  package func path(_ name: String) -> String { folder.path("data/\(name)") }

  /// Makes another database.
  package func make(_ name: String, _ sql: String) throws { try Self.make(path(name), sql) }

  /// Has another process run SQL.
  package func write(_ name: String, _ sql: String) throws { try SQLiteShell(path: path(name)).run(sql) }

  package func connect(_ database: String, token: String? = nil) throws -> LiveClient {
    try LiveClient(port: server.port, path: Self.target(database, "/v1/live"), headers: Self.headers(token))
  }

  package func get(_ database: String, _ route: String, token: String? = nil) throws -> RawResponse {
    try get(Self.target(database, route), token: token)
  }

  package func get(_ target: String, token: String? = nil, headers: [String] = []) throws -> RawResponse {
    let response = try RawSocket(port: server.port).request("GET", target, headers: Self.headers(token) + headers)
    try DescribedAnswers.check(response, to: "GET", target)
    return response
  }

  package static func target(_ database: String, _ route: String) -> String {
    "/db/\(database.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!)\(route)"
  }

  private static func headers(_ token: String?) -> [String] { token.map { ["Authorization: Bearer \($0)"] } ?? [] }
}
