package import Wire

/// A client that does what protocol 3.3 says, literally and with arrays: the other half of every patch test.
///
/// It never traps; errors of a message are thrown as sentences.
package struct ClientModel: Equatable {
  package struct Violation: Error, CustomStringConvertible {
    package var description: String
    package init(description: String) { self.description = description }
  }

  package struct Section: Equatable {
    package var name: JSONValue
    package var indexTitle: String
    package var totals: [String: JSONValue]
    /// Nil: the client was not given the row's contents.
    package var rows: [[String: JSONValue]?]
  }

  package private(set) var columns: [String] = []
  package private(set) var sections: [Section] = []
  /// `[offset, limit]`; nil: all rows.
  package private(set) var window: (offset: Int, limit: Int)?
  package private(set) var version = ""
  package private(set) var commit: Int64 = 0
  /// The epoch of the server that sends the next message: commits begin anew with each epoch.
  package var epoch = "" { didSet { if epoch != oldValue { leastCommit = .min } } }
  private var leastCommit = Int64.min
  package private(set) var alongside: [String: JSONValue] = [:]
  package private(set) var totals: [String: JSONValue] = [:]
  package private(set) var isComplete = false

  package init() {}

  package static func == (left: ClientModel, right: ClientModel) -> Bool {
    left.sections == right.sections && left.window?.offset == right.window?.offset
      && left.window?.limit == right.window?.limit && left.alongside == right.alongside
      && left.totals == right.totals
  }

  package var total: Int { sections.reduce(0) { $0 + $1.rows.count } }

  /// Every row in order; nil where the contents are not known.
  package var rows: [[String: JSONValue]?] { sections.flatMap(\.rows) }

  /// The rows the client must have: those in the window, or all.
  package var visibleRows: [[String: JSONValue]?] {
    guard let window else { return rows }
    let start = min(window.offset, total)
    return Array(rows[start..<min(total, start + window.limit)])
  }

  /// Applies a `snapshot`, `rows` or `patch` message.
  package mutating func apply(_ message: JSONValue) throws {
    switch message["type"] {
    case .string("snapshot"): try applySnapshot(message)
    case .string("rows"): try applyRows(message)
    case .string("patch"): try applyPatch(message)
    default: throw Violation(description: "not a message that changes state: \(message)")
    }
  }
}

extension ClientModel {
  private mutating func applySnapshot(_ message: JSONValue) throws {
    columns = try message.list("columns").map { try $0.text() }
    version = try message.required("version").text()
    commit = try Int64(message.required("commit").int())
    leastCommit = commit
    sections = try message.list("sections").map { section in
      Section(
        name: try section.required("name"), indexTitle: try section.required("indexTitle").text(),
        totals: section["totals"]?.members ?? [:],
        rows: Array(repeating: nil, count: try section.required("count").int()))
    }
    window = try message["window"].map { (try $0.required("offset").int(), try $0.required("limit").int()) }
    alongside = message["alongside"]?.members ?? [:]
    totals = message["totals"]?.members ?? [:]
    try require(total == message.required("total").int(), "total and section counts disagree")
    try place(message)
  }

  private mutating func applyRows(_ message: JSONValue) throws {
    try require(message.required("version").text() == version, "rows of another version than the client has")
    if let window = message["window"] {
      self.window = (try window.required("offset").int(), try window.required("limit").int())
    }
    try place(message)
  }

  private mutating func place(_ message: JSONValue) throws {
    var offset = try message.required("offset").int()
    for row in try message.list("rows") {
      try set(row, at: offset)
      offset += 1
    }
    isComplete = message["complete"] == .bool(true)
    if isComplete { dropInvisible() }
  }

  private mutating func set(_ row: JSONValue, at offset: Int) throws {
    var item = offset
    for section in sections.indices {
      if item < sections[section].rows.count {
        sections[section].rows[item] = try content(row)
        return
      }
      item -= sections[section].rows.count
    }
    throw Violation(description: "a row at offset \(offset) of \(total)")
  }

