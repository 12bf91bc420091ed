/// The rights of clients to ask and write.
package struct AccessSettings: Sendable {
  /// Whether clients on this machine may write; `ownSQLOfEveryone` decides.
  package var allowsWrites = false
  /// Whether everyone who can reach the server may read and write every table.
  package var allowsEveryoneToReadAndWrite = false
  /// Whether clients may ask queries of their own; nil: when only this machine can reach the server.
  package var allowsAdHocQueries: Bool?
  /// Queries that clients may ask by name.
  package var queries = PublishedQueries()
  /// Statements that clients may run by name.
  package var statements = PublishedStatements()
  /// The rights of each role; empty: the other settings hold for all clients.
  package var roles: [String: Role] = [:]

  package init() {}

  /// The SQL that clients without roles may send. With roles, the roles alone decide.
  ///
  /// Clients on other machines may read only if the operator says so. Where other machines can reach the server,
  /// writing needs `allowsEveryoneToReadAndWrite`: `ServerConfiguration.accessMistake` keeps a server from starting
  /// with `allowsWrites` alone.
  ///
  /// - Parameter isLoopback: whether only this machine can reach the server.
  package func ownSQLOfEveryone(isLoopback: Bool) -> OwnSQL {
    guard roles.isEmpty else { return [] }
    if allowsEveryoneToReadAndWrite { return [.reading, .writing] }
    var allowed: OwnSQL = []
    if allowsAdHocQueries ?? isLoopback { allowed.insert(.reading) }
    if allowsWrites, isLoopback { allowed.insert(.writing) }
    return allowed
  }
}
