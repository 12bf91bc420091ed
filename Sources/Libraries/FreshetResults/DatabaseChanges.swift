import LiveQuery
package import Wire

/// A change of a row, or of the whole table.
public struct RowChange: Sendable, Hashable {
  public enum Operation: String, Sendable {
    case insert, update, delete
    /// The table was created, dropped or altered: its rows have to be read again.
    case schema
  }

  public let table: String
  public let operation: Operation
  /// The values of the primary key, or of `rowid`, by column. Empty for a change of the schema.
  public let key: [String: SQLValue]
  /// The former row: the changed columns of an update, all columns of a deletion. Nil for an insertion, and where it is
  /// unknown.
  public let old: [String: SQLValue]?
  /// The row as it is: all columns that were asked for. Nil for a deletion.
  public let new: [String: SQLValue]?
}

/// An element of the feed of all changes.
public enum DatabaseChange: Sendable {
  /// The feed begins at this position.
  case position(String)
  /// A commit, or several that could only be seen together (`commits`): then `old` is a row's state before all of them,
  /// and `new` after.
  case commit(position: String, commit: Int64, commits: Int, changes: [RowChange])
  /// Changes before this position are unknown: read the tables again, and continue.
  case gap(position: String, reason: String)

  /// The position to continue from later (`since`).
  public var position: String {
    switch self {
    case .position(let position), .commit(let position, _, _, _), .gap(let position, _): position
    }
  }
}

/// Every change of a database's rows, by any program: the commits in their order.
///
/// ```swift
/// for try await change in database.changes(of: ["orders"]) {
///   if case .commit(_, _, _, let changes) = change { index.apply(changes) }
/// }
/// ```
/// Each iteration reads independently, from the time at which its iterator is made. A slow reader gets a `gap` once
/// more than 64 MiB of changed rows wait for it (`changeHistory` of a server).
public struct DatabaseChanges: AsyncSequence, Sendable {
  public typealias Element = DatabaseChange

  private let makeReader: @Sendable () -> any ChangesReader

  package init(_ makeReader: @escaping @Sendable () -> any ChangesReader) { self.makeReader = makeReader }

  public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: any ChangesReader

    /// - Throws: `FreshetError` when the tables or conditions are wrong, or the database is closed;
    ///   `CancellationError`.
    public mutating func next() async throws -> DatabaseChange? { try await reader.next() }
  }
}

/// The source of an iterator. Deallocating it ends the reading.
package protocol ChangesReader: AnyObject, Sendable {
  func next() async throws -> DatabaseChange
}

extension DatabaseChange {
  /// A message of the feed: protocol 4.1.
  ///
  /// - Returns: nil for a message that does not concern the feed.
  package init?(_ json: JSONValue) throws(FreshetError) {
    guard case .string(let position)? = json["position"] else { return nil }
    if case .string(let reason)? = json["reason"] {
      self = .gap(position: position, reason: reason)
      return
    }
    guard case .array(let changes)? = json["changes"] else {
      self = .position(position)
      return
    }
    guard case .integer(let commit)? = json["commit"], case .integer(let commits)? = json["commits"] else { return nil }
    var rows: [RowChange] = []
    for change in changes { rows.append(try RowChange(change)) }
    self = .commit(position: position, commit: commit, commits: Int(commits), changes: rows)
  }
}

extension RowChange {
  fileprivate init(_ json: JSONValue) throws(FreshetError) {
    guard case .string(let table)? = json["table"], case .string(let name)? = json["op"],
      let operation = Operation(rawValue: name)
    else { throw FreshetError(.internal, "malformed change") }
    self.init(
      table: table, operation: operation, key: try Self.values(json["key"]) ?? [:], old: try Self.values(json["old"]),
      new: try Self.values(json["new"]))
  }

  private static func values(_ json: JSONValue?) throws(FreshetError) -> [String: SQLValue]? {
    guard case .object(let members)? = json else { return nil }
    var values: [String: SQLValue] = [:]
    for (name, value) in members { values[name] = try SQLValue(json: value, what: "a value") }
    return values
  }
}
