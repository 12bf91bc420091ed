/// What is asked: the parts of one SELECT, plus how to cut its result into sections.
///
/// Every fragment is SQL text as the client wrote it, trimmed and otherwise unchecked: `Store` checks and composes.
package struct Query: Sendable {
  package var from: String
  /// Empty: all columns of the first table.
  package var select: [String] = []
  package var filter: String?
  package var parameters: Parameters = .none
  package var groupBy: [String] = []
  package var having: String?
  package var sectionBy: SectionBy?
  package var orderBy: [String] = []
  package var limit: Int?
  /// Empty: the primary key of the first table.
  package var key: [String] = []
  /// Name and SQL of single-value queries, sorted by name.
  package var alongside: [Alongside] = []
  /// After so long the query is run again whatever happened; nil: only when something changed.
  package var refreshEvery: Duration?
  /// No part of what a client writes.
  package var access = Access()

  package init(from: String) { self.from = from }

  package enum Parameters: Hashable, Sendable {
    case none
    /// For `?`, in the order in which a SELECT has its parts.
    case positional([SQLValue])
    /// For `:name`, `@name` and `$name`; names without the sign.
    case named([String: SQLValue])
  }

  package struct SectionBy: Hashable, Sendable {
    package var expression: String
    package var isDescending = false
    /// What a section is called, where that is not the value that it is sorted by.
    package var name: String?
    package var indexTitle: String?

    package init(expression: String) { self.expression = expression }
  }

  package struct Alongside: Hashable, Sendable {
    package var name: String
    package var sql: String

    package init(name: String, sql: String) {
      self.name = name
      self.sql = sql
    }
  }
}
