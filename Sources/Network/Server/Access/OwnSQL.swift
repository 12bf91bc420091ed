/// What SQL of their own clients may send.
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

extension ServerConfiguration {
  /// What clients without roles may send. With roles, the roles alone decide.
  ///
  /// Reading is for this machine unless the operator says otherwise. Where other machines can reach the server, writing needs
  /// `allowsEveryoneToReadAndWrite`: `accessMistake` keeps a server from starting with `allowsWrites` alone.
  package var ownSQLOfEveryone: OwnSQL {
    guard roles.isEmpty else { return [] }
    if allowsEveryoneToReadAndWrite { return [.reading, .writing] }
    var allowed: OwnSQL = []
    if allowsAdHocQueries ?? isLoopback { allowed.insert(.reading) }
    if allowsWrites, isLoopback { allowed.insert(.writing) }
    return allowed
  }

  /// Whether a client may write.
  var needsWriter: Bool {
    !statements.list.isEmpty || ownSQLOfEveryone.contains(.writing)
      || roles.values.contains { $0.ownSQL.contains(.writing) }
  }

  /// Why a server does not start with these settings, as one sentence; nil: they say who may do what.
  package var accessMistake: String? {
    let switches = "--allow-everyone-to-read-and-write (allowEveryoneToReadAndWrite)"
    if allowsEveryoneToReadAndWrite, !roles.isEmpty {
      return "with roles, clients may do what their role says: leave out \(switches)"
    }
    if allowsEveryoneToReadAndWrite, allowsAdHocQueries == false {
      return "allowQueries: false and \(switches) contradict each other"
    }
    if allowsWrites, roles.isEmpty, !isLoopback, !allowsEveryoneToReadAndWrite {
      return """
        with --allow-writes (allowWrites), everyone who can reach \(host) could read and write every table: say who may with \
        roles, publish statements instead, listen on 127.0.0.1, or say \(switches)
        """
    }
    return nil
  }
}
