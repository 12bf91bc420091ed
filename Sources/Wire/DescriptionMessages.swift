package import LiveQuery

// What the server tells of queries and of the database: protocol 4, /v1/explain and /v1/schema.

extension Explanation {
  /// `{"maintenance", "reason", "tables", "sql", "advice", "plan"}`
  package var json: [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("maintenance", maintenance.rawValue)
      object.member("reason", reason)
      object.name("tables")
      object.array { array in
        for table in tables { array.write(table) }
      }
      object.member("sql", sql)
      object.strings("advice", advice)
      object.strings("plan", plan)
    }
    return writer.bytes
  }
}

extension DatabaseTable {
  /// `{"tables": [{"name", "kind", "columns": [{"name", "type", "notNull", "key"}]}]}`; `key` is the place in the
  /// primary key from 1, 0 when the column is not in it.
  package static func json(_ tables: [DatabaseTable]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.name("tables")
      object.array { array in
        for table in tables { array.write(table) }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ table: Explanation.Table) {
    object {
      $0.member("name", table.name)
      $0.strings("aliases", table.aliases)
      $0.strings("columns", table.columns)
      $0.member("following", table.following.rawValue)
      $0.member("capture", table.capture.rawValue)
    }
  }

  fileprivate mutating func write(_ table: DatabaseTable) {
    object { object in
      object.member("name", table.name)
      object.member("kind", table.kind)
      object.name("columns")
      object.array { array in
        for column in table.columns {
          array.object {
            $0.member("name", column.name)
            $0.member("type", column.type)
            $0.member("notNull", column.isNotNull)
            $0.member("key", column.keyPosition)
          }
        }
      }
    }
  }
}
