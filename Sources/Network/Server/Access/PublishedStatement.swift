package import LiveQuery
import Wire

/// Statements that the operator has published under a name: one transaction, with the parameters that clients may give.
package struct PublishedStatement: Sendable {
  package var name: String
  package var description: String?
  /// Without values for parameters.
  package var statements: [Transaction.Statement]
  /// Sorted by name.
  package var parameters: [PublishedParameter]

  /// The transaction with its parameters bound.
  ///
  /// - Throws: `bad_query`, naming the parameter that is missing, unknown, or of another type.
  func bound(to arguments: PublishedArguments) throws(FreshetError) -> Transaction {
    let values = try arguments.values(for: parameters, of: "the statement \(name)")
    var transaction = Transaction(statements)
    transaction.isPublished = true
    for index in statements.indices { transaction.statements[index].parameters = .named(values) }
    return transaction
  }
}

/// The statements that the operator has published, by name.
package struct PublishedStatements: Sendable {
  /// Sorted by name.
  package private(set) var list: [PublishedStatement] = []

  package init(_ statements: [PublishedStatement] = []) {
    list = statements.sorted { $0.name < $1.name }
  }

  /// - Throws: `bad_query` if none has the name.
  func find(_ name: String) throws(FreshetError) -> PublishedStatement {
    guard let statement = list.first(where: { $0.name == name }) else {
      throw FreshetError(.badQuery, "there is no published statement \"\(name.prefix(64))\"")
    }
    return statement
  }

  /// The answer to `GET /v1/statements`: names and parameters, no SQL.
  func listing(for permissions: Permissions) -> [UInt8] {
    JSONWriter.listing("statements", list.filter(permissions.mayRun).map { ($0.name, $0.description, $0.parameters) })
  }
}
