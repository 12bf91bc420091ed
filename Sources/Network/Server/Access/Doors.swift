import Gateway
import LiveQuery
import Requests
import Store
import Synchronization
import Wire

/// What clients may ask and write, under which names, and from which pages: from what they send to queries and transactions.
///
/// Any thread. State: whether the doors are open.
final class Doors: Sendable {
  let queries: PublishedQueries
  let statements: PublishedStatements
  private let roles: [String: Role]
  private let everyone: OwnSQL
  /// Whether logs and metrics tell roles apart.
  private let namesRoles: Bool
  let origins: OriginPolicy
  private let open = Atomic<Bool>(true)

  /// - Parameter everyone: what clients may send where there are no roles.
  init(_ access: AccessSettings, everyone: OwnSQL, namesRoles: Bool, origins: OriginPolicy) {
    queries = access.queries
    statements = access.statements
    roles = access.roles
    self.everyone = everyone
    self.namesRoles = namesRoles
    self.origins = origins
  }

  var areOpen: Bool { open.load(ordering: .relaxed) }

  /// The server stops.
  func close() { open.store(false, ordering: .relaxed) }

  /// By name; empty: there are none.
  var roleNames: [String] { roles.isEmpty ? [] : Set(roles.keys).union([Identity.anonymousRole]).sorted() }

  func permissions(of identity: Identity) -> Permissions { Permissions(of: identity, roles: roles, everyone: everyone) }

  /// The query that a client means.
  ///
  /// - Throws: `not_allowed` for what this one may not ask; `bad_query`.
  func query(_ source: RequestParameters.Source, for identity: Identity) throws(FreshetError) -> Query {
    let permissions = permissions(of: identity)
    switch source {
    case .adHoc(var query):
      query.access = try permissions.ownQueries()
      return query
    case .published(let name, let arguments):
      let published = try queries.find(name, orThrow: .badQuery)
      let access = try permissions.access(to: published)
      var query = try published.bound(to: arguments)
      query.access = access
      return query
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
  func actor(_ address: String, _ identity: Identity) -> LogActor {
    let role = permissions(of: identity).roleName ?? identity.role
    return LogActor(address: address, subject: identity.subject, role: namesRoles ? role : nil)
  }

  /// What a query is called in logs.
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

  /// A name that nothing has is the client's, and could be anything.
  private func subject(ofQuery name: String) -> LogSubject? {
    queries.list.contains { $0.name == name } ? .published(name) : nil
  }

  /// What a transaction is called in logs.
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
