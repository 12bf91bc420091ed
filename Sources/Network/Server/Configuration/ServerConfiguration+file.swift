package import Following
import Foundation
import LiveQuery
package import Replication
import Wire
import Yams

/// The settings of a configuration file (`freshet.yaml`); missing ones are nil.
package struct ConfigurationFile: Sendable {
  /// Paths of files, and of folders with files in them.
  package var database: [String] = []
  package var host: String?
  package var port: Int?
  package var allowWrites: Bool?
  package var allowQueries: Bool?
  package var allowEveryoneToReadAndWrite: Bool?
  package var allowedOrigins: [String]?
  package var allowedHosts: [String]?
  package var door = DoorSettings()
  package var foreignParts = ForeignPartsSettings()
  package var selfCheck: SelfCheckMode?
  package var state: StateLocation?
  package var accessLog: LogDestination?
  package var auditLog: LogDestination?
  package var limits: [LimitSetting: Int] = [:]
  package var queries: [PublishedQuery] = []
  package var statements: [PublishedStatement] = []
  package var roles: [String: Role] = [:]
  package var replication: ReplicationSettings?
  package var newDatabases: NewDatabases?
  /// Rules for some of several databases.
  package var databases = DatabaseRules()
  /// Where the state of the file is kept for the next start.
  package enum StateLocation: Sendable, Equatable {
    case nowhere
    case folder(String)
  }

  /// The setting `auth.jwt`.
  package var authentication: JWTConfiguration?
  /// Line numbers by paths such as `roles.clerk.tables.orders`.
  private var lines: [String: Int] = [:]
  private var name = ""

  package init() {}

  /// A mistake at a path, or at the nearest existing place around it, as a sentence with its line.
  package func mistake(at path: String, _ sentence: String) -> String {
    var place = Substring(path)
    while !place.isEmpty, lines[String(place)] == nil {
      place = place.lastIndex(of: ".").map { place[..<$0] } ?? ""
    }
    return "\(name)\(lines[String(place)].map { ", line \($0)" } ?? ""): \(sentence)"
  }

  /// Reads a file.
  ///
  /// - Throws: one sentence with the place.
  package init(path: String) throws(ServerError) {
    guard let data = FileManager.default.contents(atPath: path) else { throw ServerError("cannot read \(path)") }
    guard let text = String(data: data, encoding: .utf8) else { throw ServerError("\(path) is not UTF-8") }
    try self.init(yaml: text, name: path, folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }

  /// - Parameter name: what the text is called in sentences.
  /// - Parameter folder: where paths start that are not absolute.
  /// - Parameter environment: where secrets may be.
  package init(
    yaml: String, name: String, folder: String = ".",
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ServerError) {
    let root: Node?
    do { root = try compose(yaml: yaml) } catch {
      throw ServerError("\(name): \(ConfigurationFile.sentence(of: error))")
    }
    guard let root else { return }
    var rules: YAMLPlace?
    let whole = YAMLPlace(node: root, path: "", file: name, folder: folder)
    self.name = name
    lines = whole.lines
    for (name, value) in try whole.members() where !value.isNull {
      switch name {
      case "database": database = try value.filePathOrPaths()
      case "host": host = try value.text()
      case "port": port = try value.count(0...65_535)
      case "allowWrites": allowWrites = try value.boolean()
      case "allowQueries": allowQueries = try value.boolean()
      case "allowEveryoneToReadAndWrite": allowEveryoneToReadAndWrite = try value.boolean()
      case "allowedOrigins": allowedOrigins = try value.texts(checkedBy: AllowedOrigin.mistake)
      case "allowedHosts": allowedHosts = try value.texts(checkedBy: AllowedHost.mistake)
      case "selfCheck": selfCheck = try value.selfCheckMode()
      case "state": state = try StateLocation(value)
      case "accessLog": accessLog = try LogDestination(value)
      case "auditLog": auditLog = try LogDestination(value)
      case "auth": authentication = try JWTConfiguration(value, environment)
      case "replication": replication = try ReplicationSettings(value)
      case "queries": queries = try value.queries()
      case "statements": statements = try value.statements()
      case "roles": roles = try value.roles()
      case "databases": rules = value
      case "newDatabases": newDatabases = try NewDatabases(value)
      case "tenant": databases.tenant = try TenantTemplate(value)
      case let name where DoorSettings.names.contains(name): try door.read(name, value)
      case let name where ForeignPartsSettings.names.contains(name): try foreignParts.read(name, value)
      default:
        guard let limit = LimitSetting(rawValue: name) else {
          throw value.unknown(name, nil, Self.settings, sentence: "is not a setting")
        }
        limits[limit] = try value.limit(limit)
      }
    }
    let own = AccessSettings(self)
    try checkNames(own, "roles")
    for (pattern, rule) in try rules?.members() ?? [] {
      let rule = try DatabaseRules.Rule(pattern, rule, own)
      try checkNames(rule.access, "databases.\(pattern).roles")
      databases.rules.append(rule)
    }
  }

  private static let settings =
    [
      "database", "host", "port", "allowWrites", "allowQueries", "allowEveryoneToReadAndWrite", "allowedOrigins",
      "allowedHosts", "selfCheck", "state", "accessLog", "auditLog", "auth",
      "replication", "queries", "statements", "roles", "databases", "newDatabases",
      "tenant",
    ] + DoorSettings.names + ForeignPartsSettings.names + LimitSetting.allCases.map(\.rawValue)

  /// Checks that roles name published queries and statements only.
  ///
  /// - Parameter place: where the roles are.
  private func checkNames(_ access: AccessSettings, _ place: String) throws(ServerError) {
    let (queries, statements) = (access.queries.list.map(\.name), access.statements.list.map(\.name))
    for (roleName, role) in access.roles.sorted(by: { $0.key < $1.key }) {
      for (kind, member, wanted, there) in [
        ("query", "queries", role.queries, queries), ("statement", "statements", role.statements, statements),
      ] {
        guard let name = wanted.subtracting(there).min() else { continue }
        let meant = Spelling.hint(for: name, of: there) ?? ""
        let sentence = "the role \(roleName) names the \(kind) \(name), which is not published\(meant)"
        throw ServerError(mistake(at: "\(place).\(roleName).\(member)", sentence))
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

extension ConfigurationFile.StateLocation {
  /// `false`, or a path.
  fileprivate init(_ value: YAMLPlace) throws(ServerError) {
    if let isKept = try? value.boolean() {
      if isKept { throw value.error("must be a folder, or false") }
      self = .nowhere
    } else {
      self = .folder(try value.filePath())
    }
  }
}

extension LogDestination {
  /// `-`, or a path.
  fileprivate init(_ value: YAMLPlace) throws(ServerError) {
    self.init(try value.text() == "-" ? "-" : try value.filePath())
  }
}

extension ConfigurationFile {
  /// The settings of a database, and their place in the file: "", or the path of a rule and a dot.
  ///
  /// - Parameter name: of one of several; nil: for one by itself.
  package func access(of name: DatabaseName?) -> (settings: AccessSettings, place: String) {
    guard let name, let place = databases.place(of: name) else { return (AccessSettings(self), "") }
    let rule = databases.rules[place]
    return (rule.access, "databases.\(rule.pattern).")
  }
}

extension AccessSettings {
  /// Roles and permissions, as a configuration file states them.
  fileprivate init(_ file: ConfigurationFile) {
    self.init()
    allowsWrites = file.allowWrites ?? allowsWrites
    allowsAdHocQueries = file.allowQueries
    allowsEveryoneToReadAndWrite = file.allowEveryoneToReadAndWrite ?? allowsEveryoneToReadAndWrite
    queries = PublishedQueries(file.queries)
    statements = PublishedStatements(file.statements)
    roles = file.roles
  }
}

extension ServerConfiguration {
  /// Roles and permissions, as a configuration file states them.
  package init(database: String, accessOf file: ConfigurationFile) {
    self.init(database: database)
    take(file)
  }

  /// As above, for several databases.
  package init(places: DatabasePlaces, accessOf file: ConfigurationFile) {
    self.init(places: places)
    take(file)
  }

  private mutating func take(_ file: ConfigurationFile) {
    listening.host = file.host ?? listening.host
    logs.access = file.accessLog
    logs.audit = file.auditLog
    authentication = file.authentication
    access = AccessSettings(file)
    databases = file.databases
    newDatabases = file.newDatabases
  }
}
