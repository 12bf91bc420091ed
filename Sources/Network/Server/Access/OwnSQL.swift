/// The kinds of SQL that clients may write themselves.
package struct OwnSQL: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Queries, and statements that return rows: SELECT and RETURNING.
  package static let reading = OwnSQL(rawValue: 1)
  /// Statements that insert, update and delete.
  package static let writing = OwnSQL(rawValue: 2)
}

extension Role {
  package var ownSQL: OwnSQL {
    var allowed: OwnSQL = []
    if allowsOwnQueries { allowed.insert(.reading) }
    if allowsOwnStatements { allowed.insert(.writing) }
    return allowed
  }
}
