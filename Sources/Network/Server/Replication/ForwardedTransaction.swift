import Foundation
import LiveQuery

/// A client's transaction on its way from a replica to the writer, as a property list.
struct ForwardedTransaction: Codable {
  struct Statement: Codable {
    var sql: String
    var named: [String: ForwardedValue]?
    var positional: [ForwardedValue]?
    var expectedChanges: Int?
  }

  struct Asker: Codable {
    var once: String
    var subject: String?
    var role: String
    var claims: [String: ForwardedValue]
  }

  var statements: [Statement]
  var claims: [String: ForwardedValue]
  var isPublished: Bool
  /// Nil: the replica is of a version that does not say so, and lets them.
  var mayReturnRows: Bool?
  /// The client that may repeat it, and the name to repeat it by.
  var asker: Asker?
  var address: String
  var subject: String?
  var role: String?
  var publishedName: String?

  init(_ transaction: Transaction, as write: AuditLog.Write, once key: TransactionMemory.Key?) {
    statements = transaction.statements.map { statement in
      var forwarded = Statement(sql: statement.sql, expectedChanges: statement.expectedChanges)
      switch statement.parameters {
      case .none: break
      case .named(let values): forwarded.named = values.mapValues { ForwardedValue($0) }
      case .positional(let values): forwarded.positional = values.map { ForwardedValue($0) }
      }
      return forwarded
    }
    claims = transaction.claims.mapValues { ForwardedValue($0) }
    isPublished = transaction.isPublished
    mayReturnRows = transaction.mayReturnRows
    asker = key.map { key in
      Asker(
        once: key.once, subject: key.asker.subject, role: key.asker.role,
        claims: key.asker.claims.mapValues { ForwardedValue($0) })
    }
    (address, subject, role) = (write.actor.address, write.actor.subject, write.actor.role)
    if case .published(let name)? = write.subject { publishedName = name }
  }

  var transaction: Transaction {
    var transaction = Transaction(
      statements.map { statement in
        let parameters: Query.Parameters =
          if let named = statement.named { .named(named.mapValues(\.value)) } else if let list = statement.positional {
            .positional(list.map(\.value))
          } else { .none }
        return .init(sql: statement.sql, parameters: parameters, expectedChanges: statement.expectedChanges)
      }, claims: claims.mapValues(\.value))
    transaction.isPublished = isPublished
    transaction.mayReturnRows = mayReturnRows ?? true
    return transaction
  }

  var write: AuditLog.Write {
    AuditLog.Write(
      actor: LogActor(address: address, subject: subject, role: role), subject: publishedName.map { .published($0) })
  }

  var key: TransactionMemory.Key? {
    asker.map { asker in
      let claims = asker.claims.mapValues(\.value)
      let identity = Identity(subject: asker.subject, role: asker.role, claims: claims, expires: nil)
      return TransactionMemory.Key(asker.once, of: identity)
    }
  }
}

/// What came of it, on its way back.
struct ForwardedOutcome: Codable {
  struct Result: Codable {
    var changes: Int
    var lastInsertRowid: Int64?
    var columns: [String]
    var rows: [[ForwardedValue]]
  }

  /// The epoch of the writer's numbers.
  var epoch: String
  var changes: Int?
  var commit: Int64?
  var results: [Result]?
  var code: String?
  var message: String?

  init(_ outcome: TransactionMemory.Outcome, epoch: String) {
    self.epoch = epoch
    switch outcome {
    case .success(let committed):
      (changes, commit) = (committed.changes, committed.commit)
      results = committed.results?.map { result in
        Result(
          changes: result.changes, lastInsertRowid: result.lastInsertRowid, columns: result.columns,
          rows: result.rows.map { $0.map { ForwardedValue($0) } })
      }
    case .failure(let error): (code, message) = (error.code.rawValue, error.message)
    }
  }

  var outcome: TransactionMemory.Outcome {
    guard let changes, let commit else {
      let code = code.flatMap { ErrorCode(rawValue: $0) } ?? .internal
      return .failure(FreshetError(code, message ?? "the writer's server gave no reason"))
    }
    var committed = CommittedTransaction([], commit: commit)
    committed.changes = changes
    committed.results = results?.map { result in
      var known = StatementResult(changes: result.changes, lastInsertRowid: result.lastInsertRowid)
      known.columns = result.columns
      known.rows = result.rows.map { $0.map(\.value) }
      return known
    }
    return .success(committed)
  }
}

/// A value, exactly: JSON has neither all integers nor blobs.
enum ForwardedValue: Codable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)

  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .text(let value): self = .text(value)
    case .blob(let value): self = .blob(Data(value))
    }
  }

  var value: SQLValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let value): .text(value)
    case .blob(let value): .blob(Array(value))
    }
  }
}

extension Encodable {
  /// As a binary property list.
  var propertyList: [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return (try? encoder.encode(self)).map { Array($0) } ?? []
  }
}

extension Decodable {
  /// Nil when it is none of this.
  init?(propertyList bytes: [UInt8]) {
    guard let value = try? PropertyListDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
    self = value
  }
}
