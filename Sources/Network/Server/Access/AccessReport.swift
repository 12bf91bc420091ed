import LiveQuery

/// What the log says at the start about permissions.
package struct AccessReport: Sendable {
  /// What each role may read and write, in one line.
  package let sentence: String
  /// What is probably not meant.
  package let warnings: [String]

  /// - Parameter isWritable: whether the system lets the server write the file; nil: it is not there, or written elsewhere.
  package init(_ configuration: ServerConfiguration, isWritable: Bool? = nil) {
    sentence =
      configuration.roles.isEmpty
      ? Self.sentence(ofEveryone: configuration) : Self.sentence(ofRoles: configuration)
    var warnings: [String] = []
    if configuration.authentication != nil, configuration.certificate == nil, !configuration.isLoopback {
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
    self.warnings = warnings
  }

  private static func sentence(ofEveryone configuration: ServerConfiguration) -> String {
    let own = configuration.ownSQLOfEveryone
    let reading =
      own.contains(.reading)
      ? "every table" : listing(configuration.queries.list.map(\.name), "the published queries")
    let writing =
      own.contains(.writing)
      ? "every table" : listing(configuration.statements.list.map(\.name), "the published statements")
    return "\(audience(configuration)) may read \(reading), and write \(writing)"
  }

  private static func audience(_ configuration: ServerConfiguration) -> String {
    guard configuration.isLoopback else { return "everyone who can reach \(configuration.host)" }
    return "everyone on this machine" + (configuration.trustedProxies.isEmpty ? "" : ", and behind its proxies,")
  }

  private static func sentence(ofRoles configuration: ServerConfiguration) -> String {
    var parts = configuration.roles.sorted { $0.key < $1.key }.map { name, role in
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
    if configuration.roles[Identity.anonymousRole] == nil { parts.append("all others may read and write nothing") }
    return parts.joined(separator: "; ")
  }

  private static func listing(_ names: [String], _ kind: String?) -> String {
    if names.isEmpty { return "nothing" }
    let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
    return kind.map { "\($0) \(shown)" } ?? shown
  }
}
