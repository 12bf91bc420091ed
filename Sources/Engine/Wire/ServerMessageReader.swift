package import LiveQuery

/// Reads a server's messages to one subscription: protocol 3.2. Throws if members are missing or have the wrong type.
package struct ServerMessageReader {
  /// The columns of the last snapshot.
  private var columns: [String] = []
  private var indexes: [String: Int] = [:]

  package init() {}

  /// - Returns: nil for a message that concerns no list.
  package mutating func read(_ json: JSONValue) throws(FreshetError) -> ServerMessage? {
    switch json["type"] {
    case .string("snapshot"): return .snapshot(try snapshot(json))
    case .string("rows"): return .rows(try rows(json))
    case .string("patch"): return .patch(try patch(json))
    case .string("located"):
      guard let path = json["path"], path != .null else { return .located(key: [], place: nil) }
      return .located(key: [], place: (try path.path(), try json["offset"]?.count() ?? 0))
    case .string("error"): return .error(try FreshetError(json), isFatal: json["fatal"] == .bool(true))
    default: return nil
    }
  }

  private mutating func snapshot(_ json: JSONValue) throws(FreshetError) -> Snapshot {
    columns = try json.list("columns") { (value) throws(FreshetError) in try value.text() }
    indexes = Dictionary(zip(columns, columns.indices)) { first, _ in first }
    let rows = try rows(json)
    var snapshot = Snapshot(
      version: rows.version, commit: Int64(try json.required("commit").count()), columns: columns,
      key: try json.list("key") { (value) throws(FreshetError) in try value.text() },
      total: try json.required("total").count(),
      sections: SectionList(
        try json.list("sections") { (value) throws(FreshetError) in try SectionInfo(value) }),
      window: rows.window, offset: rows.offset, rows: rows.rows, range: rows.range,
      alongside: try json.values("alongside") ?? [],
      totals: try json.values("totals") ?? [], order: RowOrder(members: json) ?? RowOrder())
    snapshot.isPart = rows.isPart
    return snapshot
  }

  private func rows(_ json: JSONValue) throws(FreshetError) -> RowsMessage {
    var rows = PackedRows(columnCount: columns.count)
    _ = try json.list("rows") { (value) throws(FreshetError) in try append(value, to: &rows) }
    var message = RowsMessage(
      version: try json.required("version").text(), columns: columns, window: try json.window(),
      offset: try json["offset"]?.count() ?? 0, rows: rows, range: 0..<rows.count)
    message.isPart = json["complete"] == .bool(false)
    return message
  }

  /// - Returns: the row's index.
  @discardableResult
  private func append(_ json: JSONValue, to rows: inout PackedRows) throws(FreshetError) -> Int {
    let values = try json.elements { (value) throws(FreshetError) in try SQLValue(json: value, what: "a value") }
    guard values.count == columns.count else {
      throw .unreadable("a row of \(values.count) values in \(columns.count) columns")
    }
    rows.appendRow { row in for value in values { row.append(value) } }
    return rows.count - 1
  }

  private func patch(_ json: JSONValue) throws(FreshetError) -> PatchMessage {
    var patch = Patch()
    var rows = PackedRows(columnCount: columns.count)
    var listed: [Int: [Int]] = [:]
    patch.deleted = try json.list("deleted") { (value) throws(FreshetError) in try value.path() }
    patch.sectionsDeleted = try json.list("sectionsDeleted") { (value) throws(FreshetError) in try value.count() }
    patch.sectionsInserted = try json.list("sectionsInserted") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      let start = rows.count
      _ = try parts[1].list("rows") { (value) throws(FreshetError) in try append(value, to: &rows) }
      return .init(
        index: try parts[0].count(), info: try SectionInfo(parts[1]),
        contents: parts[1]["rows"] == nil ? nil : start..<rows.count)
    }
    patch.inserted = try json.list("inserted") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      return .init(path: try value.path(), content: parts.count > 2 ? try append(parts[2], to: &rows) : nil)
    }
    patch.moved = try json.list("moved") { (value) throws(FreshetError) in try change(value, &rows, &listed) }
    patch.updated = try json.list("updated") { (value) throws(FreshetError) in try change(value, &rows, &listed) }
    patch.filled = try json.list("filled") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      return (try parts[0].count(), try append(parts[1], to: &rows))
    }
    patch.totals = try json.values("totals") ?? []
    patch.sectionTotals = try json.list("sectionTotals") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      return .init(section: try parts[0].count(), changes: try parts[1].values())
    }
    patch.window = try json.window()
    let columnsOfRow = (0..<rows.count).map { listed[$0] ?? [] }
    return PatchMessage(
      from: try json.required("from").text(), to: try json.required("to").text(),
      commit: Int64(try json.required("commit").count()), total: try json.required("total").count(),
      alongside: try json.values("alongside"), order: RowOrder(members: json), columns: columns,
      patch: patch, rows: rows,
      changed: columnsOfRow.map { columns in
        var set = ColumnSet()
        for column in columns { set.insert(column) }
        return set
      }, listed: columnsOfRow)
  }

  private func change(
    _ json: JSONValue, _ rows: inout PackedRows, _ listed: inout [Int: [Int]]
  ) throws(FreshetError) -> Patch.Change {
    let parts = try json.parts(2)
    var values: [Int: SQLValue] = [:]
    if parts.count > 2 {
      guard case .object(let members) = parts[2] else { throw .unreadable("changes that are \(parts[2].kind)") }
      for (name, value) in members {
        guard let column = indexes[name] else { throw .unreadable("a change of the unknown column \(name)") }
        values[column] = try SQLValue(json: value, what: name)
      }
    }
    let change = Patch.Change(
      from: try parts[0].path(), to: try parts[1].path(), content: values.isEmpty ? nil : rows.count)
    if values.isEmpty { return change }
    listed[rows.count] = values.keys.sorted()
    rows.appendRow { row in for column in columns.indices { row.append(values[column] ?? .null) } }
    return change
  }
}

