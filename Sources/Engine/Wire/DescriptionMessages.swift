package import LiveQuery

// Descriptions of queries and of the database: protocol 4, /v1/explain and /v1/schema.

extension Explanation {
  /// `{"maintenance", "reason", "tables", "sql", "advice", "plan", "relation"?, "list"?}`
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
      if let relation {
        object.name("relation")
        object.write(relation)
      }
      if let list {
        object.name("list")
        object.object { object in
          object.member("rows", list.rows)
          object.member("groups", list.groups)
          object.member("keptBytes", list.keptBytes)
          object.member("changes", list.cost.changes)
          object.member("units", list.cost.units)
          object.member("milliseconds", list.cost.milliseconds)
          object.member("longest", list.cost.longest)
          object.member("runs", list.cost.runs)
        }
      }
    }
    return writer.bytes
  }
}

extension DatabaseTable {
  /// `{"tables": [{"name", "kind", "key"?, "columns": […], …}], "writes"}` as docs/protocol.md says. Members that are
  /// false, missing or empty are left out.
  ///
  /// - Parameter allowsWrites: whether the client may write with its own statements.
  package static func json(_ tables: [DatabaseTable], allowsWrites: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.name("tables")
      object.array { array in
        for table in tables { array.write(table) }
      }
      object.member("writes", allowsWrites ? "any" : "none")
    }
    return writer.bytes
  }
}

extension DatabaseTable {
  /// A table as `/v1/schema` describes it, with the members that determine the types of its rows; nil if the JSON is
  /// not a table.
  package init?(json: JSONValue) {
    guard case .string(let name)? = json["name"], case .string(let kind)? = json["kind"],
      case .array(let columns)? = json["columns"]
    else { return nil }
    self.init(name: name, kind: kind, columns: columns.compactMap(Column.init(json:)))
    isWithoutRowid = json["withoutRowid"] == .bool(true)
  }
}

extension DatabaseTable.Column {
  fileprivate init?(json: JSONValue) {
    guard case .string(let name)? = json["name"], case .string(let type)? = json["type"],
      case .integer(let position)? = json["key"]
    else { return nil }
    self.init(name: name, type: type, isNotNull: json["notNull"] == .bool(true), keyPosition: Int(position))
    if case .array(let texts)? = json["values"] {
      values = texts.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ relation: Explanation.Relation) {
    object { object in
      object.member("kind", relation.kind.rawValue)
      if let name = relation.name { object.member("name", name) }
      object.strings("key", relation.key)
      object.strings("tables", relation.tables)
      object.member("kept", relation.isKept)
      if relation.parts.isEmpty { return }
      object.name("parts")
      object.array { array in
        for part in relation.parts { array.write(part) }
      }
    }
  }

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
      if let key = table.key { object.strings("key", key) }
      if table.isWithoutRowid { object.member("withoutRowid", true) }
      if let module = table.module { object.member("module", module) }
      if let searched = table.searched {
        object.member("content", searched.name)
        object.member("contentRowid", searched.rowid)
      }
      object.name("columns")
      object.array { array in
        for column in table.columns { array.write(column) }
      }
      if !table.foreignKeys.isEmpty {
        object.name("foreignKeys")
        object.array { array in
          for key in table.foreignKeys { array.write(key) }
        }
      }
      if table.hasTriggers { object.member("triggers", true) }
      if !table.unreadable.isEmpty {
        object.name("unreadable")
        object.array { array in
          for column in table.unreadable {
            array.object {
              $0.member("column", column.column)
              $0.member("reason", column.reason)
            }
          }
        }
      }
    }
  }

  private mutating func write(_ column: DatabaseTable.Column) {
    object {
      $0.member("name", column.name)
      $0.member("type", column.type)
      $0.member("notNull", column.isNotNull)
      $0.member("key", column.keyPosition)
      if column.isGenerated { $0.member("generated", true) }
      if let sql = column.defaultSQL { $0.member("default", sql) }
      if !column.values.isEmpty { $0.strings("values", column.values) }
    }
  }

  private mutating func write(_ key: DatabaseTable.ForeignKey) {
    object {
      $0.strings("columns", key.columns)
      $0.member("table", key.table)
      $0.strings("references", key.references)
      if let action = key.onDelete { $0.member("onDelete", action) }
    }
  }
}
