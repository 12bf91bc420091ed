import LiveQuery
import Wire

// Protocol 3.3, step by step.
extension LiveList {
  /// A row that comes to a new path, from the patch or from an old path.
  private struct Arrival {
    let path: IndexPath
    let row: Row?
  }

  mutating func applyPatch(_ message: JSONValue) throws(LiveClientError) -> ListPatch {
    try require(isComplete, "a patch before the snapshot was complete")
    try require(message.required("from").text() == version, "a patch from a version that this client does not have")
    var patch = ListPatch()
    let moves = try read(message.list("moved"))
    let carried = try removeRows(message, moves.map(\.move.from), &patch)
    try removeSections(message, &patch)
    try insertSections(message, &patch)
    try insertRows(message, moves.map(\.move), carried, &patch)
    let updates = try read(message.list("updated"))
    for (move, values) in moves + updates { try merge(values, at: move.to) }
    patch.moved = moves.map(\.move)
    patch.updated = updates.map(\.move)

    let total = sections.reduce(0) { $0 + $1.rows.count }
    try require(message.required("total").count() == total, "total is not what the patch leads to")
    self.total = total
    if let next = try message.window() { window = next }
    try fill(message.list("filled"))
    dropInvisible()
    for (name, value) in try message["alongside"]?.members() ?? [:] where alongside[name] != value {
      alongside[name] = value
      patch.alongside.append(name)
    }
    patch.alongside.sort()
    version = try message.required("to").text()
    commit = try message.required("commit").count()
    return patch
  }

  /// Entries `[old path, new path, changes]`.
  private func read(
    _ entries: [JSONValue]
  ) throws(LiveClientError) -> [(move: ListPatch.Move, values: [(column: Int, value: JSONValue)])] {
    var result: [(move: ListPatch.Move, values: [(column: Int, value: JSONValue)])] = []
    for entry in entries {
      let parts = try entry.elements(atLeast: 2)
      var values: [(column: Int, value: JSONValue)] = []
      for (name, value) in parts.count > 2 ? try parts[2].members() : [:] {
        guard let column = columns.firstIndex(of: name) else {
          throw LiveClientError("a change of the unknown column \(name)")
        }
        values.append((column, value))
      }
      values.sort { $0.column < $1.column }
      let move = ListPatch.Move(from: try parts[0].path(), to: try parts[1].path(), columns: values.map(\.column))
      result.append((move, values))
    }
    return result
  }

  /// - Parameter moved: the old paths of rows that come back elsewhere.
  /// - Returns: the contents of those.
  private mutating func removeRows(
    _ message: JSONValue, _ moved: [IndexPath], _ patch: inout ListPatch
  ) throws(LiveClientError) -> [IndexPath: Row?] {
    var deleted: [IndexPath] = []
    for path in try message.list("deleted") { deleted.append(try path.path()) }
    var carried: [IndexPath: Row?] = [:]
    for path in deleted + moved { try require(contains(path), "no row at \(path.section),\(path.item) to take away") }
    for path in moved { carried[path] = .some(sections[path.section].rows[path.item]) }
    for path in deleted.sorted() {
      patch.deleted.append(ListPatch.Deletion(path: path, row: sections[path.section].rows[path.item]))
    }
    let gone = Set(deleted).union(moved)
    try require(gone.count == deleted.count + moved.count, "a row that leaves twice")
    for (section, paths) in Dictionary(grouping: gone, by: \.section) {
      let items = Set(paths.map(\.item))
      let rows = sections[section].rows.enumerated()
      sections[section].rows = rows.filter { !items.contains($0.offset) }.map(\.element)
    }
    return carried
  }

  private mutating func removeSections(_ message: JSONValue, _ patch: inout ListPatch) throws(LiveClientError) {
    for entry in try message.list("sectionsDeleted") {
      let index = try entry.count()
      try require(sections.indices.contains(index), "no section \(index) to take away")
      patch.sectionsDeleted.append((index, sections[index].name))
      sections.remove(at: index)
    }
    patch.sectionsDeleted.reverse()
  }

