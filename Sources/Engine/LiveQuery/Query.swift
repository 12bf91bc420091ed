/// The parts of one `SELECT`, and how its rows are divided into sections.
///
/// Every part is SQL as it was written, which SQLite alone evaluates:
///
/// ```swift
/// Query(from: "bank", orderBy: ["name"], sectionBy: "state")
/// Query(
///   from: "orders JOIN customer ON customer.id = customer_id", select: ["orders.id", "customer.name", "total"],
///   where: "total > :least", parameters: ["least": 100], orderBy: ["total DESC"])
/// ```
///
/// Rows need a key, which identifies a row from one version to the next. It is the primary key of the first table
/// unless `key` says otherwise. Rows that are equal by `orderBy` are in the order of their keys.
public struct Query: Sendable {
  /// The text after `FROM`: a table, a view, a join.
  public var from: String
  /// The columns; empty for all columns of the first table.
  public var select: [String]
  /// The text after `WHERE`.
  public var filter: String?
  /// Values for `?` or `:name` in any part.
  public var parameters: Parameters
  public var groupBy: [String]
  public var having: String?
  /// Terms such as `"name"`, `"close_date DESC NULLS LAST"` or `"name COLLATE NOCASE"`.
  public var orderBy: [String]
  public var sectionBy: SectionBy?
  public var limit: Int?
  /// Expressions that identify a row; empty for the primary key of the first table.
  public var key: [String]
  /// Aggregates over the rows of the list and of each section, by name: `["n": "count(*)", "feet": "sum(depth)"]`. Not
  /// with `limit` or `groupBy`.
  public var totals: [String: String]
  /// Single values that are kept up to date with the list, by name: `["deepest": "SELECT max(depth) FROM well"]`.
  public var alongside: [String: String]
  /// The time after which the query runs again even if nothing changed, for queries that read the time.
  public var refreshEvery: Duration?
  /// The name of a query that a server has published; nil for a query that is given by its parts. The engine follows
  /// only the latter.
  public private(set) var publishedName: String?
  /// The identity of the client that sent the query, which no client can set.
  package var access = Access()

  public init(
    from: String, select: [String] = [], where filter: String? = nil, parameters: Parameters = [:],
    groupBy: [String] = [], having: String? = nil, orderBy: [String] = [], sectionBy: SectionBy? = nil,
    limit: Int? = nil, key: [String] = [], totals: [String: String] = [:], alongside: [String: String] = [:],
    refreshEvery: Duration? = nil
  ) {
    self.from = from
    self.select = select
    self.filter = filter
    self.parameters = parameters
    self.groupBy = groupBy
    self.having = having
    self.orderBy = orderBy
    self.sectionBy = sectionBy
    self.limit = limit
    self.key = key
    self.totals = totals
    self.alongside = alongside
    self.refreshEvery = refreshEvery
  }

  /// A query that the operator of a server has published under a name. Some servers answer only such queries. For
  /// `RemoteDatabase`.
  public init(published name: String, parameters: Parameters = [:]) {
    self.init(from: "", parameters: parameters)
    publishedName = name
  }

  /// How rows are divided into sections. Sections are in the order of `expression`, and rows are sorted within them.
  public struct SectionBy: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The value that the rows of a section share.
    public var expression: String
    public var isDescending: Bool
    /// The name of the section, if it is not the value of `expression`.
    public var name: String?
    /// The section's entry in an index next to the list; nil for the first letter of its name.
    public var indexTitle: String?

    public init(_ expression: String, isDescending: Bool = false, name: String? = nil, indexTitle: String? = nil) {
      self.expression = expression
      self.isDescending = isDescending
      self.name = name
      self.indexTitle = indexTitle
    }

    public init(stringLiteral expression: String) { self.init(expression) }
  }

  /// The values of a query's parameters: `["least": 100]` for `:least`, `[100]` for `?`.
  public enum Parameters: Hashable, Sendable, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    case named([String: SQLValue])
    /// Values in the order in which the clauses of a `SELECT` come.
    case positional([SQLValue])

    public init(dictionaryLiteral elements: (String, SQLValue)...) {
      self = .named(Dictionary(elements) { $1 })
    }

    public init(arrayLiteral elements: SQLValue...) { self = .positional(elements) }
  }
}

extension Query.Parameters {
  /// Without values.
  package static let none = Self.named([:])
}

extension Query {
  /// In the order of their names.
  package var sortedAlongside: [(name: String, sql: String)] {
    alongside.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// In the order of their names.
  package var sortedTotals: [(name: String, sql: String)] {
    totals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  package init(_ source: QuerySource) {
    switch source {
    case .adHoc(let query): self = query
    case .published(let name, let parameters): self.init(published: name, parameters: parameters)
    }
  }
}
