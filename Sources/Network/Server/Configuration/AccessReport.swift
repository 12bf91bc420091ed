import Gateway
import LiveQuery
import Replication

/// The lines of the log at the start about permissions.
package struct AccessReport: Sendable {
  /// The rights of each role to read and write, in one line.
  package let sentence: String
  /// Settings that are probably mistakes.
  package let warnings: [String]

  /// - Parameter isWritable: whether the system lets the server write the file; nil: the file is missing, or another
  ///   server writes it.
  package init(_ configuration: ServerConfiguration, isWritable: Bool? = nil) {
    sentence =
      configuration.access.roles.isEmpty
      ? Self.sentence(ofEveryone: configuration) : Self.sentence(ofRoles: configuration)
    var warnings: [String] = []
    if configuration.authentication != nil, configuration.listening.certificate == nil,
      !configuration.listening.isLoopback
    {
      warnings.append(
        """
        tokens come over plain HTTP, and anyone on their way can read and use them: give --tls-cert and --tls-key, or listen on \
        127.0.0.1 behind a proxy that has TLS
        """)
    }
    if isWritable == false, configuration.needsWriter {
      warnings.append(
        "clients may write, but the system does not let this server write \(configuration.database) and its folder")
    }
    for (name, role) in configuration.access.roles.sorted(by: { $0.key < $1.key }) where role.mayNothing {
      warnings.append(
        "the role \(name) may read and write nothing: give it tables and queries: any, or the names of published queries and statements"
      )
    }
    self.warnings = warnings
  }

  private static func sentence(ofEveryone configuration: ServerConfiguration) -> String {
    let own = configuration.ownSQLOfEveryone
    let reading =
      own.contains(.reading)
      ? "every table" : listing(configuration.access.queries.list.map(\.name), "the published queries")
    let writing =
      own.contains(.writing)
      ? "every table" : listing(configuration.access.statements.list.map(\.name), "the published statements")
    return "\(audience(configuration)) may read \(reading), and write \(writing)"
  }

  private static func audience(_ configuration: ServerConfiguration) -> String {
    guard configuration.listening.isLoopback else { return "everyone who can reach \(configuration.listening.host)" }
    return "everyone on this machine"
      + (configuration.listening.trustedProxies.isEmpty ? "" : ", and behind its proxies,")
  }

  private static func sentence(ofRoles configuration: ServerConfiguration) -> String {
    var parts = configuration.access.roles.sorted { $0.key < $1.key }.map { name, role in
      let tables = role.allowsOwnQueries ? role.tables.tables.keys.sorted() : []
      var reading = listing(tables, nil)
      if !role.queries.isEmpty || tables.isEmpty {
        let published = listing(role.queries.sorted(), "the published queries")
        reading = tables.isEmpty ? published : "\(reading), \(published)"
      }
      let writing =
        role.allowsOwnStatements ? "every table" : listing(role.statements.sorted(), "the published statements")
      return "\(name) may read \(reading), and write \(writing)"
    }
    if configuration.access.roles[Identity.anonymousRole] == nil {
      parts.append("all others may read and write nothing")
    }
    return parts.joined(separator: "; ")
  }

  private static func listing(_ names: [String], _ kind: String?) -> String {
    if names.isEmpty { return "nothing" }
    let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
    return kind.map { "\($0) \(shown)" } ?? shown
  }
}

extension Role {
  /// Whether the role names tables but allows nothing, which is probably a mistake. An empty role is not one: it may be
  /// meant for clients without a token.
  fileprivate var mayNothing: Bool {
    !allowsOwnQueries && queries.isEmpty && !allowsOwnStatements && statements.isEmpty && managed.isEmpty
      && !tables.tables.isEmpty
  }
}

extension ServerConfiguration {
  /// The SQL that clients without roles may send.
  package var ownSQLOfEveryone: OwnSQL { access.ownSQLOfEveryone(isLoopback: listening.isLoopback) }

  /// Whether a client may write.
  var needsWriter: Bool {
    !access.statements.list.isEmpty || ownSQLOfEveryone.contains(.writing)
      || access.roles.values.contains { $0.ownSQL.contains(.writing) }
  }

  /// Why a server does not start with these settings on this machine, as one sentence, as far as can be said without
  /// starting it.
  package var mistake: String? {
    if let accessMistake { return accessMistake }
    do throws(GatewayError) { try Gateway.check(GatewayConfiguration(self)) } catch { return error.message }
    for case .file(let path)? in [logs.access, logs.audit] {
      if let mistake = LogFile.mistake(at: path) { return mistake }
    }
    return nil
  }

  /// Why a server does not start with these permissions, as one sentence; nil: they are complete.
  package var accessMistake: String? {
    let switches = "--allow-everyone-to-read-and-write (allowEveryoneToReadAndWrite)"
    if access.allowsEveryoneToReadAndWrite, !access.roles.isEmpty {
      return "with roles, clients may do what their role says: leave out \(switches)"
    }
    if access.allowsEveryoneToReadAndWrite, access.allowsAdHocQueries == false {
      return "allowQueries: false and \(switches) contradict each other"
    }
    if access.allowsWrites, access.roles.isEmpty, !listening.isLoopback, !access.allowsEveryoneToReadAndWrite {
      return """
        with --allow-writes (allowWrites), everyone who can reach \(listening.host) could read and write every table: say who may with \
        roles, publish statements instead, listen on 127.0.0.1, or say \(switches)
        """
    }
    if databases.tenant != nil, authentication == nil {
      return "tenant leads tokens to databases, and there are no tokens: say auth"
    }
    if replication?.role == .replica, let places, !places.isFolder {
      return "replicas of several databases are made in one folder: say it alone"
    }
    return nil
  }
}