  private mutating func insertSections(_ message: JSONValue, _ patch: inout ListPatch) throws(LiveClientError) {
    let total = try message.required("total").count()
    for entry in try message.list("sectionsInserted") {
      let parts = try entry.elements(atLeast: 2)
      let index = try parts[0].count()
      let count = try parts[1].required("count").count()
      try require(index <= sections.count && count <= total, "a section that has no place")
      var rows: [Row?] = Array(repeating: nil, count: count)
      if let given = parts[1]["rows"] {
        rows = []
        for row in try given.elements() { rows.append(try content(row)) }
        try require(rows.count == count, "a section of \(count) rows with \(rows.count) of them")
      }
      sections.insert(
        Section(
          name: try parts[1].required("name"), indexTitle: try parts[1].required("indexTitle").text(), rows: rows),
        at: index)
      patch.sectionsInserted.append(index)
    }
  }

  private mutating func insertRows(
    _ message: JSONValue, _ moves: [ListPatch.Move], _ carried: [IndexPath: Row?], _ patch: inout ListPatch
  ) throws(LiveClientError) {
    var arrivals = moves.map { Arrival(path: $0.to, row: carried[$0.from] ?? nil) }
    for entry in try message.list("inserted") {
      let parts = try entry.elements(atLeast: 2)
      let path = try entry.path()
      arrivals.append(Arrival(path: path, row: parts.count > 2 ? try content(parts[2]) : nil))
      patch.inserted.append(path)
    }
    for (section, arrivals) in Dictionary(grouping: arrivals, by: \.path.section) {
      try require(sections.indices.contains(section), "no section \(section) to put a row into")
      sections[section].rows = try merged(sections[section].rows, arrivals.sorted { $0.path < $1.path })
    }
  }

  /// - Parameter arrivals: those of one section, ascending; each stands at its path afterwards.
  private func merged(_ rows: [Row?], _ arrivals: [Arrival]) throws(LiveClientError) -> [Row?] {
    var result: [Row?] = []
    result.reserveCapacity(rows.count + arrivals.count)
    var next = 0
    for arrival in arrivals {
      let kept = arrival.path.item - result.count
      try require(kept >= 0 && kept <= rows.count - next, "no place for a row at item \(arrival.path.item)")
      result += rows[next..<next + kept]
      next += kept
      result.append(arrival.row)
    }
    return result + rows[next...]
  }

  private mutating func merge(
    _ values: [(column: Int, value: JSONValue)], at path: IndexPath
  ) throws(LiveClientError) {
    if values.isEmpty { return }
    try require(contains(path), "no row at \(path.section),\(path.item) to change")
    guard var row = sections[path.section].rows[path.item] else {
      throw LiveClientError("changes of a row whose contents this client does not have")
    }
    for (column, value) in values { row[column] = value }
    sections[path.section].rows[path.item] = row
  }

  /// Entries `[offset, row]`.
  private mutating func fill(_ entries: [JSONValue]) throws(LiveClientError) {
    if entries.isEmpty { return }
    var contents: [Int: Row] = [:]
    for entry in entries {
      let parts = try entry.elements(atLeast: 2)
      contents[try parts[0].count()] = try content(parts[1])
    }
    let offsets = contents.keys.sorted()
    try require(offsets[offsets.count - 1] < total, "a row beyond the end of the result")
    var places: [(IndexPath, Row?)] = []
    forEach(in: offsets[0]..<offsets[offsets.count - 1] + 1) { path, offset in
      if let row = contents[offset] { places.append((path, row)) }
    }
    for (path, row) in places { sections[path.section].rows[path.item] = row }
  }

  /// Contents outside of the window are the server's to forget as well: it will not send their changes.
  private mutating func dropInvisible() {
    guard window != nil else { return }
    let visible = visible
    var start = 0
    for section in sections.indices {
      let count = sections[section].rows.count
      let kept = visible.clamped(to: start..<start + count)
      for item in 0..<count where !kept.contains(start + item) && sections[section].rows[item] != nil {
        sections[section].rows[item] = nil
      }
      start += count
    }
  }
}
