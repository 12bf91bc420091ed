/// A list that a follower keeps, and the number of its subscriptions: `/v1/server`.
package struct OpenList: Sendable {
  package var query: Query
  /// The number of subscriptions that get patches from it; 0 if it is kept for clients that may return.
  package var subscriptions: Int
  package var rows: Int
  package var sections: Int
  /// How it is kept up to date at the moment. `/v1/explain` cannot know this, because it changes if look-ups are slow.
  package var maintenance: Explanation.Maintenance
  package var reason: String
  package var tables: [String]

  package init(
    query: Query, subscriptions: Int, rows: Int, sections: Int, maintenance: Explanation.Maintenance, reason: String,
    tables: [String]
  ) {
    self.query = query
    self.subscriptions = subscriptions
    self.rows = rows
    self.sections = sections
    self.maintenance = maintenance
    self.reason = reason
    self.tables = tables
  }
}

/// The lists of one follower, or of all.
package struct OpenLists: Sendable {
  /// Most shared first.
  package private(set) var mostShared: [OpenList] = []
  /// The number of all lists, including those that are not described.
  package private(set) var count = 0
  package private(set) var subscriptions = 0

  /// The most lists that are described.
  package static let shown = 100

  package init() {}

  package init(mostShared: [OpenList], count: Int, subscriptions: Int) {
    self.mostShared = mostShared
    self.count = count
    self.subscriptions = subscriptions
  }

  /// Adds the lists of another follower.
  package mutating func add(_ other: OpenLists) {
    let all = (mostShared + other.mostShared).sorted { ($0.subscriptions, $0.rows) > ($1.subscriptions, $1.rows) }
    mostShared = Array(all.prefix(Self.shown))
    count += other.count
    subscriptions += other.subscriptions
  }
}
