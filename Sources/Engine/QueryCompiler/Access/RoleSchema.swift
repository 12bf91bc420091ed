package import LiveQuery
package import Store

/// The tables of one schema as a role sees them.
package struct RoleSchema: Sendable {
  /// The tables that the role's queries may name, with the columns that they may read.
  package let visible: DatabaseSchema
  /// All tables, for the filters, and for the tables that virtual tables and views read.
  let whole: DatabaseSchema
  /// The shadows, by lower-case name of the table.
  let shadows: [String: TableShadow]
  /// Whether the role may not read everything.
  let isRestricted: Bool

  /// The schema for clients that may read everything.
  package init(unrestricted schema: DatabaseSchema) {
    visible = schema
    whole = schema
    shadows = [:]
    isRestricted = false
  }

  /// - Parameter isPublished: whether the operator wrote the queries, which may then name tables that the role does not
  ///   list.
  /// - Throws: the error in the role's rules.
  package init(_ role: AccessRules.Role, isPublished: Bool, _ schema: DatabaseSchema) throws(FreshetError) {
    whole = schema
    let rule = { (table: DatabaseSchema.Table) in role.tables[table.name.lowercased()] }
    let tables = schema.tables.compactMap { table -> DatabaseSchema.Table? in
      guard let rule = rule(table) else { return isPublished ? table : nil }
      guard let columns = rule.columns else { return table }
      return table.withholding { name in !columns.contains { isSameName($0, name) } }
    }
    visible = DatabaseSchema(tables: tables)
    let shadowed = RoleSchema.shadowed(tables) { rule($0)?.isRestricting == true }
    var shadows: [String: TableShadow] = [:]
    for table in shadowed {
      shadows[table.name.lowercased()] = try TableShadow(table, rule(table), shadowed: shadowed)
    }
    // If Swift considers two different names equal, one of the tables would have no shadow.
    if shadows.count < shadowed.count { throw FreshetError(.internal, "two tables have names that look the same") }
    self.shadows = shadows
    isRestricted = true
  }

  /// Restricted tables, and views that may read one of them, even indirectly.
  private static func shadowed(
    _ tables: [DatabaseSchema.Table], isRestricted: (DatabaseSchema.Table) -> Bool
  ) -> [DatabaseSchema.Table] {
    var names = Set(tables.filter(isRestricted).map { $0.name.lowercased() })
    if names.isEmpty { return [] }
    let views = tables.compactMap { table in
      table.definition.map { (name: table.name.lowercased(), words: SQLTokenizer.names(in: $0)) }
    }
    var count = 0
    while names.count > count {
      count = names.count
      for view in views where !view.words.isDisjoint(with: names) { names.insert(view.name) }
    }
    return tables.filter { names.contains($0.name.lowercased()) }
  }

  /// The shadows that statements with these texts need, in the order of their names.
  func shadows(for texts: [String]) -> [TableShadow] {
    if shadows.isEmpty { return [] }
    var needed: Set<String> = []
    var open = texts.reduce(into: Set<String>()) { $0.formUnion(SQLTokenizer.names(in: $1)) }
    while let name = open.popFirst() {
      guard let shadow = shadows[name], needed.insert(name).inserted else { continue }
      open.formUnion(shadow.names)
    }
    return needed.sorted().compactMap { shadows[$0] }
  }

  /// The query with the names of the claims that its SQL or the filters of its tables read. Queries that differ only in
  /// other claims share a list.
  package func narrowed(_ query: Query) -> Query {
    let texts = query.texts
    var names = Set(shadows(for: texts).flatMap(\.claims))
    for text in texts {
      let tokenizer = SQLTokenizer(text)
      for token in tokenizer where token.kind == .parameter {
        let name = tokenizer.text(of: token).dropFirst()
        if Query.Access.isClaim(name) { names.insert(String(name)) }
      }
    }
    var result = query
    result.access.read = names.sorted()
    return result
  }
}

extension Query {
  /// All SQL in the query.
  fileprivate var texts: [String] {
    [from] + select + groupBy + orderBy + key + totals.values + alongside.values
      + [filter, having, sectionBy?.expression, sectionBy?.name, sectionBy?.indexTitle].compactMap(\.self)
  }
}

/// The schema as each role and each published query sees it. Valid as long as the schema does not change.
package struct RoleSchemas {
  private let rules: AccessRules
  private let schema: DatabaseSchema
  private var known: [Key: Result<RoleSchema, FreshetError>] = [:]

  package struct Key: Hashable, Sendable {
    let role: String
    let isPublished: Bool

    /// Nil for a server without roles.
    package init?(_ access: Query.Access) {
      guard let role = access.role else { return nil }
      self.role = role
      isPublished = access.isPublished
    }
  }

  package init(_ rules: AccessRules, _ schema: DatabaseSchema) {
    self.rules = rules
    self.schema = schema
  }

  package mutating func schema(for access: Query.Access) throws(FreshetError) -> RoleSchema {
    guard let key = Key(access) else { return RoleSchema(unrestricted: schema) }
    if let known = known[key] { return try known.get() }
    let made: Result<RoleSchema, FreshetError>
    do throws(FreshetError) {
      made = .success(try RoleSchema(rules.roles[key.role] ?? .init(), isPublished: key.isPublished, schema))
    } catch { made = .failure(error) }
    known[key] = made
    return try made.get()
  }
}
