/// The rights of each role to read: the operator's words, by lower-case names of tables.
package struct AccessRules: Hashable, Sendable {
  package var roles: [String: Role] = [:]

  package init(roles: [String: Role] = [:]) { self.roles = roles }

  package struct Role: Hashable, Sendable {
    /// By lower-case name; a table that is not here does not exist for the role.
    package var tables: [String: Table] = [:]

    package init(tables: [String: Table] = [:]) { self.tables = tables }
  }

  package struct Table: Hashable, Sendable {
    /// SQL that is true for the rows that may be read, with claims as `:claims_…`; nil: all rows.
    package var rows: String?
    /// Nil: all columns.
    package var columns: [String]?

    package init(rows: String? = nil, columns: [String]? = nil) {
      self.rows = rows
      self.columns = columns
    }

    /// Whether rows or columns are held back.
    package var isRestricting: Bool { rows != nil || columns != nil }
  }
}

extension Query {
  /// The identity that a query is asked with, and its claims.
  package struct Access: Sendable {
    /// Nil: of a server without roles, where all tables may be read.
    package var role: String?
    /// Whether the operator wrote the query: then tables that the role does not list may be read as well.
    package var isPublished = false
    /// Values of parameters, by their names (`claims_sub`).
    package var claims: [String: SQLValue] = [:]
    /// The claims that the query reads, sorted: other claims do not distinguish two queries.
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
