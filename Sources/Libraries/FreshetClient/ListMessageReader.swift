import FreshetResults
import LiveQuery
import Wire

/// Reads what a server sends to one subscription: protocol 3.2. What is missing or of another type is thrown.
struct ListMessageReader {
  /// Of the last snapshot.
  private var columns: [String] = []
  private var indexes: [String: Int] = [:]

  /// - Returns: nil for a message that concerns no list's state.
  mutating func read(_ json: JSONValue) throws(FreshetError) -> ListMessage? {
    switch json["type"] {
    case .string("snapshot"): return .snapshot(try snapshot(json))
    case .string("rows"): return .rows(try rows(json, version: try json.required("version").text()))
    case .string("patch"): return .patch(try patch(json))
    case .string("located"):
      guard let path = json["path"], path != .null else { return .located(nil) }
      return .located(try path.path())
    case .string("error"): return .error(try FreshetError(json), isFatal: json["fatal"] == .bool(true))
    default: return nil
    }
  }

  private mutating func snapshot(_ json: JSONValue) throws(FreshetError) -> ListSnapshot {
    columns = try json.list("columns") { (value) throws(FreshetError) in try value.text() }
    indexes = Dictionary(zip(columns, columns.indices)) { first, _ in first }
    let version = try json.required("version").text()
    return ListSnapshot(
      version: version, commit: Int64(try json.required("commit").count()), columns: columns,
      key: try json.list("key") { (value) throws(FreshetError) in try value.text() },
      total: try json.required("total").count(),
      sections: try json.list("sections") { (value) throws(FreshetError) in try SectionInfo(value) },
      window: try json.window(), alongside: try json.alongside(), order: RowOrder(members: json),
      rows: try rows(json, version: version))
  }

  private func rows(_ json: JSONValue, version: String) throws(FreshetError) -> ListRows {
    ListRows(
      version: version, window: try json.window(), offset: try json["offset"]?.count() ?? 0,
      rows: try json.list("rows") { (value) throws(FreshetError) in try row(value) },
      isComplete: json["complete"] != .bool(false))
  }

  private func row(_ json: JSONValue) throws(FreshetError) -> [SQLValue] {
    try json.elements { (value) throws(FreshetError) in try SQLValue(json: value, what: "a value") }
  }

  private func patch(_ json: JSONValue) throws(FreshetError) -> ListPatch {
    var patch = ListPatch(
      from: try json.required("from").text(), to: try json.required("to").text(),
      commit: Int64(try json.required("commit").count()), total: try json.required("total").count())
    patch.deleted = try json.list("deleted") { (value) throws(FreshetError) in try value.path() }
    patch.sectionsDeleted = try json.list("sectionsDeleted") { (value) throws(FreshetError) in try value.count() }
    patch.sectionsInserted = try json.list("sectionsInserted") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      let given = parts[1]["rows"]
      return .init(
        index: try parts[0].count(), info: try SectionInfo(parts[1]),
        rows: given == nil ? nil : try parts[1].list("rows") { (value) throws(FreshetError) in try row(value) })
    }
    patch.inserted = try json.list("inserted") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      return .init(path: try value.path(), row: parts.count > 2 ? try row(parts[2]) : nil)
    }
    patch.moved = try json.list("moved") { (value) throws(FreshetError) in try change(value) }
    patch.updated = try json.list("updated") { (value) throws(FreshetError) in try change(value) }
    patch.window = try json.window()
    patch.filled = try json.list("filled") { (value) throws(FreshetError) in
      let parts = try value.parts(2)
      return (try parts[0].count(), try row(parts[1]))
    }
    patch.alongside = try json.alongside()
    patch.order = RowOrder(members: json)
    return patch
  }

  private func change(_ json: JSONValue) throws(FreshetError) -> ListPatch.Change {
    let parts = try json.parts(2)
    var values: [(column: Int, value: SQLValue)] = []
    for (name, value) in parts.count > 2 ? try parts[2].members() : [:] {
      guard let column = indexes[name] else { throw .unreadable("a change of the unknown column \(name)") }
      values.append((column, try SQLValue(json: value, what: name)))
    }
    return .init(from: try parts[0].path(), to: try parts[1].path(), values: values)
  }
}

extension FreshetError {
  static func unreadable(_ sentence: String) -> FreshetError { FreshetError(.internal, sentence) }

  /// The members of an error message.
  init(_ json: JSONValue) throws(FreshetError) {
    self.init(ErrorCode(rawValue: try json.required("code").text()), try json.required("message").text())
  }
}

extension SectionInfo {
  fileprivate init(_ json: JSONValue) throws(FreshetError) {
    self.init(
      name: try SQLValue(json: try json.required("name"), what: "a section's name"),
      indexTitle: try json.required("indexTitle").text(), count: try json.required("count").count())
  }
}

extension JSONValue {
  func required(_ name: String) throws(FreshetError) -> JSONValue {
    guard let value = self[name] else { throw .unreadable("a message without the member \(name)") }
    return value
  }

  /// The elements of a list member; none when it is absent.
  func list<Element>(
    _ name: String, _ read: (JSONValue) throws(FreshetError) -> Element
  ) throws(FreshetError) -> [Element] {
    try self[name]?.elements(read) ?? []
  }

  func elements<Element>(_ read: (JSONValue) throws(FreshetError) -> Element) throws(FreshetError) -> [Element] {
    var result: [Element] = []
    for element in try parts(0) { result.append(try read(element)) }
    return result
  }

  func parts(_ least: Int) throws(FreshetError) -> [JSONValue] {
    guard case .array(let elements) = self, elements.count >= least else {
      throw .unreadable("\(kind) where a list of \(least) or more should be")
    }
    return elements
  }

  /// A whole number from 0 up.
  func count() throws(FreshetError) -> Int {
    guard case .integer(let value) = self, value >= 0 else { throw .unreadable("\(kind) where a count should be") }
    return Int(value)
  }

  func text() throws(FreshetError) -> String {
    guard case .string(let value) = self else { throw .unreadable("\(kind) where a string should be") }
    return value
  }

  func members() throws(FreshetError) -> [String: JSONValue] {
    guard case .object(let value) = self else { throw .unreadable("\(kind) where an object should be") }
    return value
  }

  /// `[section, item]`.
  func path() throws(FreshetError) -> LiveQuery.IndexPath {
    let pair = try parts(2)
    return LiveQuery.IndexPath(section: try pair[0].count(), item: try pair[1].count())
  }

  /// The member `window`, if there is one.
  func window() throws(FreshetError) -> Window? {
    guard let window = self["window"], window != .null else { return nil }
    return Window(offset: try window.required("offset").count(), limit: try window.required("limit").count())
  }

  fileprivate func alongside() throws(FreshetError) -> [NamedValue] {
    var values: [NamedValue] = []
    for (name, value) in try self["alongside"]?.members() ?? [:] {
      values.append(NamedValue(name: name, value: try SQLValue(json: value, what: name)))
    }
    return values.sorted { $0.name < $1.name }
  }
}