  private func content(_ row: JSONValue) throws -> [String: JSONValue] {
    switch row {
    case .array(let values):
      try require(values.count == columns.count, "a row with \(values.count) of \(columns.count) columns")
      return Dictionary(uniqueKeysWithValues: zip(columns, values))
    case .object(let members): return members
    default: throw Violation(description: "a row that is neither array nor object")
    }
  }

  /// Drops rows outside the window. A client may keep them, but this one must not, so that no error stays hidden.
  private mutating func dropInvisible() {
    guard let window else { return }
    let visible = window.offset..<window.offset + window.limit
    var offset = 0
    for section in sections.indices {
      for item in sections[section].rows.indices {
        if !visible.contains(offset) { sections[section].rows[item] = nil }
        offset += 1
      }
    }
  }
}

// Protocol 3.3, step by step.
extension ClientModel {
  private mutating func applyPatch(_ patch: JSONValue) throws {
    try require(isComplete, "a patch before the snapshot was complete")
    try require(patch.required("from").text() == version, "a patch from another version than the client has")
    let moves = try patch.list("moved").map { try Move($0) }
    var carried: [Path: [String: JSONValue]] = [:]
    try removeRows(patch, moves, &carried)
    for index in try patch.list("sectionsDeleted").map({ try $0.int() }) {
      try require(sections.indices.contains(index), "a deleted section that is not there")
      sections.remove(at: index)
    }
    try insertSections(patch)
    try putIn(patch, moves, carried)
    for update in try patch.list("updated").map({ try Move($0) }) { try merge(update.changes, at: update.to) }
    if let window = patch["window"] {
      self.window = (try window.required("offset").int(), try window.required("limit").int())
    }
    for fill in try patch.list("filled").map({ try $0.elements() }) { try set(fill[1], at: fill[0].int()) }
    for (name, value) in patch["alongside"]?.members ?? [:] { alongside[name] = value }
    try mergeTotals(patch)
    version = try patch.required("to").text()
    let next = try Int64(patch.required("commit").int())
    try require(next >= leastCommit, "a commit before the last one")
    commit = next
    leastCommit = next
    try require(total == patch.required("total").int(), "total is \(patch["total"]!), the client has \(total)")
    try require(!sections.contains { $0.rows.isEmpty } || sections.count == 1, "an empty section")
    dropInvisible()
  }

  private mutating func mergeTotals(_ patch: JSONValue) throws {
    for (name, value) in patch["totals"]?.members ?? [:] {
      try require(totals[name].map { $0 != value } == true, "a total that has not changed")
      totals[name] = value
    }
    var last = -1
    for entry in try patch.list("sectionTotals").map({ try $0.elements() }) {
      let section = try entry[0].int()
      try require(section > last && sections.indices.contains(section), "totals of section \(section)")
      last = section
      try require(entry[1].members?.isEmpty == false, "totals of a section that have not changed")
      for (name, value) in entry[1].members ?? [:] {
        try require(
          sections[section].totals[name].map { $0 != value } == true, "a section's total that has not changed")
        sections[section].totals[name] = value
      }
    }
  }

  private mutating func removeRows(
    _ patch: JSONValue, _ moves: [Move], _ carried: inout [Path: [String: JSONValue]]
  ) throws {
    let deleted = try patch.list("deleted").map { try Path($0) }
    try require(deleted == deleted.sorted(by: >), "deleted is not in descending order")
    let gone = Set(deleted).union(moves.map(\.from))
    try require(gone.count == deleted.count + moves.count, "a row in two lists")
    for path in gone.sorted(by: >) {
      try require(contains(path), "no row at old path \(path)")
      let row = sections[path.section].rows.remove(at: path.item)
      carried[path] = row
    }
  }

