// `databases`, `newDatabases` and `tenant` of a configuration file.
extension DatabaseRules.Rule {
  /// - Parameter own: the server's own settings, which the rule's settings replace where it has some.
  init(_ pattern: String, _ place: YAMLPlace, _ own: AccessSettings) throws(ServerError) {
    self.init(pattern, own)
    if place.isNull { return }
    for (name, value) in try place.members() where !value.isNull {
      switch name {
      case "roles": access.roles = try value.roles()
      case "queries": access.queries = PublishedQueries(try value.queries())
      case "statements": access.statements = PublishedStatements(try value.statements())
      case "limits":
        for (name, value) in try value.members() {
          guard let limit = LimitSetting(rawValue: name), LimitSetting.ofDatabase.contains(limit) else {
            throw value.unknown(name, "a database's limits are", LimitSetting.ofDatabase.map(\.rawValue))
          }
          limits[limit] = try value.limit(limit)
        }
      default: throw value.unknown(name, "a rule for databases has", ["roles", "queries", "statements", "limits"])
      }
    }
  }
}

extension TenantTemplate {
  init(_ place: YAMLPlace) throws(ServerError) {
    guard let template = TenantTemplate(try place.text()) else {
      throw place.error("must name a claim of the token, such as \"tenants/{claims.org}\"")
    }
    self = template
  }
}

extension NewDatabases {
  init(_ place: YAMLPlace) throws(ServerError) {
    var model: Model?
    for (name, value) in try place.members() where !value.isNull {
      guard model == nil else { throw place.error("has either a template or a schema") }
      switch name {
      case "template": model = .template(try value.filePath())
      case "schema": model = .schema(try value.filePath())
      default: throw value.unknown(name, "new databases have", ["template", "schema"])
      }
    }
    guard let model else { throw place.error("needs a template or a schema") }
    self.init(model)
  }
}

extension YAMLPlace {
  func roles() throws(ServerError) -> [String: Role] {
    var roles: [String: Role] = [:]
    for (name, role) in try members() { roles[name] = try Role(role) }
    return roles
  }

  func queries() throws(ServerError) -> [PublishedQuery] {
    var queries: [PublishedQuery] = []
    for (name, query) in try members() { queries.append(try PublishedQuery(name, query)) }
    return queries
  }

  func statements() throws(ServerError) -> [PublishedStatement] {
    var statements: [PublishedStatement] = []
    for (name, statement) in try members() { statements.append(try PublishedStatement(name, statement)) }
    return statements
  }
}
