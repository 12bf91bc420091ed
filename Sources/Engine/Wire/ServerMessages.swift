package import LiveQuery

/// A server's message to a subscription: protocol 3.2.
///
/// As JSON it is `{"type":"…","id":` … `,` members `}`. The members are the same for all subscriptions that share a
/// result.
package enum ServerMessage {
  case snapshot(Snapshot)
  case rows(RowsMessage)
  case patch(PatchMessage)
  case unsubscribed
  /// The place of the row with a key; nil if the result has no such row.
  case located(key: [SQLValue], place: (path: IndexPath, offset: Int)?)
  case committed(CommittedTransaction)
  /// The answer to `ping`.
  case pong
  /// The answer to `authenticate`.
  ///
  /// - Parameter expires: in seconds since 1970; nil for never.
  case authenticated(role: String, expires: Int64?)
  case changes(ChangesMessage)
  case error(FreshetError, isFatal: Bool)
}

/// Rows from an offset on: a part of a snapshot, or the answer to `window` or `fetch`.
package struct RowsMessage: Sendable {
  package var version: String
  package var columns: [String]
  /// The new window, in the answer to `window`.
  package var window: Window?
  /// The offset in the result of the first row of `rows`.
  package var offset: Int
  package var rows: PackedRows
  /// The range of `rows` that this message contains.
  package var range: Range<Int>
  /// Whether, in a message that was read, `rows` are only a part, and others follow.
  package var isPart = false
  package var isComplete: Bool { range.upperBound == rows.count && !isPart }

  package init(
    version: String, columns: [String], window: Window?, offset: Int, rows: PackedRows, range: Range<Int>
  ) {
    self.version = version
    self.columns = columns
    self.window = window
    self.offset = offset
    self.rows = rows
    self.range = range
  }
}

extension ServerMessage {
  package var type: StaticString {
    switch self {
    case .snapshot: "snapshot"
    case .rows: "rows"
    case .patch: "patch"
    case .unsubscribed: "unsubscribed"
    case .located: "located"
    case .committed: "committed"
    case .pong: "pong"
    case .authenticated: "authenticated"
    case .changes(let message): message.type
    case .error: "error"
    }
  }

  /// Writes the whole message for a subscription. Over HTTP it has no id.
  ///
  /// - Parameter members: the result of `members`, if several subscriptions get the message.
  package func write(to writer: inout JSONWriter, id: String?, _ shape: Shape, members: [UInt8]? = nil) {
    writer.object {
      $0.head(type, id)
      if let members { $0.members(encoded: members) } else { writeMembers(to: &$0, shape) }
    }
  }

  /// The members without braces.
  package func members(_ shape: Shape) -> [UInt8] {
    var writer = JSONWriter(reserving: likelyLength)
    writeMembers(to: &writer, shape)
    return writer.bytes
  }

  /// An estimate that is usually long enough, because growing the buffer copies what was written.
  package var likelyLength: Int {
    switch self {
    case .snapshot(let snapshot): snapshot.range.count * 96 + 1_024
    case .rows(let rows): rows.range.count * 96 + 512
    default: 512
    }
  }

  private func writeMembers(to writer: inout JSONWriter, _ shape: Shape) {
    switch self {
    case .snapshot(let snapshot):
      writer.members(encoded: snapshot.message(shape) { snapshot.members(shape, reserving: likelyLength) })
    case .rows(let rows): rows.write(to: &writer, shape)
    case .patch(let patch): patch.write(to: &writer, shape)
    case .unsubscribed, .pong: break
    case .located(let key, let place): writer.located(key, place)
    case .committed(let committed): writer.committed(committed)
    case .authenticated(let role, let expires):
      writer.member("role", role)
      writer.name("expires")
      if let expires { writer.integer(expires) } else { writer.null() }
    case .changes(let message): message.write(to: &writer)
    case .error(let error, let isFatal): writer.members(of: error, isFatal: isFatal)
    }
  }

  /// The first message on a connection.
  package static func writeHello(
    to writer: inout JSONWriter, server: String, epoch: String, limits: [(name: String, value: Int)]
  ) {
    writer.object { object in
      object.member("type", "hello" as StaticString)
      object.member("protocol", "freshet.v1" as StaticString)
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
  }
}

extension RowsMessage {
  fileprivate func write(to writer: inout JSONWriter, _ shape: Shape) {
    writer.member("version", version)
    if let window { writer.member("window", window) }
    writer.member("offset", offset)
    writer.member("rows", rows, range, RowLayout(columns: columns, shape: shape))
    writer.member("complete", isComplete)
  }
}

extension Snapshot {
  fileprivate func members(_ shape: Shape, reserving length: Int) -> [UInt8] {
    let encodedSections = sections.encoded { Self.json($0) }
    var writer = JSONWriter(reserving: encodedSections.count + length)
    writer.member("version", version)
    writer.name("commit")
    writer.integer(commit)
    writer.strings("columns", columns)
    writer.strings("key", key)
    writer.member("total", total)
    writer.name("sections")
    writer.value(encoded: encodedSections)
    if let window { writer.member("window", window) }
    writer.member("offset", offset)
    writer.member("rows", rows, range, RowLayout(columns: columns, shape: shape))
    writer.member("complete", isComplete)
    if !totals.isEmpty { writer.member("totals", totals) }
    if !alongside.isEmpty { writer.member("alongside", alongside) }
    writer.errors(of: totals, alongside)
    writer.members(of: order)
    return writer.bytes
  }

  private static func json(_ infos: [SectionInfo]) -> [UInt8] {
    var writer = JSONWriter(reserving: infos.count * 64 + 2)
    writer.array { list in for info in infos { list.object { $0.members(of: info) } } }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func head(_ type: StaticString, _ id: String?) {
    member("type", type)
    if let id { member("id", id) }
  }

  fileprivate mutating func located(_ key: [SQLValue], _ place: (path: IndexPath, offset: Int)?) {
    name("key")
    if key.count == 1 { value(key[0]) } else { array { for value in key { $0.value(value) } } }
    name("path")
    guard let (path, offset) = place else {
      null()
      name("offset")
      return null()
    }
    self.path(path)
    member("offset", offset)
  }

  package mutating func strings(_ name: StaticString, _ values: [String]) {
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
    object { $0.members(values) }
  }

  /// Writes why values are null that cannot be computed, in the same structure as they have in the query.
  mutating func errors(of totals: [NamedValue], _ alongside: [NamedValue]) {
    if totals.isEmpty, alongside.isEmpty { return }
    let errors = [("totals", totals), ("alongside", alongside)].flatMap { place, values in
      values.compactMap { value in
        value.error.map { NamedValue(name: "\(place).\(value.name)", value: .text($0)) }
      }
    }
    if !errors.isEmpty { member("errors", errors) }
  }

  mutating func members(_ values: [NamedValue]) {
    for value in values {
      name(escaping: value.name)
      self.value(value.value)
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
    if !section.totals.isEmpty { member("totals", section.totals) }
  }

  package mutating func members(of error: FreshetError, isFatal: Bool) {
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
