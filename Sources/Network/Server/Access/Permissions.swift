import LiveQuery
import Wire

/// The rights of one client: those of its role, and without roles those that the server gives all clients.
struct Permissions {
  /// Nil: there are no roles.
  private let role: (name: String, settings: Role)?
  private let claims: [String: SQLValue]
  private let ownSQL: OwnSQL
  /// Whether the client has a token for certain queries, and may do nothing else.
  private let isSealed: Bool
  private let unknownRole: String?

  /// - Parameter everyone: what clients may send where there are no roles.
  init(of identity: Identity, roles: [String: Role], everyone: OwnSQL) {
    let claims = identity.claims.map { (Query.Access.claimPrefix + $0.key, $0.value) }
    self.claims = Dictionary(uniqueKeysWithValues: claims)
    isSealed = identity.sealed != nil
    unknownRole = identity.unknownRole
    if isSealed {
      role = (identity.role, Role())
      ownSQL = []
    } else if roles.isEmpty {
      role = nil
      ownSQL = everyone
    } else {
      let settings = roles[identity.role] ?? Role()
      role = (identity.role, settings)
      ownSQL = settings.ownSQL
    }
  }

  /// Nil: there are no roles.
  var roleName: String? { role?.name }

  /// The role in a sentence, with the unknown role that the token names.
  private var roleInWords: String? {
    role.map { role in
      (unknownRole.map { "there is no role \($0), and " } ?? "") + "the role \(role.name)"
    }
  }

  /// Patterns of the names of databases that these permissions are for; nil: the role names none.
  var databases: [String]? { role?.settings.databases }

  /// Patterns of the names of databases that the client may make and remove.
  var managed: [String] { role?.settings.managed ?? [] }

  /// Whether there is anything that the client may ask or write.
  var allowsAnything: Bool {
    guard !isSealed, let settings = role?.settings else { return true }
    return !ownSQL.isEmpty || !settings.queries.isEmpty || !settings.statements.isEmpty
  }

  /// The access that the client's own queries have.
  ///
  /// - Throws: `not_allowed`.
  func ownQueries() throws(FreshetError) -> Query.Access {
    guard ownSQL.contains(.reading) else {
      throw FreshetError(
        .notAllowed,
        (roleInWords.map { "\($0) may ask" } ?? "this server answers")
          + " published queries only: see /v1/queries")
    }
    return Query.Access(role: role?.name, claims: claims)
  }

  /// The access that sealed queries have: they may read everything, because the signer of the token chose them.
  var sealed: Query.Access { Query.Access(isPublished: true, claims: claims) }

  func mayAsk(_ query: PublishedQuery) -> Bool { role?.settings.mayAsk(query) ?? true }

  /// - Throws: `not_allowed`.
  func access(to query: PublishedQuery) throws(FreshetError) -> Query.Access {
    guard mayAsk(query) else {
      throw FreshetError(.notAllowed, "\(roleInWords ?? "") may not ask the query \(query.name)")
    }
    // A published query that the role does not name may read what the role's own queries may.
    if let settings = role?.settings, !settings.queries.contains(query.name) { return try ownQueries() }
    return Query.Access(role: query.isUnfiltered ? nil : role?.name, isPublished: true, claims: claims)
  }

  func mayRun(_ statement: PublishedStatement) -> Bool { role?.settings.statements.contains(statement.name) ?? true }

  /// The client's transaction, if it may be run.
  ///
  /// - Throws: `not_allowed`, `bad_query`.
  func transaction(
    _ published: PublishedStatements, _ source: () throws(FreshetError) -> TransactionSource
  ) throws(FreshetError) -> Transaction {
    // A client that may not write at all gets that error, whatever it sends.
    if !published.list.contains(where: mayRun) { try checkOwnStatements() }
    var transaction: Transaction
    switch try source() {
    case .own(let statements):
      try checkOwnStatements()
      transaction = Transaction(statements)
      transaction.mayReturnRows = ownSQL.contains(.reading)
    case .published(let name, let parameters):
      let statement = try published.find(name)
      guard mayRun(statement) else {
        throw FreshetError(.notAllowed, "\(roleInWords ?? "") may not run the statement \(name)")
      }
      transaction = try statement.bound(to: PublishedArguments(parameters))
    }
    transaction.claims = claims
    return transaction
  }

  var allowsOwnStatements: Bool { ownSQL.contains(.writing) }

  /// - Throws: `not_allowed`.
  private func checkOwnStatements() throws(FreshetError) {
    if allowsOwnStatements { return }
    throw FreshetError(
      .notAllowed,
      roleInWords.map { "\($0) may not write statements of its own" } ?? "writing is not allowed on this server")
  }
}
