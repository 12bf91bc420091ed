import LiveQuery
import Requests
import Store
import Wire

/// Decides which queries and transactions clients may send, and resolves published names.
///
/// Any thread: constant.
final class Doors: Sendable {
  let queries: PublishedQueries
  let statements: PublishedStatements
  private let roles: [String: Role]
  private let everyone: OwnSQL
  /// Whether logs and metrics tell roles apart.
  private let namesRoles: Bool
  /// The number of the rule for its databases; 0: no rule matches.
  let rule: Int

  /// - Parameter everyone: what clients may send where there are no roles.
  init(_ access: AccessSettings, everyone: OwnSQL, namesRoles: Bool, rule: Int) {
    queries = access.queries
    statements = access.statements
    roles = access.roles
    self.everyone = everyone
    self.namesRoles = namesRoles
    self.rule = rule
  }

  /// By name; empty: no roles.
  var roleNames: [String] { roles.isEmpty ? [] : Set(roles.keys).union([Identity.anonymousRole]).sorted() }

  /// The limits of roles that have some.
  var limits: [String: RoleLimits] { roles.compactMapValues(\.limits) }

  /// The identity, with a role of this configuration.
  func known(_ identity: Identity) -> Identity {
    var known = identity.known(to: Set(roles.keys))
    known.rule = rule
    return known
  }

  func permissions(of identity: Identity) -> Permissions { Permissions(of: identity, roles: roles, everyone: everyone) }

  /// The query that a client means.
  ///
  /// - Throws: `not_allowed` for a query that this identity may not ask; `bad_query`.
  func query(_ source: RequestParameters.Source, for identity: Identity) throws(FreshetError) -> Query {
    let permissions = permissions(of: identity)
    if let sealed = identity.sealed {
      guard case .published(let name, let arguments) = source, arguments.isEmpty else { throw sealed.notAllowed }
      var query = try self.query(try .init(try sealed.query(name)))
      query.access = permissions.sealed
      return query
    }
    switch source {
    case .adHoc(var query):
      query.access = try permissions.ownQueries()
      return query
    case .published("", _): throw FreshetError(.badMessage, "query is missing")
    case .published(let name, let arguments):
      let published = try queries.find(name, orThrow: .badQuery)
      let access = try permissions.access(to: published)
      var query = try published.bound(to: arguments)
      query.access = access
      return query
    }
  }

  /// The query in a sealed token, before the client's identity is added.
  private func query(_ source: RequestParameters.Source) throws(FreshetError) -> Query {
    switch source {
    case .adHoc(let query): return query
    case .published(let name, let arguments): return try queries.find(name, orThrow: .badQuery).bound(to: arguments)
    }
  }

  /// The transaction that a client means.
  ///
  /// - Throws: `not_allowed`, `bad_query`.
  func transaction(
    for identity: Identity, _ source: () throws(FreshetError) -> TransactionSource
  ) throws(FreshetError) -> Transaction {
    try permissions(of: identity).transaction(statements, source)
  }

  // MARK: - Names for logs

  /// An identity as logs show it.
  ///
  /// - Parameter database: nil: the only one.
  func actor(_ address: String, _ identity: Identity, _ database: DatabaseName?) -> LogActor {
    let role = permissions(of: identity).roleName ?? identity.role
    return LogActor(
      address: address, subject: identity.subject, role: namesRoles ? role : nil, database: database?.description)
  }

  /// The name of a query in logs.
  func subject(of source: RequestParameters.Source) -> LogSubject? {
    switch source {
    case .adHoc(let query): .own(Fingerprint(of: query))
    case .published(let name, _): subject(ofQuery: name)
    }
  }

  func subject(of source: QuerySource) -> LogSubject? {
    switch source {
    case .adHoc(let query): .own(Fingerprint(of: query))
    case .published(let name, _): subject(ofQuery: name)
    }
  }

  /// Unknown names are not logged: the client made them up, and they could be anything.
  private func subject(ofQuery name: String) -> LogSubject? {
    queries.list.contains { $0.name == name } ? .published(name) : nil
  }

  /// The name of a transaction in logs.
  func subject(of source: TransactionSource) -> LogSubject? {
    switch source {
    case .own(let statements): .own(Fingerprint(of: statements))
    case .published(let name, _): statements.list.contains { $0.name == name } ? .published(name) : nil
    }
  }

  /// The name of a published query.
  func name(of query: Query) -> String? {
    guard query.access.isPublished else { return nil }
    let fingerprint = Fingerprint(of: query)
    return queries.list.first { Fingerprint(of: $0.query) == fingerprint }?.name
  }
}
