/// The values of one row of a result, in the order of its columns.
public struct ResultRow: Hashable, Sendable {
  /// Shared by all rows of a result.
  package let layout: Columns
  public let values: [SQLValue]

  package init(layout: Columns, values: [SQLValue]) {
    self.layout = layout
    self.values = values
  }

  public var columns: [String] { layout.names }

  /// The value of a column; nil if the result has no such column. The first one of columns with the same name. O(1).
  public subscript(column: String) -> SQLValue? { layout.index(of: column).map { values[$0] } }

  public static func == (left: Self, right: Self) -> Bool {
    left.values == right.values && (left.layout === right.layout || left.columns == right.columns)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values) }

  /// The names of a result's columns.
  package final class Columns: Sendable {
    package let names: [String]
    private let indexes: [String: Int]

    package init(_ names: [String]) {
      self.names = names
      indexes = Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    package func index(of name: String) -> Int? { indexes[name] }
  }
}

extension ResultRow: CustomStringConvertible {
  public var description: String {
    "[" + zip(columns, values).map { "\($0): \($1)" }.joined(separator: ", ") + "]"
  }
}
