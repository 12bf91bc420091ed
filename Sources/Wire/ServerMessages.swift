package import LiveQuery
import RankedCollections

/// A message to a client without the subscription's `id`: `{"type":"…","id":` … `,` body `}`. The body is the same for all
/// who share a result, so it is written once.
package struct MessageBody: Sendable {
  package var type: StaticString
  /// Members, without braces.
  package var members: [UInt8]

  /// The whole message for the subscription `id`, which is laid out as JSON already, quotes included.
  package func message(id: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(members.count + id.count + 40)
    bytes.append(contentsOf: "{\"type\":\"".utf8)
    type.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: "\",\"id\":".utf8)
    bytes += id
    if !members.isEmpty { bytes.append(UInt8(ascii: ",")) }
    bytes += members
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// The whole message for somebody without a subscription: over HTTP.
  package var standalone: [UInt8] {
    Array("{\"type\":\"\(type)\",".utf8) + members + [UInt8(ascii: "}")]
  }

  /// - Parameter size: about what the members take.
  init(_ type: StaticString, size: Int = 64, _ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(reserving: size)
    body(&writer)
    self.init(type: type, members: writer.bytes)
  }

  private init(type: StaticString, members: [UInt8]) {
    self.type = type
    self.members = members
  }
}

extension MessageBody {
  package static func snapshot(_ contents: Snapshot, _ layout: RowLayout) -> MessageBody {
    MessageBody(type: "snapshot", members: contents.message(layout.shape) { members(of: contents, layout) })
  }

  private static func members(of contents: Snapshot, _ layout: RowLayout) -> [UInt8] {
    let sections = contents.sections.json { MessageBody.sections($0) }
    // Most often enough: growing copies what was written.
    var writer = JSONWriter(reserving: sections.count + contents.range.count * 96 + 512)
    writer.member("version", contents.version)
    writer.name("commit")
    writer.integer(contents.commit)
    writer.strings("columns", contents.columns)
    writer.strings("key", contents.key)
    writer.member("total", contents.total)
    writer.name("sections")
    writer.value(encoded: sections)
    if let window = contents.window { writer.member("window", window) }
    writer.member("offset", contents.offset)
    writer.member("rows", contents.rows, contents.range, layout)
    writer.member("complete", contents.isComplete)
    if !contents.alongside.isEmpty { writer.member("alongside", contents.alongside) }
    return writer.bytes
  }

  private static func sections(_ infos: [SectionInfo]) -> [UInt8] {
    var writer = JSONWriter(reserving: infos.count * 64 + 2)
    writer.array { list in for info in infos { list.object { $0.members(of: info) } } }
    return writer.bytes
  }

  /// Rows from `offset` on: a part of a snapshot, or the answer to `window` (with the new window) or `fetch`.
  package static func rows(
    version: String, window: Window?, offset: Int, rows: PackedRows, range: Range<Int>, isComplete: Bool,
    _ layout: RowLayout
  ) -> MessageBody {
    MessageBody("rows") { writer in
      writer.member("version", version)
      if let window { writer.member("window", window) }
      writer.member("offset", offset)
      writer.member("rows", rows, range, layout)
      writer.member("complete", isComplete)
    }
  }

  /// - Parameter place: nil when no row of the result has the key.
  package static func located(key: [SQLValue], place: (path: IndexPath, offset: Int)?) -> MessageBody {
    MessageBody("located") { writer in
      writer.name("key")
      if key.count == 1 { writer.value(key[0]) } else { writer.array { for value in key { $0.value(value) } } }
      writer.name("path")
      guard let (path, offset) = place else {
        writer.null()
        writer.name("offset")
        return writer.null()
      }
      writer.path(path)
      writer.member("offset", offset)
    }
  }

  package static func committed(changes: Int, commit: Int64) -> MessageBody {
    MessageBody("committed") { writer in
      writer.member("changes", changes)
      writer.name("commit")
      writer.integer(commit)
    }
  }

