import Foundation
import LiveQuery
import Wire
import Yams

/// What a configuration file (`freshet.yaml`) says; what it does not say is nil.
package struct ConfigurationFile: Sendable {
  /// A path; one that is not absolute starts at the file's folder.
  package var database: String?
  package var host: String?
  package var port: Int?
  package var allowWrites: Bool?
  package var allowQueries: Bool?
  package var allowedOrigins: [String]?
  package var allowedHosts: [String]?
  package var door = DoorSettings()
  /// Bytes.
  package var captureMemory: Int?
  package var limits: [LimitSetting: Int] = [:]
  package var queries: [PublishedQuery] = []

  package init() {}

  /// Reads a file.
  ///
  /// - Throws: one sentence with the place.
  package init(path: String) throws(ServerError) {
    guard let data = FileManager.default.contents(atPath: path) else { throw ServerError("cannot read \(path)") }
    guard let text = String(data: data, encoding: .utf8) else { throw ServerError("\(path) is not UTF-8") }
    try self.init(yaml: text, name: path)
    if let database, !database.hasPrefix("/") {
      self.database = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(database).path
    }
    door.resolvePaths(from: path)
  }

  /// - Parameter name: what the text is called in sentences.
  package init(yaml: String, name: String) throws(ServerError) {
    let root: Node?
    do { root = try compose(yaml: yaml) } catch {
      throw ServerError("\(name): \(ConfigurationFile.sentence(of: error))")
    }
    guard let root else { return }
    for (name, value) in try YAMLPlace(node: root, path: "", file: name).members() where !value.isNull {
      switch name {
      case "database": database = try value.text()
      case "host": host = try value.text()
      case "port": port = try value.port()
      case "allowWrites": allowWrites = try value.boolean()
      case "allowQueries": allowQueries = try value.boolean()
      case "allowedOrigins": allowedOrigins = try value.texts()
      case "allowedHosts": allowedHosts = try value.texts()
      case "captureMemory": captureMemory = try value.bytes()
      case "queries":
        for (name, query) in try value.members() { queries.append(try PublishedQuery(name, query)) }
      case let name where DoorSettings.names.contains(name): try door.read(name, value)
      default:
        guard let limit = LimitSetting(rawValue: name) else { throw value.error("is not a setting") }
        limits[limit] = try value.limit(limit)
      }
    }
  }

  private static func sentence(of error: any Error) -> String {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      "line \(mark.line): \(problem)"
    case .duplicatedKeysInMapping(let names, let context):
      "line \(context.mark.line): \(names.joined(separator: ", ")) is there twice"
    default: "is not YAML"
    }
  }
}

extension PublishedQuery {
  fileprivate init(_ name: String, _ place: YAMLPlace) throws(ServerError) {
    guard PublishedQuery.isGoodName(name) else {
      throw place.error("must be named with 1 to 64 letters, digits, _, - and .")
    }
    self.init(name: name, description: nil, query: Query(from: ""), parameters: [])
    var parameterPlaces: [(name: String, value: YAMLPlace)] = []
    var hasQuery = false
    for (name, value) in try place.members() {
      switch name {
      case "description": description = try value.text()
      case "query":
        query = try PublishedQuery.query(value)
        hasQuery = true
      case "parameters": parameterPlaces = try value.members()
      default: throw value.error("is unknown: a published query has description, query and parameters")
      }
    }
    guard hasQuery else { throw place.error("has no query") }
    for (name, value) in parameterPlaces { parameters.append(try Parameter(name, value)) }
    parameters.sort { $0.name < $1.name }
  }

  private static func isGoodName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "_-.".contains(character))
      }
  }

  private static let members: Set<String> = [
    "from", "select", "where", "groupBy", "having", "sectionBy", "orderBy", "limit", "key", "alongside", "refreshEvery",
  ]

  /// A member that a client's query may have in vain is a mistake in an operator's.
  private static func query(_ place: YAMLPlace) throws(ServerError) -> Query {
    for (name, value) in try place.members() where !members.contains(name) {
      throw value.error(name == "params" ? "is not for published queries: declare parameters" : "is no part of a query")
    }
    let json = try place.json()
    do throws(FreshetError) { return try Query(json: json) } catch {
      throw place.error("is no query: \(error.message)")
    }
  }
}

extension PublishedQuery.Parameter {
  fileprivate init(_ name: String, _ place: YAMLPlace) throws(ServerError) {
    self.init(name: name, type: .any)
    var defaultPlace: YAMLPlace?
    for (name, value) in try place.members() {
      switch name {
      case "type":
        guard let type = ParameterType(rawValue: try value.text()) else {
          let types = ParameterType.allCases.map(\.rawValue).joined(separator: ", ")
          throw value.error("must be one of \(types)")
        }
        self.type = type
      case "default": defaultPlace = value
      case "description": description = try value.text()
      default: throw value.error("is unknown: a parameter has type, default and description")
      }
    }
    defaultValue = try defaultPlace?.value(of: type)
  }
}
