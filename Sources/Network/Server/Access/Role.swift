import Following
package import LiveQuery

/// The rights of the clients of one role. They may do nothing else.
package struct Role: Sendable {
  /// Tables that they may read.
  package var tables = AccessRules.Role()
  /// Published queries that they may ask.
  package var queries: Set<String> = []
  /// Whether they may ask queries of their own over these tables.
  package var allowsOwnQueries = false
  /// Published statements that they may run.
  package var statements: Set<String> = []
  /// Whether they may run statements of their own, which `tables` does not restrict.
  package var allowsOwnStatements = false

  /// Patterns of the names of databases that they may use, in a server that has several; nil: all, or, where tokens
  /// lead to databases, only the one that the token leads to.
  package var databases: [String]?
  /// Patterns of the names of databases that they may make and remove.
  package var managed: [String] = []
  /// Nil: only the server's own limits.
  package var limits: RoleLimits?

  package init() {}

  /// Whether they may ask a published query by its name. A role with queries of its own may ask all published queries
  /// that read no more than the role may.
  package func mayAsk(_ query: PublishedQuery) -> Bool {
    queries.contains(query.name) || allowsOwnQueries && !query.isUnfiltered
  }
}

extension [String: Role] {
  /// The rights of their queries to read.
  var access: AccessRules { AccessRules(roles: mapValues(\.tables)) }

  /// The limits of their queries.
  var queryLimits: [String: QueryLimits] {
    compactMapValues { role in
      role.limits.map { QueryLimits(time: $0.time.map { .seconds($0) }, rows: $0.rows, bytes: $0.bytes) }
    }
  }
}