  /// The first message on a connection.
  package static func hello(server: String, epoch: String, limits: [(name: String, value: Int)]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("type", "hello")
      object.member("protocol", "freshet.v1")
      object.member("server", server)
      object.member("epoch", epoch)
      object.name("limits")
      object.object {
        for (name, value) in limits {
          $0.name(escaping: name)
          $0.integer(value)
        }
      }
    }
    return writer.bytes
  }

  package static let unsubscribed = MessageBody("unsubscribed") { _ in }

  /// The answer to `ping`.
  package static let pong = MessageBody("pong") { _ in }

  package static func error(_ error: FreshetError, isFatal: Bool) -> MessageBody {
    MessageBody("error") { $0.members(of: error, isFatal: isFatal) }
  }

  /// An error that belongs to no subscription.
  package static func anonymous(_ error: FreshetError) -> [UInt8] {
    var writer = JSONWriter()
    writer.object {
      $0.member("type", "error")
      $0.members(of: error, isFatal: false)
    }
    return writer.bytes
  }
}

extension JSONWriter {
  mutating func strings(_ name: StaticString, _ values: [String]) {
    self.name(name)
    array { for value in values { $0.string(value) } }
  }

  mutating func path(_ path: IndexPath) {
    array {
      $0.integer(path.section)
      $0.integer(path.item)
    }
  }

  mutating func member(_ name: StaticString, _ values: [NamedValue]) {
    self.name(name)
    object {
      for value in values {
        $0.name(escaping: value.name)
        $0.value(value.value)
      }
    }
  }

  mutating func member(_ name: StaticString, _ window: Window) {
    self.name(name)
    object {
      $0.member("offset", window.offset)
      $0.member("limit", window.limit)
    }
  }

  mutating func members(of section: SectionInfo) {
    name("name")
    value(section.name)
    member("indexTitle", section.indexTitle)
    member("count", section.count)
  }

  mutating func members(of error: FreshetError, isFatal: Bool) {
    member("code", error.code.rawValue)
    member("message", error.message)
    member("retryable", error.code.isRetryable)
    member("fatal", isFatal)
  }

  mutating func member(_ name: StaticString, _ rows: PackedRows, _ range: Range<Int>, _ layout: RowLayout) {
    self.name(name)
    array { list in rows.forEachRow(in: range) { list.row(&$0, layout) } }
  }
}

/// How the rows of one query are written: the shape, and each column's name laid out as a JSON member name.
package struct RowLayout: Sendable {
  package let shape: Shape
  let columns: [String]
  /// Where every row has them, names are written as JSON once.
  let names: [[UInt8]]

  package init(columns: [String], shape: Shape) {
    self.shape = shape
    self.columns = columns
    let isNaming = shape == .objects
    names = (isNaming ? columns : []).map { column in
      var writer = JSONWriter()
      writer.string(column)
      return writer.bytes + [UInt8(ascii: ":")]
    }
  }
}

extension JSONWriter {
  /// A whole row in the layout's shape.
  mutating func row(_ rows: PackedRows, _ index: Int, _ layout: RowLayout) {
    rows.withRow(index) { row(&$0, layout) }
  }

  private mutating func row(_ reader: inout PackedValueReader, _ layout: RowLayout) {
    switch layout.shape {
    case .arrays:
      array { for _ in layout.columns { $0.value(reader.next()) } }
    case .objects:
      object {
        for name in layout.names {
          $0.name(encoded: name)
          $0.value(reader.next())
        }
      }
    }
  }

  /// The columns of a row that `changed` has, always an object.
  mutating func changes(_ rows: PackedRows, _ index: Int, _ layout: RowLayout, _ changed: ColumnSet) {
    rows.withRow(index) { reader in
      object {
        for (column, name) in layout.columns.enumerated() {
          let value = reader.next()
          guard changed.contains(column) else { continue }
          $0.name(escaping: name)
          $0.value(value)
        }
      }
    }
  }
}
