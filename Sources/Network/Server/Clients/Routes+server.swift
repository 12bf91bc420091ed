import Controllers
import Foundation
import Gateway
import Ground
import LiveQuery
import Requests
import Store
import Wire

// The server's state, for the page "Server": `/v1/server`.
extension Routes {
  /// - Throws: `not_allowed` where there are roles, because lists show what others ask.
  func getServer(_ exchange: HTTPExchange, _ database: ServedDatabase) throws(FreshetError) {
    _ = try database.doors.permissions(of: exchange.identity).ownQueries()
    if !database.doors.roleNames.isEmpty {
      throw FreshetError(.notAllowed, "where there are roles, only /metrics says what the server does")
    }
    reports.lists(of: database) { [self] lists in
      exchange.answer(.json(description(lists, of: database), headers: [("Cache-Control", "no-store")]))
    }
  }

  private func description(_ lists: OpenLists, of database: ServedDatabase) -> [UInt8] {
    let slow = database.pool.readers.slow.newest
    let memory = ProcessMetrics().residentBytes
    let counters = reports.gateway.counters
    var writer = JSONWriter()
    writer.object { object in
      object.member("server", "freshet/\(freshetVersion)")
      object.member("startedAt", reports.startTime)
      object.member("now", Date().timeIntervalSince1970)
      object.member("file", database.fileName)
      if let name = database.name { object.member("database", name.description) }
      object.member("subscriptions", lists.subscriptions)
      object.member("connections", counters.sessions)
      object.member("streams", counters.streams)
      if let memory { object.member("memory", memory) }
      object.name("lists")
      object.array { array in
        for list in lists.mostShared { array.write(list, name: database.doors.name(of: list.query)) }
      }
      object.member("listsLeftOut", lists.count - lists.mostShared.count)
      object.name("slowQueries")
      object.array { array in
        for query in slow { array.write(query) }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ list: OpenList, name: String?) {
    object { object in
      object.member("fingerprint", Fingerprint(of: list.query).description)
      if let name { object.member("name", name) }
      object.name("query")
      object.write(list.query)
      object.member("subscriptions", list.subscriptions)
      object.member("rows", list.rows)
      object.member("sections", list.sections)
      object.member("maintenance", list.maintenance.rawValue)
      object.member("reason", list.reason)
      object.strings("tables", list.tables)
    }
  }

  fileprivate mutating func write(_ slow: SlowQueries.Slow) {
    object { object in
      object.member("fingerprint", Fingerprint(of: slow.query).description)
      object.name("query")
      object.write(slow.query)
      object.member("count", slow.count)
      object.member("lastSeconds", slow.last.seconds)
      object.member("longestSeconds", slow.longest.seconds)
    }
  }
}
