import LiveQuery

// `roles` of a configuration file.
extension Role {
  init(_ place: YAMLPlace) throws(ServerError) {
    self.init()
    if place.isNull { return }
    for (name, value) in try place.members() where !value.isNull {
      switch name {
      case "tables":
        for (name, table) in try value.members() {
          let rule = try AccessRules.Table(table)
          guard tables.tables.updateValue(rule, forKey: name.lowercased()) == nil else {
            throw table.error("is there twice: names of tables are one in upper and lower case")
          }
        }
      case "queries":
        var names = Set(try value.textOrTexts())
        allowsOwnQueries = names.remove(Self.any) != nil
        queries = names
      case "statements": statements = Set(try value.textOrTexts())
      case "write":
        guard try value.text() == Self.any else { throw value.error("must be any, or not be there") }
        allowsOwnStatements = true
      case "databases": databases = try value.textOrTexts()
      case "manage": managed = try value.textOrTexts()
      case "limits": limits = try RoleLimits(value)
      default:
        throw value.unknown(
          name, "a role has", ["tables", "queries", "statements", "write", "databases", "manage", "limits"])
      }
    }
  }

  private static let any = "any"
}

extension AccessRules.Table {
  fileprivate init(_ place: YAMLPlace) throws(ServerError) {
    self.init()
    if place.isNull { return }
    for (name, value) in try place.members() where !value.isNull {
      switch name {
      case "rows": rows = try value.text()
      case "columns":
        let names = try value.textOrTexts()
        if names.isEmpty { throw value.error("names no column: leave the table out") }
        columns = names
      default:
        throw value.unknown(name, "a table has", ["rows", "columns"])
      }
    }
  }
}

extension RoleLimits {
  fileprivate init(_ place: YAMLPlace) throws(ServerError) {
    self.init()
    let range = 1...Count.range.upperBound
    for (name, value) in try place.members() where !value.isNull {
      switch name {
      case "connections": connections = try value.count(range)
      case "subscriptions": subscriptions = try value.count(range)
      case "messages": messages = try value.count(range)
      case "requests": requests = try value.count(range)
      case "queries": queries = try value.count(range)
      case "time": time = try value.count(range)
      case "rows": rows = try value.count(range)
      case "bytes": bytes = try value.bytes()
      default:
        throw value.unknown(
          name, "a role's limits are",
          ["connections", "subscriptions", "messages", "requests", "queries", "time", "rows", "bytes"])
      }
    }
  }
}
