public import FreshetResults
import LiveQuery
import Wire

extension FetchedResultsController {
  /// Runs statements in one transaction, as `RemoteDatabase.transact` does, and shows their expected effect on this
  /// list at once.
  ///
  /// ```swift
  /// try await controller.optimistically(
  ///   .update(["id": 7, "name": "Ours"]),
  ///   SQLStatement("UPDATE bank SET name = :name WHERE id = :id", ["id": 7, "name": "Ours"]))
  /// ```
  ///
  /// The change is laid over the server's rows: at its sorted position and in its section if `orderBy` and `sectionBy`
  /// name columns of the rows, with or without one of SQLite's collations. Otherwise a row keeps its position, and a
  /// new row is the last of a section (`SectionedResults.pendingState(at:)`). In a list with a window, a row is shown
  /// among the rows that are held; one that belongs elsewhere is counted there, without its object, until the server
  /// has answered. The delegate and `updates` get the change as a patch. The server's rows replace it as soon as the
  /// list includes the write, or when the write is refused.
  ///
  /// - Returns: the outcome, once it is committed.
  /// - Throws: the server's error, or one of `RemoteDatabase.transact`. `bad_query` if changes cannot be laid over this
  ///   list: it does not belong to a `RemoteDatabase`, was not fetched, or its rows or the change lack the key.
  @discardableResult
  public func optimistically(
    _ change: OptimisticChange, _ statements: SQLStatement..., isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    try await optimistically([change], .own(statements.map(\.transactionStatement)))
  }

  /// Shows several changes at once, later ones over earlier ones.
  @discardableResult
  public func optimistically(
    _ changes: [OptimisticChange], _ statements: SQLStatement..., isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    try await optimistically(changes, .own(statements.map(\.transactionStatement)))
  }

  /// Runs a published statement, and shows its expected effect at once.
  @discardableResult
  public func optimistically(
    _ changes: [OptimisticChange], published name: String, parameters: [String: SQLValue] = [:],
    isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    try await optimistically(changes, .published(name: name, parameters: .named(parameters)))
  }

  private func optimistically(
    _ changes: [OptimisticChange], _ transaction: TransactionSource, isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    guard let connection = source as? ConnectionSource else {
      throw FreshetError(.badQuery, "only lists of a RemoteDatabase show writes before they are done")
    }
    try requireKeys(of: changes)
    let id = laid.lay(changes)
    do {
      let outcome = try await connection.transact(transaction)
      let inserts = outcome.statements.filter { $0.lastInsertRowid != nil }
      laid.commit(
        id, outcome.commit, rowid: inserts.count == 1 && inserts[0].changes == 1 ? inserts[0].lastInsertRowid : nil)
      return outcome
    } catch {
      laid.takeAway(id)
      throw (error as? FreshetError) ?? FreshetError(.internal, "\(error)")
    }
  }

  private func requireKeys(of changes: [OptimisticChange]) throws(FreshetError) {
    let key = results.key
    guard !key.isEmpty, Set(key).isSubset(of: results.columns) else {
      throw FreshetError(.badQuery, "the rows of the list do not have its key: \(key.joined(separator: ", "))")
    }
    for change in changes where !change.names(key) {
      throw FreshetError(.badQuery, "a change needs the key: \(key.joined(separator: ", "))")
    }
  }
}
