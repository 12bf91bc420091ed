import LiveQuery
import Replication

/// The database that a client is led to, with its identity there.
struct Lead: Sendable {
  /// Nil: the only one.
  let name: DatabaseName?
  let doors: Doors
  /// The identity, with a role of this database.
  let identity: Identity
}

/// Decides who may use which database, and with which rights: from the general configuration, and from the rules for
/// names.
///
/// Any thread: constant.
final class DatabaseAccess: Sendable {
  private let rules: DatabaseRules
  /// The rights in databases without a rule.
  private let others: Doors
  /// By the place of the rule.
  private let ruled: [Doors]

  init(_ configuration: ServerConfiguration) {
    rules = configuration.databases
    others = Doors(configuration)
    ruled = configuration.databases.rules.enumerated().map { place, rule in
      var configuration = configuration
      configuration.access = rule.access
      return Doors(configuration, rule: place + 1)
    }
  }

  /// - Parameter name: nil: the only database.
  func doors(of name: DatabaseName?) -> Doors { name.flatMap { rules.place(of: $0) }.map { ruled[$0] } ?? others }

  /// The configuration of one database.
  func configuration(
    of name: DatabaseName, at path: String, _ configuration: ServerConfiguration
  ) -> ServerConfiguration {
    var configuration = configuration
    configuration.database = path
    configuration.replication?.database = name.description
    guard let place = rules.place(of: name) else { return configuration }
    configuration.access = rules.rules[place].access
    for (limit, value) in rules.rules[place].limits { configuration.limits.set(limit, to: value) }
    return configuration
  }

  /// Whether tokens lead to databases.
  var hasTenants: Bool { rules.tenant != nil }

  /// The database that a request leads to, if it exists.
  ///
  /// - Parameter name: the one in its path; nil: the one that the token says.
  /// - Throws: `no_such_database` where the client may not know of it; `not_allowed` where its token leads elsewhere.
  func lead(_ identity: Identity, to name: String?) throws(FreshetError) -> Lead {
    guard let name = name.map({ DatabaseName($0) }) ?? rules.tenant?.name(for: identity) else { throw .noSuchDatabase }
    guard mayUse(name, identity) else {
      throw rules.tenant == nil || identity.claims.isEmpty ? .noSuchDatabase : .otherDatabase
    }
    let doors = doors(of: name)
    return Lead(name: name, doors: doors, identity: doors.known(identity))
  }

  /// Whether a client may know of a database.
  func mayUse(_ name: DatabaseName, _ identity: Identity) -> Bool {
    let doors = doors(of: name)
    let known = doors.known(identity)
    let permissions = doors.permissions(of: known)
    guard permissions.allowsAnything else { return false }
    let isNamed = permissions.databases.map { $0.contains(where: name.fits) }
    guard let tenant = rules.tenant else { return isNamed != false }
    if tenant.name(for: identity) == name { return isNamed != false }
    // The role must be the token's own: clients without a token have the rights of the anonymous role anyway.
    return isNamed == true && known.role == identity.role
  }

  /// Whether a client may make and remove a database.
  func mayManage(_ name: DatabaseName, _ identity: Identity) -> Bool {
    others.permissions(of: others.known(identity)).managed.contains(where: name.fits)
  }

  /// An identity as logs show it while it has no database.
  func actor(_ address: String, _ identity: Identity, _ name: DatabaseName? = nil) -> LogActor {
    others.actor(address, identity, name)
  }

  /// The roles of all databases.
  var roleNames: Set<String> { ruled.reduce(into: Set(others.roleNames)) { $0.formUnion($1.roleNames) } }

  /// The limits of roles, by the number of the rule that has them.
  var limits: [IdentityLimits.Group: RoleLimits] {
    ([others] + ruled).reduce(into: [:]) { limits, doors in
      for (role, limit) in doors.limits { limits[.init(rule: doors.rule, role: role)] = limit }
    }
  }
}

extension FreshetError {
  fileprivate static let otherDatabase = FreshetError(.notAllowed, "this token is for another database")
}
