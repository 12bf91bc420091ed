package import LiveQuery

/// A client's write: its own statements, or the name of published ones.
package enum TransactionSource: Sendable {
  case own([Transaction.Statement])
  case published(name: String, parameters: Query.Parameters)

  /// - Parameter members: the members of the message, or of the body of a request.
  /// - Throws: `bad_message`.
  package init(_ members: [String: JSONValue]) throws(FreshetError) {
    let reader = MemberReader(members: members, prefix: "")
    if let name = try reader.string("name") {
      if members["statements"] != nil { throw .badMessage("a transaction has statements or a name, not both") }
      self = .published(name: name, parameters: try .init(json: members["params"]))
    } else {
      self = .own(try TransactionSource.statements(json: members["statements"]))
    }
  }

  /// The client's name for a transaction that may be repeated: the member `once`.
  ///
  /// - Throws: `bad_message`.
  package static func once(_ members: [String: JSONValue]) throws(FreshetError) -> String? {
    let once = try MemberReader(members: members, prefix: "").string("once")
    if let once, !(1...64).contains(once.unicodeScalars.count) {
      throw .badMessage("once must be a string of 1 to 64 characters")
    }
    return once
  }

  /// The only epoch in which the client wants the transaction to run: the member `epoch`.
  ///
  /// - Throws: `bad_message`.
  package static func epoch(_ members: [String: JSONValue]) throws(FreshetError) -> String? {
    try MemberReader(members: members, prefix: "").string("epoch")
  }

  /// The member `statements`.
  ///
  /// - Throws: `bad_message`.
  package static func statements(json: JSONValue?) throws(FreshetError) -> [Transaction.Statement] {
    guard case .array(let values)? = json, !values.isEmpty else {
      throw .badMessage("statements must be a list of {\"sql\", \"params\"}, not empty")
    }
    var list: [Transaction.Statement] = []
    for (index, value) in values.enumerated() {
      guard case .object(let members) = value else {
        throw .badMessage("statements[\(index)] must be an object, not \(value.kind)")
      }
      let reader = MemberReader(members: members, prefix: "statements[\(index)].")
      list.append(.init(sql: try reader.required("sql"), parameters: try .init(json: members["params"])))
    }
    return list
  }
}
