import FreshetResults
import LiveQuery
import Wire

/// Writes what a client asks: protocol 3.1.
enum ClientMessageText {
  static let ping = message("ping", id: "alive")
  static let tokenID = "token"

  static func authenticate(_ token: String) -> [UInt8] {
    message("authenticate", id: tokenID) { $0.member("token", token) }
  }

  static func subscribe(_ subscription: Subscription, id: String) -> [UInt8] {
    message("subscribe", id: id) { writer in
      writer.name("query")
      writer.query(subscription.query)
      if let window = subscription.window { writer.window("window", window) }
      if let version = subscription.version { writer.member("since", version) }
    }
  }

  static func unsubscribe(id: String) -> [UInt8] { message("unsubscribe", id: id) }

  static func request(_ request: ListRequest, id: String) -> [UInt8] {
    switch request {
    case .window(let window):
      message("window", id: id) {
        $0.member("offset", window.offset)
        $0.member("limit", window.limit)
      }
    case .requery(let query, let window):
      message("requery", id: id) { writer in
        writer.name("query")
        writer.query(query)
        if let window { writer.window("window", window) }
      }
    case .locate(let key):
      message("locate", id: id) { writer in
        writer.name("key")
        if key.count == 1 { writer.value(key[0]) } else { writer.values(key) }
      }
    case .resync: message("resync", id: id)
    }
  }

  /// - Parameter once: the name under which the server runs it once at most.
  static func transact(_ transaction: RequestedTransaction, id: String, once: String) -> [UInt8] {
    message("transact", id: id) { writer in
      writer.member("once", once)
      switch transaction {
      case .statements(let statements):
        writer.name("statements")
        writer.array { list in
          for statement in statements {
            list.object {
              $0.member("sql", statement.sql)
              $0.parameters("params", statement.parameters)
            }
          }
        }
      case .published(let name, let parameters):
        writer.member("name", name)
        writer.parameters("params", .named(parameters))
      }
    }
  }

  private static func message(
    _ type: String, id: String, _ members: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object {
      $0.member("type", type)
      $0.member("id", id)
      members(&$0)
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func query(_ query: FreshetResults.Query) {
    object { writer in
      if let name = query.publishedName {
        writer.member("name", name)
        return writer.parameters("params", query.parameters)
      }
      writer.member("from", query.from)
      writer.strings(nonempty: "select", query.select)
      if let filter = query.filter { writer.member("where", filter) }
      writer.parameters("params", query.parameters)
      writer.strings(nonempty: "groupBy", query.groupBy)
      if let having = query.having { writer.member("having", having) }
      if let section = query.sectionBy { writer.section(section) }
      writer.strings(nonempty: "orderBy", query.orderBy)
      if let limit = query.limit { writer.member("limit", limit) }
      writer.strings(nonempty: "key", query.key)
      if !query.alongside.isEmpty {
        writer.name("alongside")
        writer.object { for (name, sql) in query.alongside.sorted(by: { $0.key < $1.key }) { $0.text(name, sql) } }
      }
      if let every = query.refreshEvery { writer.member("refreshEvery", every / .seconds(1)) }
    }
  }

  private mutating func section(_ section: FreshetResults.Query.SectionBy) {
    name("sectionBy")
    object {
      $0.member("by", section.expression)
      $0.member("order", section.isDescending ? "DESC" as String : "ASC")
      if let name = section.name { $0.member("name", name) }
      if let title = section.indexTitle { $0.member("indexTitle", title) }
    }
  }

  fileprivate mutating func parameters(_ name: StaticString, _ parameters: FreshetResults.Query.Parameters) {
    switch parameters {
    case .named(let values):
      if values.isEmpty { return }
      self.name(name)
      object { writer in
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
          writer.name(escaping: name)
          writer.value(value)
        }
      }
    case .positional(let list):
      if list.isEmpty { return }
      self.name(name)
      values(list)
    }
  }

  fileprivate mutating func values(_ values: [SQLValue]) { array { for value in values { $0.value(value) } } }

  fileprivate mutating func window(_ name: StaticString, _ window: Window) {
    self.name(name)
    object {
      $0.member("offset", window.offset)
      $0.member("limit", window.limit)
    }
  }

  private mutating func strings(nonempty name: StaticString, _ strings: [String]) {
    if !strings.isEmpty { self.strings(name, strings) }
  }

  private mutating func text(_ name: String, _ value: String) {
    self.name(escaping: name)
    string(value)
  }
}
