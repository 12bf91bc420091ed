public import FreshetResults
import LiveQuery
import Wire

extension FetchedResultsController {
  /// Runs statements in one transaction, as `RemoteDatabase.transact` does, and shows at once what they will do to this list.
  ///
  /// ```swift
  /// try await controller.optimistically(
  ///   .update(["id": 7, "name": "Ours"]),
  ///   SQLStatement("UPDATE bank SET name = :name WHERE id = :id", ["id": 7, "name": "Ours"]))
  /// ```
  ///
  /// The change is laid over the server's rows: in its sorted place and section where `orderBy` and `sectionBy` name columns of the rows,
  /// with or without a collation of SQLite's. Otherwise a row stays where it is, and a new one is the last of a section
  /// (`SectionedResults.pendingState(at:)`). In a list with a window, a row is shown among those that are held; one that belongs
  /// elsewhere counts there, without its object, until the server has answered. The delegate and `updates` get it as a patch.
  /// As soon as the list has what was written, that is shown; when the write is refused, what was before.
  ///
  /// - Returns: once it is committed.
  /// - Throws: why it is not: what the server says, or what `RemoteDatabase.transact` throws. `bad_query` when changes cannot be laid over
  ///   this list: it is none of a `RemoteDatabase`, was not fetched, or has rows without their key, as has the change.
  @discardableResult
  public func optimistically(
    _ change: OptimisticChange, _ statements: SQLStatement..., isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    try await optimistically([change], .own(statements.map(\.transactionStatement)))
  }

  /// Shows several changes at once, the later over the earlier ones.
  @discardableResult
  public func optimistically(
    _ changes: [OptimisticChange], _ statements: SQLStatement..., isolation: isolated (any Actor)? = #isolation
  ) async throws(FreshetError) -> TransactionOutcome {
    try await optimistically(changes, .own(statements.map(\.transactionStatement)))
  }

  /// Runs a statement that the server's operator has published, and shows at once what it will do.
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
