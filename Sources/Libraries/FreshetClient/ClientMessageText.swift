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
      writer.write(subscription.query, isWhole: true)
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
        writer.write(query, isWhole: true)
        if let window { writer.window("window", window) }
      }
    case .locate(let key):
      message("locate", id: id) { writer in
        writer.name("key")
        if key.count == 1 { writer.value(key[0]) } else { writer.array { for value in key { $0.value(value) } } }
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
              $0.member("params", statement.parameters)
            }
          }
        }
      case .published(let name, let parameters):
        writer.member("name", name)
        writer.member("params", Query.Parameters.named(parameters))
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
  fileprivate mutating func window(_ name: StaticString, _ window: Window) {
    self.name(name)
    object {
      $0.member("offset", window.offset)
      $0.member("limit", window.limit)
    }
  }
}
