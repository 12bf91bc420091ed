/// The rights of each role to read, in the operator's words, by lower-case names of tables.
package struct AccessRules: Hashable, Sendable {
  package var roles: [String: Role] = [:]

  package init(roles: [String: Role] = [:]) { self.roles = roles }

  package struct Role: Hashable, Sendable {
    /// The tables that the role may read, by lower-case name. For the role, other tables do not exist.
    package var tables: [String: Table] = [:]

    package init(tables: [String: Table] = [:]) { self.tables = tables }
  }

  package struct Table: Hashable, Sendable {
    /// SQL that is true for the rows that may be read, with claims as `:claims_…`; nil if all rows may be read.
    package var rows: String?
    /// The columns that may be read; nil if all may be read.
    package var columns: [String]?

    package init(rows: String? = nil, columns: [String]? = nil) {
      self.rows = rows
      self.columns = columns
    }

    /// Whether some rows or columns may not be read.
    package var isRestricting: Bool { rows != nil || columns != nil }
  }
}

extension Query {
  /// The identity of the client that sent a query, and its claims.
  package struct Access: Sendable {
    /// The client's role; nil on a server without roles, where all tables may be read.
    package var role: String?
    /// Whether the operator wrote the query. Such a query may read tables that are not in the role's list.
    package var isPublished = false
    /// The values of claims, by the names of their parameters (`claims_sub`).
    package var claims: [String: SQLValue] = [:]
    /// The claims that the query reads, sorted. Two queries that differ only in other claims are the same.
    package var read: [String] = []

    package init(role: String? = nil, isPublished: Bool = false, claims: [String: SQLValue] = [:]) {
      self.role = role
      self.isPublished = isPublished
      self.claims = claims
    }

    /// The prefix of parameters that stand for claims, which clients cannot give values.
    package static let claimPrefix = "claims_"

    package static func isClaim(_ parameter: some StringProtocol) -> Bool { parameter.hasPrefix(claimPrefix) }
  }
}
