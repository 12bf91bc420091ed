import LiveQuery
import Wire

/// A client's transaction on its way from a replica to the writer: JSON, with values as clients write them.
struct ForwardedTransaction {
  var transaction: Transaction
  var write: AuditLog.Write
  /// The client that may repeat it, and the name to repeat it by.
  var key: TransactionMemory.Key?

  init(_ transaction: Transaction, as write: AuditLog.Write, once key: TransactionMemory.Key?) {
    self.transaction = transaction
    self.write = write
    self.key = key
  }

  /// Reads the output of `json`.
  init(_ json: JSONValue) throws(FreshetError) {
    transaction = Transaction(
      try TransactionSource.statements(json: json["statements"]), claims: try json.namedValues("claims"))
    transaction.isPublished = try json.required("isPublished") == .bool(true)
    transaction.mayReturnRows = try json.required("mayReturnRows") == .bool(true)
    let expected = try json.required("expectedChanges").parts(transaction.statements.count)
    for index in transaction.statements.indices where expected[index] != .null {
      transaction.statements[index].expectedChanges = try expected[index].count()
    }
    let actor = LogActor(
      address: try json["address"]?.text() ?? "", subject: try json["sub"]?.text(), role: try json["role"]?.text())
    write = AuditLog.Write(actor: actor, subject: (try json["name"]?.text()).map { .published($0) })
    guard let once = try json["once"]?.text() else { return }
    key = TransactionMemory.Key(once, of: try Identity(json.required("asker")))
  }

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.members(of: .own(transaction.statements))
      object.name("expectedChanges")
      object.array { list in
        for statement in transaction.statements {
          if let expected = statement.expectedChanges { list.integer(expected) } else { list.null() }
        }
      }
      object.member("claims", .named(transaction.claims))
      object.member("isPublished", transaction.isPublished)
      object.member("mayReturnRows", transaction.mayReturnRows)
      object.members(of: write.actor)
      object.member(write.subject)
      guard let key else { return }
      object.member("once", key.once)
      object.member("asker", key.asker)
    }
    return writer.bytes
  }
}

/// The outcome on its way back: the members of `committed`, or those of an error.
struct ForwardedOutcome {
  var outcome: TransactionMemory.Outcome
  /// The epoch of the writer's numbers.
  var epoch: String

  init(_ outcome: TransactionMemory.Outcome, epoch: String) {
    self.outcome = outcome
    self.epoch = epoch
  }

  /// Reads the output of `json`.
  init(_ json: JSONValue) throws(FreshetError) {
    outcome = json["code"] == nil ? .success(try CommittedTransaction(json)) : .failure(try FreshetError(json))
    epoch = try json.required("epoch").text()
  }

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("epoch", epoch)
      switch outcome {
      case .success(let committed): object.committed(committed)
      case .failure(let error): object.members(of: error, isFatal: false)
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  /// The client that may repeat a transaction.
  mutating func member(_ name: StaticString, _ asker: Identity) {
    self.name(name)
    object { object in
      if let subject = asker.subject { object.member("sub", subject) }
      object.member("role", asker.role)
      object.member("claims", .named(asker.claims))
    }
  }
}

extension Identity {
  /// Reads the output of `JSONWriter.member`.
  init(_ asker: JSONValue) throws(FreshetError) {
    self.init(
      subject: try asker["sub"]?.text(), role: try asker.required("role").text(),
      claims: try asker.namedValues("claims"), expires: nil)
  }
}

extension JSONValue {
  /// The values of an object member by their names; none when it is absent.
  fileprivate func namedValues(_ name: String) throws(FreshetError) -> [String: SQLValue] {
    guard case .named(let values) = try Query.Parameters(json: self[name]) else {
      throw .unreadable("\(name) is a list")
    }
    return values
  }
}
