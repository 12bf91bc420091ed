import Foundation
import FreshetResults
import LiveQuery
import Wire

/// A transaction that has no answer yet.
struct PendingTransaction: Sendable {
  let id: String
  let message: [UInt8]
  let answer: CheckedContinuation<TransactionOutcome, any Error>
  /// The epoch of the server that it was sent to; nil: it was not sent.
  var epoch: String?

  init(_ transaction: TransactionSource, id: String, answer: CheckedContinuation<TransactionOutcome, any Error>) {
    self.id = id
    self.answer = answer
    message = ClientMessage.transact(transaction, once: UUID().uuidString).text(id: id)
  }
}

extension TransactionOutcome {
  init(_ committed: CommittedTransaction) {
    commit = committed.commit
    statements = (committed.results ?? []).map { result in
      let layout = ResultRow.Columns(result.columns)
      return Statement(
        changes: result.changes, lastInsertRowid: result.lastInsertRowid,
        rows: result.rows.map { ResultRow(layout: layout, values: $0) })
    }
  }
}
