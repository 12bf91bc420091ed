import LiveQuery
import QueryCompiler
import Store
import Wire

/// Shows commits to readers with the same request and the same rights. These readers share its messages.
///
/// Owner: the feed's thread.
final class ChangeView {
  let request: ChangesRequest
  let access: Query.Access
  /// The views of tables, by capture's number of the table.
  private(set) var tables: [Int: TableView] = [:]
  /// The messages that were made last, by the number of their commit, because readers that keep up need the same
  /// messages.
  private var recent: [(number: UInt64, message: Message)] = []
  private static let mostRecent = 32
  /// The most bytes of a message that is kept. A longer one is made anew for each reader.
  private static let mostKept = 64 << 10
  /// The names of tables that it has shown, by capture's number, because changes of a deleted table are reported too.
  private var names: [Int: String] = [:]
  /// The error that prevents showing commits with the present schema, and ends its readers.
  var failure: FreshetError?

  enum Message {
    case nothing
    /// The members of a `changes` message, as JSON.
    case changes([UInt8])
    case gap(reason: String)
  }

  init(_ request: ChangesRequest, _ access: Query.Access) {
    self.request = request
    self.access = access
  }

  func show(_ views: [TableView]) {
    tables = Dictionary(uniqueKeysWithValues: views.map { ($0.table.number, $0) })
    for view in views { names[view.table.number] = view.table.name }
    recent = []
  }

  func isSame(as request: ChangesRequest, _ access: Query.Access) -> Bool {
    self.request == request && self.access.role == access.role && self.access.claims == access.claims
      && self.access.isPublished == access.isPublished
  }

  /// Finalizes its statements, before the connection is closed.
  func hide() { show([]) }

  /// - Parameter position: the position of the message.
  func message(for commit: LoggedCommit, position: String) throws(FreshetError) -> Message {
    if let known = recent.last(where: { $0.number == commit.number }) { return known.message }
    let message = try makeMessage(for: commit, position: position)
    if case .changes(let members) = message, members.count > Self.mostKept { return message }
    if recent.count == Self.mostRecent { recent.removeFirst() }
    recent.append((commit.number, message))
    return message
  }

  private func makeMessage(for commit: LoggedCommit, position: String) throws(FreshetError) -> Message {
    var sights: [(view: TableView, sight: TableView.Sight, rowid: Int64)] = []
    var altered: [String] = []
    for change in commit.changes {
      if change.operation == .schema {
        if let name = names[change.table.number] { altered.append(name) }
        continue
      }
      guard let view = tables[change.table.number] else { continue }
      if change.operation == .unknown { return .gap(reason: "which rows of \(view.table.name) changed is not known") }
      guard view.table === change.table else {
        return .gap(reason: "\(view.table.name) has been altered since")
      }
      switch try view.sight(of: change) {
      case .nothing: continue
      case .unclear: return .gap(reason: "what a row of \(view.table.name) was is not known")
      case let sight: sights.append((view, sight, change.rowid))
      }
    }
    if sights.isEmpty, altered.isEmpty { return .nothing }
    var writer = JSONWriter(reserving: 128 + sights.count * 128)
    writer.member("position", position)
    writer.member("commit", Int(commit.commit))
    writer.member("commits", Int(commit.commits))
    writer.name("changes")
    writer.array { list in
      for name in altered {
        list.object {
          $0.member("table", name)
          $0.member("op", "schema" as StaticString)
        }
      }
      for (view, sight, rowid) in sights { view.write(sight, rowid: rowid, to: &list) }
    }
    return .changes(writer.bytes)
  }
}
