package import LiveQuery

extension ClientMessage {
  package init(_ request: SubscriptionRequest) {
    switch request {
    case .window(let window): self = .window(window)
    case .fetch(let window): self = .fetch(window)
    case .locate(let key): self = .locate(key)
    case .requery(let query, let window): self = .requery(QuerySource(query), window)
    case .resync: self = .resync
    }
  }

  /// The message as a client sends it.
  package func text(id: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object {
      $0.member("type", type)
      $0.member("id", id)
      writeMembers(to: &$0)
    }
    return writer.bytes
  }

  private var type: StaticString {
    switch self {
    case .subscribe: "subscribe"
    case .changes: "changes"
    case .window: "window"
    case .fetch: "fetch"
    case .locate: "locate"
    case .requery: "requery"
    case .resync: "resync"
    case .unsubscribe: "unsubscribe"
    case .transact: "transact"
    case .ping: "ping"
    case .authenticate: "authenticate"
    }
  }

  private func writeMembers(to writer: inout JSONWriter) {
    switch self {
    case .subscribe(let subscribe):
      writer.member(subscribe.query, subscribe.window)
      if let since = subscribe.since { writer.member("since", since) }
      let least = subscribe.minInterval / .milliseconds(1)
      if least > 0 { writer.member("minInterval", Int(least)) }
      if subscribe.shape != .arrays { writer.member("shape", subscribe.shape.rawValue) }
    case .changes(let request, let since):
      request.write(to: &writer)
      if let since { writer.member("since", since) }
    case .window(let window), .fetch(let window):
      writer.member("offset", window.offset)
      writer.member("limit", window.limit)
    case .locate(let key):
      writer.name("key")
      if key.count == 1 { writer.value(key[0]) } else { writer.array { for value in key { $0.value(value) } } }
    case .requery(let query, let window): writer.member(query, window)
    case .resync, .unsubscribe, .ping: break
    case .transact(let transaction, let once):
      if let once { writer.member("once", once) }
      writer.members(of: transaction)
    case .authenticate(let token): writer.member("token", token.text)
    }
  }
}

extension ChangesRequest {
  fileprivate func write(to writer: inout JSONWriter) {
    if let tables {
      writer.name("tables")
      writer.array { for table in tables { $0.string(table) } }
    }
    if !columns.isEmpty {
      writer.name("columns")
      writer.object { object in
        for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
          object.name(escaping: table)
          object.array { for name in names { $0.string(name) } }
        }
      }
    }
    if !filters.isEmpty {
      writer.name("where")
      writer.object { object in
        for (table, filter) in filters.sorted(by: { $0.key < $1.key }) {
          object.name(escaping: table)
          object.string(filter)
        }
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func member(_ query: QuerySource, _ window: Window?) {
    name("query")
    write(Query(query), isWhole: true)
    if let window { member("window", window) }
  }

  package mutating func members(of transaction: TransactionSource) {
    switch transaction {
    case .own(let statements):
      name("statements")
      array { list in
        for statement in statements {
          list.object {
            $0.member("sql", statement.sql)
            $0.member("params", statement.parameters)
          }
        }
      }
    case .published(let name, let parameters):
      member("name", name)
      member("params", parameters)
    }
  }
}
