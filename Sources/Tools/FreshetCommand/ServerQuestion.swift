import Foundation
import LiveQuery
import Wire

/// A command's HTTP request to a server.
struct ServerQuestion {
  private let server: String
  private let access: ServerAccessOptions

  init(_ server: String, _ access: ServerAccessOptions) { (self.server, self.access) = (server, access) }

  /// Whether an argument is a server's address, and not a path.
  static func isServer(_ text: String) -> Bool { ["http://", "https://"].contains { text.lowercased().hasPrefix($0) } }

  /// - Parameter route: the route's path, with a leading slash.
  /// - Throws: one sentence, also if the server answers with an error.
  func answer(_ route: String, _ items: [URLQueryItem] = []) throws -> [UInt8] {
    guard var address = URLComponents(string: server), let host = address.host else {
      throw CommandFailure("\(server) is no http or https address")
    }
    var path = address.path
    while path.hasSuffix("/") { path.removeLast() }
    address.path = path + route
    address.queryItems = items
    let authorization = access.token.map { "Authorization: Bearer \($0)" }
    do throws(ServerConnection.Failure) {
      let connection = try ServerConnection(address, trusting: .authorities(access.trust.ca), patience: 30)
      let port = address.port.map { ":\($0)" } ?? ""
      let query = address.percentEncodedQuery.flatMap { $0.isEmpty ? nil : "?\($0)" } ?? ""
      let answer = connection.get(
        address.percentEncodedPath + query, host: host + port, headers: [authorization].compactMap(\.self),
        limit: 4 << 20)
      if answer.isOK { return Array(answer.body.utf8) }
      throw .init(
        sentence: Self.problem(answer.body) ?? "\(server) is no Freshet server: the answer is \(answer.status)")
    } catch { throw CommandFailure(error.sentence) }
  }

  /// The sentence of an error answer.
  private static func problem(_ body: String) -> String? {
    guard case .object(let members)? = try? JSONParser.parse(body), case .string(let code)? = members["code"] else {
      return nil
    }
    guard case .string(let detail)? = members["detail"] ?? members["message"] else { return code }
    return "\(code): \(detail)"
  }
}
