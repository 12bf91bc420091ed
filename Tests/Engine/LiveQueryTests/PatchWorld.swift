import LiveQuery
import RankedCollections
import TestSupport
import Wire

/// A row of a small world: sorted by section, then name, then id.
struct WorldRow: Hashable {
  var section: String
  var name: String
  var id: Int
  var depth: Int

  var json: JSONValue { .array([.integer(Int64(id)), .string(name), .integer(Int64(depth))]) }
}

/// One state of a small world, as a tree and as a client must have it.
struct World {
  static let columns = ["id", "name", "depth"]
  static let order: RowOrder = {
    func term(_ column: String) -> RowOrder.Term {
      var term = RowOrder.Term()
      term.column = column
      return term
    }
    var order = RowOrder()
    order.terms = [term("name"), term("id")]
    order.section = RowOrder.Term()
    return order
  }()

  var rows: [WorldRow]
  var tree: SectionedTree

  /// - Parameter hasTotals: whether the list and its sections have totals of `depth`.
  init(_ rows: [WorldRow], hasTotals: Bool = false) throws {
    self.rows = rows.sorted { ($0.section, $0.name, $0.id) < ($1.section, $1.name, $1.id) }
    var builder = SectionedTreeBuilder()
    for row in rows {
      var entry = RankedEntry()
      entry.append { $0 += Array(row.name.utf8) + [0] }
      entry.startIdentity()
      entry.append { $0 += [UInt8(row.id >> 8), UInt8(row.id & 255)] }
      entry.finish()
      var label = PackedValues()
      label.append(SQLValue.text(row.section))
      label.append(SQLValue.text(String(row.section.prefix(1))))
      let stamp = RowStamp(UInt64(row.depth) << 32 ^ UInt64(bitPattern: Int64(row.name.hashValue)))
      Array(row.section.utf8).withUnsafeBytes { section in
        entry.bytes.withUnsafeBytes { builder.append(section: section, entry: $0, stamp: stamp) { label.bytes } }
      }
    }
    try builder.sort()
    var editor = try builder.finish()
    if hasTotals {
      editor.setTotals(World.totals(of: rows))
      for (section, rows) in Dictionary(grouping: rows, by: \.section) {
        Array(section.utf8).withUnsafeBytes { editor.setTotals(World.totals(of: rows), ofSection: $0) }
      }
    }
    tree = editor.tree
  }

  private static func totals(of rows: [WorldRow]) -> [UInt8] {
    var totals = PackedValues()
    totals.appendTotal("feet", .integer(Int64(rows.reduce(0) { $0 + $1.depth })))
    totals.appendTotal("n", .integer(Int64(rows.count)))
    return totals.bytes
  }

  var sectionNames: [String] {
    rows.map(\.section).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  func contents(of wanted: [SectionedTree.Row]) -> PackedRows {
    var packed = PackedRows(columnCount: 3)
    for place in wanted {
      let row = rows[tree.offset(section: place.section, item: place.item)]
      packed.appendRow {
        $0.append(Int64(row.id))
        $0.append(SQLValue.text(row.name))
        $0.append(Int64(row.depth))
      }
    }
    return packed
  }

  func snapshot(window: Window?, version: String) throws -> JSONValue {
    let range = window?.range(total: tree.count) ?? 0..<tree.count
    var wanted: [SectionedTree.Row] = []
    tree.forEachRow(in: range) { wanted.append($0) }
    let version = ResultVersion(number: 0, tree: tree, alongside: [])
    return try ServerMessage.snapshot(
      Snapshot(
        version: "v", commit: 0, columns: World.columns, key: ["id"], total: tree.count, sections: version.sections,
        window: window, offset: range.lowerBound, rows: contents(of: wanted), range: 0..<wanted.count,
        totals: version.totals, order: World.order)
    ).parsed
  }

  /// The columns in which a row differs between this state and the new one.
  private func changedColumns(of place: SectionedTree.Row, in new: World) -> ColumnSet {
    let row = new.rows[new.tree.offset(section: place.section, item: place.item)]
    guard let was = rows.first(where: { $0.id == row.id }) else { return .all }
    var set = ColumnSet()
    if was.name != row.name { set.insert(1) }
    if was.depth != row.depth { set.insert(2) }
    return set
  }

  /// The patch to another state as the message a client gets.
  func patch(to new: World, window: Window?) throws -> (patch: Patch, message: JSONValue) {
    let patch = VersionDifference(from: tree, to: new.tree)!.patch(window: window)
    let message = PatchMessage(
      from: "v", to: "v", commit: 0, total: new.tree.count, columns: World.columns, patch: patch,
      rows: new.contents(of: patch.contents), changed: patch.contents.map { changedColumns(of: $0, in: new) })
    return (patch, try ServerMessage.patch(message).parsed)
  }
}

extension ServerMessage {
  /// The message as a client reads it.
  fileprivate var parsed: JSONValue {
    get throws {
      var writer = JSONWriter()
      write(to: &writer, id: "a", .arrays)
      return try JSONParser.parse(writer.bytes)
    }
  }
}
