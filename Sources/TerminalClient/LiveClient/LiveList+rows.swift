import LiveQuery
import Wire

// Snapshots, their parts, and windows.
extension LiveList {
  mutating func applySnapshot(_ message: JSONValue) throws(LiveClientError) -> ListChange {
    self = LiveList()
    for column in try message.list("columns") { columns.append(try column.text()) }
    version = try message.required("version").text()
    commit = try message.required("commit").count()
    total = try message.required("total").count()
    var rest = total
    for section in try message.list("sections") {
      let count = try section.required("count").count()
      // Before the memory is taken: counts are the server's word.
      try require(count <= rest, "section counts and total disagree")
      rest -= count
      sections.append(
        Section(
          name: try section.required("name"), indexTitle: try section.required("indexTitle").text(),
          rows: Array(repeating: nil, count: count)))
    }
    try require(rest == 0, "section counts and total disagree")
    window = try message.window()
    if let values = message["alongside"] { alongside = try values.members() }
    try place(message)
    return .replaced
  }

  mutating func applyRows(_ message: JSONValue) throws(LiveClientError) -> ListChange {
    try require(message.required("version").text() == version, "rows of a version that this client does not have")
    let before = visible
    if let next = try message.window() {
      window = next
      forget(before, outside: visible)
    }
    try place(message)
    return .filled
  }

  /// Puts in the rows of a message that says where they begin.
  private mutating func place(_ message: JSONValue) throws(LiveClientError) {
    let rows = try message.list("rows")
    let start = try message["offset"]?.count() ?? 0
    try require(start <= total && rows.count <= total - start, "rows beyond the end of the result")
    var contents: [Row?] = []
    for row in rows { contents.append(try content(row)) }
    let visible = visible
    forEachPath(in: start..<start + rows.count) { list, path, offset in
      if visible.contains(offset) { list.sections[path.section].rows[path.item] = contents[offset - start] }
    }
    received += rows.count
    isComplete = message["complete"] != .bool(false)
  }

  func content(_ row: JSONValue) throws(LiveClientError) -> Row {
    let values = try row.elements()
    try require(values.count == columns.count, "a row of \(values.count) values in \(columns.count) columns")
    return values
  }

  /// Lets go of contents that were visible and are no more.
  mutating func forget(_ before: Range<Int>, outside visible: Range<Int>) {
    forEachPath(in: before) { list, path, offset in
      if !visible.contains(offset) { list.sections[path.section].rows[path.item] = nil }
    }
  }

  private mutating func forEachPath(in range: Range<Int>, _ body: (inout LiveList, IndexPath, Int) -> Void) {
    var places: [(IndexPath, Int)] = []
    forEach(in: range) { places.append(($0, $1)) }
    for (path, offset) in places { body(&self, path, offset) }
  }
}