extension FreshetError {
  package static func unreadable(_ sentence: String) -> FreshetError { FreshetError(.internal, sentence) }

  /// The members of an error message.
  package init(_ json: JSONValue) throws(FreshetError) {
    self.init(ErrorCode(rawValue: try json.required("code").text()), try json.required("message").text())
  }
}

extension SectionInfo {
  fileprivate init(_ json: JSONValue) throws(FreshetError) {
    self.init(
      name: try SQLValue(json: try json.required("name"), what: "a section's name"),
      indexTitle: try json.required("indexTitle").text(), count: try json.required("count").count(),
      totals: try json.values("totals") ?? [])
  }
}

extension JSONValue {
  package func required(_ name: String) throws(FreshetError) -> JSONValue {
    guard let value = self[name] else { throw .unreadable("a message without the member \(name)") }
    return value
  }

  /// The elements of a member that is a list; empty if the member is missing.
  package func list<Element>(
    _ name: String, _ read: (JSONValue) throws(FreshetError) -> Element
  ) throws(FreshetError) -> [Element] {
    try self[name]?.elements(read) ?? []
  }

  package func elements<Element>(_ read: (JSONValue) throws(FreshetError) -> Element) throws(FreshetError) -> [Element]
  {
    var result: [Element] = []
    for element in try parts(0) { result.append(try read(element)) }
    return result
  }

  package func parts(_ least: Int) throws(FreshetError) -> [JSONValue] {
    guard case .array(let elements) = self, elements.count >= least else {
      throw .unreadable("\(kind) where a list of \(least) or more should be")
    }
    return elements
  }

  /// A whole number that is not negative.
  package func count() throws(FreshetError) -> Int {
    guard case .integer(let value) = self, value >= 0 else { throw .unreadable("\(kind) where a count should be") }
    return Int(value)
  }

  package func text() throws(FreshetError) -> String {
    guard case .string(let value) = self else { throw .unreadable("\(kind) where a string should be") }
    return value
  }

  /// `[section, item]`.
  func path() throws(FreshetError) -> IndexPath {
    let pair = try parts(2)
    return IndexPath(section: try pair[0].count(), item: try pair[1].count())
  }

  /// The member `window`, if there is one.
  func window() throws(FreshetError) -> Window? {
    guard let window = self["window"], window != .null else { return nil }
    return Window(offset: try window.required("offset").count(), limit: try window.required("limit").count())
  }

  /// The values by name in a member, in the order of their names.
  fileprivate func values(_ name: String) throws(FreshetError) -> [NamedValue]? {
    guard let json = self[name], json != .null else { return nil }
    return try json.values()
  }

  fileprivate func values() throws(FreshetError) -> [NamedValue] {
    guard case .object(let members) = self else { throw .unreadable("\(kind) where an object should be") }
    var values: [NamedValue] = []
    for (name, value) in members { values.append(NamedValue(name: name, value: try SQLValue(json: value, what: name))) }
    return values.sorted { $0.name < $1.name }
  }
}
