import Foundation
import Synchronization
package import TestSupport
import Testing
package import Wire

/// Compares what servers say in tests with `openapi.json` and `asyncapi.json`: each answer, message and event that
/// tests receive through `LiveServer`, `LiveFolder`, `LiveClient` and `EventClient`.
///
/// Of answers with the same members and kinds of values, only the first is compared.
package enum DescribedAnswers {
  private static let answers = Description("openapi.json")
  private static let messages = Description("asyncapi.json")

  /// An answer to a request.
  ///
  /// - Parameter target: the request's target, with its query.
  package static func check(_ response: RawResponse, to method: String, _ target: String) throws {
    guard let type = response.headers["content-type"], type.contains("json"), !type.contains("ndjson"),
      method != "HEAD",
      let operation = try operation(method, target.prefix { $0 != "?" }),
      let body = try? JSONParser.parse(response.body)
    else { return }
    try answers.check(body, "\(method) \(target.prefix { $0 != "?" }): \(response.status)") { schema in
      let responses = try operation.required("responses")
      let described = try schema.resolved(try responses[String(response.status)] ?? responses.required("default"))
      return try described.required("content").required(type).required("schema")
    }
  }

  /// Nil if the description has no such route, as in tests of unknown routes.
  private static func operation(_ method: String, _ path: Substring) throws -> JSONValue? {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    // After a database's name, routes are the same as without it.
    if parts.count > 3, parts[1] == "db" { parts.removeSubrange(1...2) }
    let item = try answers.document.required("paths").members?.first { name, _ in
      let described = name.split(separator: "/", omittingEmptySubsequences: false)
      return described.count == parts.count && zip(described, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    return item?.value[method.lowercased()]
  }

  /// A message of the socket, or an event of a stream.
  package static func check(_ message: JSONValue) throws {
    let type = try message.required("type").text()
    try messages.check(message, type) { _ in
      try messages.document.required("components").required("messages").required(type).required("payload")
    }
  }
}

/// A description of servers' messages, and those that were compared with it.
private final class Description: Sendable {
  let document: JSONValue
  private let schema: JSONSchema
  private let seen = Mutex<Set<Int>>([])

  init(_ name: String) {
    let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
    let file = root.appending(path: "Sources/Network/Server/Resources/\(name)")
    guard let text = try? Data(contentsOf: file), let json = try? JSONParser.parse(Array(text)) else {
      fatalError("\(file.path) cannot be read")
    }
    document = json
    schema = JSONSchema(root: json)
  }

  func check(_ value: JSONValue, _ place: String, _ described: (JSONSchema) throws -> JSONValue) throws {
    var hasher = Hasher()
    hasher.combine(place)
    value.hashForm(into: &hasher)
    let form = hasher.finalize()
    guard seen.withLock({ $0.insert(form).inserted }) else { return }
    let faults = try schema.faults(of: value, try described(schema))
    if !faults.isEmpty { Issue.record("\(place) is not as described: \(faults) in \(value.json.prefix(300))") }
  }
}

extension JSONValue {
  /// The names of members and the kinds of values, without the values. A long array counts by its first elements.
  fileprivate func hashForm(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .object(let members):
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        hasher.combine(name)
        value.hashForm(into: &hasher)
      }
    case .array(let elements): for element in elements.prefix(4) { element.hashForm(into: &hasher) }
    default: break
    }
  }
}
