import Foundation
import FreshetResults
import LiveQuery
import Wire

/// A transaction until it is answered.
struct PendingTransaction: Sendable {
  let id: String
  let message: [UInt8]
  let answer: CheckedContinuation<TransactionOutcome, any Error>
  /// That of the server that it was sent to; nil: it was not sent.
  var epoch: String?

  init(_ transaction: TransactionSource, id: String, answer: CheckedContinuation<TransactionOutcome, any Error>) {
    self.id = id
    self.answer = answer
    message = ClientMessage.transact(transaction, once: UUID().uuidString).text(id: id)
  }
}

extension TransactionOutcome {
  /// The members of `committed`.
  init(_ json: JSONValue) throws(FreshetError) {
    commit = Int64(try json.required("commit").count())
    statements = try json.list("results") { (value) throws(FreshetError) in try Statement(value) }
  }
}

extension TransactionOutcome.Statement {
  fileprivate init(_ json: JSONValue) throws(FreshetError) {
    changes = try json.required("changes").count()
    if let rowid = json["lastInsertRowid"],
      case .integer(let value) = try SQLValue(json: rowid, what: "lastInsertRowid")
    {
      lastInsertRowid = value
    } else {
      lastInsertRowid = nil
    }
    let layout = ResultRow.Columns(try json.list("columns") { (value) throws(FreshetError) in try value.text() })
    rows = try json.list("rows") { (row) throws(FreshetError) in
      let values = try row.elements { (value) throws(FreshetError) in try SQLValue(json: value, what: "a value") }
      guard values.count == layout.names.count else { throw .unreadable("a row that does not fit its columns") }
      return ResultRow(layout: layout, values: values)
    }
  }
}