  private mutating func insertSections(_ patch: JSONValue) throws {
    for entry in try patch.list("sectionsInserted").map({ try $0.elements() }) {
      let info = entry[1]
      let count = try info.required("count").int()
      var section = Section(
        name: try info.required("name"), indexTitle: try info.required("indexTitle").text(),
        totals: info["totals"]?.members ?? [:],
        rows: Array(repeating: nil, count: count))
      if let rows = info["rows"] {
        section.rows = try rows.elements().map { try content($0) }
        try require(section.rows.count == count, "an inserted section with \(section.rows.count) of \(count) rows")
      }
      let index = try entry[0].int()
      try require(index <= sections.count, "a section inserted beyond the end")
      sections.insert(section, at: index)
    }
  }

  private mutating func putIn(_ patch: JSONValue, _ moves: [Move], _ carried: [Path: [String: JSONValue]]) throws {
    var arrivals: [(path: Path, row: [String: JSONValue]?, changes: [String: JSONValue])] = []
    for entry in try patch.list("inserted").map({ try $0.elements() }) {
      let path = Path(section: try entry[0].int(), item: try entry[1].int())
      arrivals.append((path, entry.count > 2 ? try content(entry[2]) : nil, [:]))
    }
    for move in moves { arrivals.append((move.to, carried[move.from], move.changes)) }
    for arrival in arrivals.sorted(by: { $0.path < $1.path }) {
      try require(sections.indices.contains(arrival.path.section), "no section for \(arrival.path)")
      try require(arrival.path.item <= sections[arrival.path.section].rows.count, "no place for \(arrival.path)")
      sections[arrival.path.section].rows.insert(arrival.row, at: arrival.path.item)
    }
    for arrival in arrivals { try merge(arrival.changes, at: arrival.path) }
  }

  private mutating func merge(_ changes: [String: JSONValue], at path: Path) throws {
    if changes.isEmpty { return }
    try require(contains(path), "no row at new path \(path)")
    guard var row = sections[path.section].rows[path.item] else {
      throw Violation(description: "changes for a row at \(path) whose contents the client has not")
    }
    for (column, value) in changes {
      try require(row[column] != nil, "a change of the unknown column \(column)")
      row[column] = value
    }
    sections[path.section].rows[path.item] = row
  }

  private func contains(_ path: Path) -> Bool {
    sections.indices.contains(path.section) && sections[path.section].rows.indices.contains(path.item)
  }

  struct Path: Hashable, Comparable, CustomStringConvertible {
    var section: Int
    var item: Int

    var description: String { "[\(section),\(item)]" }

    init(section: Int, item: Int) {
      self.section = section
      self.item = item
    }

    init(_ json: JSONValue) throws {
      let pair = try json.elements()
      self.init(section: try pair[0].int(), item: try pair[1].int())
    }

    static func < (left: Path, right: Path) -> Bool { (left.section, left.item) < (right.section, right.item) }
  }

  struct Move {
    var from: Path
    var to: Path
    var changes: [String: JSONValue]

    init(_ json: JSONValue) throws {
      let parts = try json.elements()
      from = try Path(parts[0])
      to = try Path(parts[1])
      changes = parts.count > 2 ? parts[2].members ?? [:] : [:]
    }
  }
}

func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
  if !condition { throw ClientModel.Violation(description: sentence()) }
}

/// Reads members of messages in tests: missing members and other types are thrown as errors.
extension JSONValue {
  package var members: [String: JSONValue]? {
    if case .object(let members) = self { return members }
    return nil
  }

  /// The elements of a list member; empty if it is absent.
  package func list(_ name: String) throws -> [JSONValue] { try self[name]?.elements() ?? [] }

  package func elements() throws -> [JSONValue] {
    guard case .array(let elements) = self else { throw ClientModel.Violation(description: "not an array: \(self)") }
    return elements
  }

  package func int() throws -> Int {
    guard case .integer(let value) = self else { throw ClientModel.Violation(description: "not an integer: \(self)") }
    return Int(value)
  }
}
